import torch


class Store:
    pass


w = torch.randn(2, requires_grad=True)
store = Store()
for name in ("a", "b"):
    setattr(store, name, (w * len(name)).sum())
for name in ("a", "b"):
    getattr(store, name).backward()
getattr(store, "missing", store.b).backward()
