import torch
from collections import deque

w = torch.ones(3, requires_grad=True)
losses = deque([(w * w).sum()])
losses[0].backward()
losses.extendleft([(w * w).sum(), (w.exp() * w).sum()])
losses[1].backward()
losses[0].backward()
losses[2].backward()
