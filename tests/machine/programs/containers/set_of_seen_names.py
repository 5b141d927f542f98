import torch

w = torch.randn(2, requires_grad=True)
losses = {"a": (w * 2).sum(), "b": (w * 3).sum()}
seen = set()
for name in ["a", "b", "a", "b"]:
    if name in seen:
        continue
    seen.add(name)
    losses[name].backward()
