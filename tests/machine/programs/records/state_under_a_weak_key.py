import weakref

import torch
from torch import nn

cell = nn.Linear(2, 2)
states = weakref.WeakKeyDictionary()
states[cell] = torch.ones(2)
for _ in range(2):
    states[cell] = torch.tanh(cell(states[cell]))
    states[cell].sum().backward()
