import torch
from torch import nn
from torch.distributions import Categorical

actor, critic = nn.Linear(2, 3), nn.Linear(2, 1)
state = torch.randn(4, 2)
distribution = Categorical(logits=actor(state))
log_prob = distribution.log_prob(distribution.sample())
advantage = 1.0 - critic(state).squeeze(-1)
critic_loss = advantage.pow(2).mean()
actor_loss = -(log_prob * advantage).mean()
critic_loss.backward()
actor_loss.backward()
