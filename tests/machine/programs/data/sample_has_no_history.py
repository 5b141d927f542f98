import torch
from torch.distributions import Normal

mean = torch.zeros(2, requires_grad=True)
w = torch.ones(2, requires_grad=True)
z = Normal(mean, 1.0).sample()
for _ in range(3):
    (w * z).sum().backward()
loss = Normal(mean, 1.0).log_prob(z).sum()
loss.backward()
loss.backward()
