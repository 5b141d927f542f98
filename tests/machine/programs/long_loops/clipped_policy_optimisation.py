import torch
from torch import nn
from torch.distributions import Categorical

policy = nn.Linear(2, 3)
optimizer = torch.optim.Adam(policy.parameters())
for iteration in range(3):
    states = torch.randn(8, 2)
    with torch.no_grad():
        old = Categorical(logits=policy(states))
        actions = old.sample()
        old_log_probs = old.log_prob(actions)
    advantages = torch.randn(8)
    for epoch in range(4):
        for batch in torch.randperm(8).split(4):
            log_probs = Categorical(logits=policy(states[batch])).log_prob(actions[batch])
            ratio = (log_probs - old_log_probs[batch]).exp()
            clipped = ratio.clamp(0.8, 1.2) * advantages[batch]
            loss = -torch.min(ratio * advantages[batch], clipped).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
