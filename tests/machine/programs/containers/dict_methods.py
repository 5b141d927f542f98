import torch

w = torch.randn(2, requires_grad=True)
table = {}
table.setdefault("a", w.exp().sum())
table.setdefault("a", w.sin().sum())
table.update({"b": w.cos().sum()}, c=w.tanh().sum())
table.pop("a").backward()
table.get("a", table["b"]).backward()
table.get("c").backward()
for key in table.keys() & {"b"}:
    table[key].backward()
