import torch

w = torch.randn(2, requires_grad=True)
losses, table = [], {}
list.append(losses, w.exp().sum())
dict.__setitem__(table, "loss", losses[0])
dict.get(table, "loss").backward(retain_graph=True)
losses[0].backward()
