import torch
from torch import nn

trunk, policy, value = nn.Linear(2, 4), nn.Linear(4, 2), nn.Linear(4, 1)
for _ in range(2):
    features = torch.tanh(trunk(torch.randn(3, 2)))
    policy_loss = policy(features).log_softmax(-1).mean()
    value_loss = value(features).pow(2).mean()
    policy_loss.backward(retain_graph=True)
    value_loss.backward()
