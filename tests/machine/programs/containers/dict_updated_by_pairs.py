import torch

w = torch.ones(3, requires_grad=True)
losses = {}
for name in ("a", "b"):
    loss = (w * w).sum()
    loss.backward()
    losses.update([(name, loss)])
losses["b"].backward()
