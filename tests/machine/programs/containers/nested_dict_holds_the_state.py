import torch

w = torch.randn(2, requires_grad=True)
cache = {"layer": {"k": None}}
for x in range(1, 3):
    past = cache["layer"]["k"]
    now = (w * x).exp()
    cache["layer"]["k"] = now if past is None else past + now
    cache["layer"]["k"].sum().backward()
