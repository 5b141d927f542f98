import torch
from torch import nn

actor, critic = nn.Linear(2, 2), nn.Linear(2, 1)
x = torch.randn(3, 2)
for _ in range(3):
    actor_loss = actor(x).log_softmax(-1).mean()
    critic_loss = critic(x).pow(2).mean()
    actor_loss.backward()
    critic_loss.backward()
