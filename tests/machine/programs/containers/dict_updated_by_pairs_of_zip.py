import torch

w = torch.ones(3, requires_grad=True)
losses = {"a": (w * w).sum()}
losses["a"].backward()
losses.update(zip(["a", "b"], [(w * w).sum(), w.exp().sum()]))
losses["a"].backward()
losses["b"].backward()
