import torch
from torch import nn
from torch.distributions import Categorical

policy = nn.Linear(2, 3)
for _ in range(2):
    distribution = Categorical(logits=policy(torch.randn(4, 2)))
    actions = distribution.sample()
    loss = -distribution.log_prob(actions).mean() - 0.01 * distribution.entropy().mean()
    loss.backward()
