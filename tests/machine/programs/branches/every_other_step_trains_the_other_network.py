import torch
from torch import nn

critic, actor = nn.Linear(2, 1), nn.Linear(2, 2)
for step in range(4):
    state = torch.randn(3, 2)
    action = actor(state)
    if step % 2 == 0:
        critic(action.detach()).mean().backward()
    else:
        critic(action).mean().backward()
