import torch
from collections import deque

w = torch.ones(3, requires_grad=True)
loss = (w * w).sum()
loss.backward()
states = deque([1, 2], maxlen=2)
try:
    states.insert(0, 3)
except IndexError:
    loss.backward()
