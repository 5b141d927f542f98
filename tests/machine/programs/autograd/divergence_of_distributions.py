import torch
from torch.distributions import Normal, kl_divergence

mean = torch.zeros(2, requires_grad=True)
scale = torch.ones(2, requires_grad=True)
posterior = Normal(mean.tanh(), scale.exp())
kl_divergence(posterior, Normal(torch.zeros(2), torch.ones(2))).sum().backward()
posterior.rsample().sum().backward()
