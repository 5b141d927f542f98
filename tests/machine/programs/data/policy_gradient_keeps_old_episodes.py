import torch
from torch import nn
from torch.distributions import Categorical

policy = nn.Linear(2, 3)
log_probs, rewards = [], []
for episode in range(2):
    for t in range(2):
        distribution = Categorical(logits=policy(torch.randn(2)))
        action = distribution.sample()
        log_probs.append(distribution.log_prob(action))
        rewards.append(float(action.item()))
    loss = -(torch.stack(log_probs) * torch.tensor(rewards)).sum()
    loss.backward()
