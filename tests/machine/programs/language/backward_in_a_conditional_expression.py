import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
for last in (False, True):
    loss.backward() if last else loss.backward(retain_graph=True)
None if last else loss.backward()
(lambda: loss.backward())()
