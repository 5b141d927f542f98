import torch

w = torch.randn(2, requires_grad=True)
base = {"a": w.exp().sum(), "b": w.sin().sum()}
more = {**base, "b": w.cos().sum()} | dict(c=w.tanh().sum())
names, values = zip(*more.items())
torch.stack(values).sum().backward()
base["b"].backward()
dict(zip(names, values))["a"].backward()
