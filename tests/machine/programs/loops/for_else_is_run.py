import torch

w = torch.randn(3, requires_grad=True)
loss = (w * 3).sum()
for i in range(2):
    if i == 5:
        break
else:
    loss.backward()
loss.backward()
