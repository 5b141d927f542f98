from collections import defaultdict

import torch

w = torch.randn(2, requires_grad=True)
totals = defaultdict(float)
for k in range(3):
    loss = (w * k).sum()
    loss.backward()
    totals["loss"] += loss.item()
print({name: f"{value:.3f}" for name, value in totals.items()})
