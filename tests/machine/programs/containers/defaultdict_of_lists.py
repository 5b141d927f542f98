from collections import defaultdict

import torch

w = torch.randn(2, requires_grad=True)
log = defaultdict(list)
for k in range(3):
    log["a"].append((w * k).sum())
    log["b"].append((w + k).exp().sum())
sum(log["a"]).backward()
torch.stack(log["b"]).sum().backward()
log["a"][-1].backward()
