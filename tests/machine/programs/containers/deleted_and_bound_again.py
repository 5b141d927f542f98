import torch

w = torch.randn(2, requires_grad=True)
cache = {}
for k in range(3):
    if "prior" not in cache:
        cache["prior"] = w.exp()
    cache["prior"].sum().backward()
    del cache["prior"]
