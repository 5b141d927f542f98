import torch
from collections import deque

w = torch.ones(3, requires_grad=True)
walked = (w * w).sum()
walked.backward()
losses = deque([walked, (w * w).sum(), (w * w).sum()])
losses.rotate(-1)
losses[0].backward()
losses.rotate(5)
losses[1].backward()
losses[0].backward()
