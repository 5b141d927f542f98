import torch
from collections import deque

w = torch.ones(3, requires_grad=True)
states = deque([torch.zeros(3), torch.zeros(3)], maxlen=2)
for step in range(4):
    h = torch.tanh(states[0] * w)
    h.sum().backward()
    states.appendleft(h)
