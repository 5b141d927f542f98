import torch

w = torch.randn(2, requires_grad=True)
scales = [1.0, 2.0, 3.0]
names = ["a", "b", "c"]
losses = {}
for i, (name, scale) in enumerate(zip(names, scales), start=1):
    losses[name] = (w * scale * i).sum()
for name, loss in zip(names[::-1], reversed(list(losses.values()))):
    loss.backward()
