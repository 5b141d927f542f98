import torch

FAST = False
w = torch.randn(2, requires_grad=True)
if FAST:

    def step(loss):
        loss.backward(retain_graph=True)

else:

    def step(loss):
        loss.backward()


loss = w.exp().sum()
step(loss)
step(loss)
