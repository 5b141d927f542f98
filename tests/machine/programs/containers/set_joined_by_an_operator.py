import torch

w = torch.ones(3, requires_grad=True)
losses = set()
for step in range(3):
    losses = losses | {(w * w).sum()}
sum(losses).backward()
sum(losses | {w.exp().sum()}).backward()
