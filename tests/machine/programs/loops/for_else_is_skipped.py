import torch

w = torch.randn(3, requires_grad=True)
loss = (w * 3).sum()
for name in ["a", "b", "c"]:
    if name == "b":
        loss.backward()
        break
else:
    loss.backward()
