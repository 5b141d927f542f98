import torch
from torch import nn
from torch.distributions import Categorical

policy = nn.Linear(2, 3)
optimizer = torch.optim.Adam(policy.parameters())
states = torch.randn(8, 2)
old = Categorical(logits=policy(states))
actions = old.sample()
old_log_probs = old.log_prob(actions)
advantages = torch.randn(8)
for epoch in range(4):
    log_probs = Categorical(logits=policy(states)).log_prob(actions)
    ratio = (log_probs - old_log_probs).exp()
    loss = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
