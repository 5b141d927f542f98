import torch
from torch.distributions import Normal

mean = torch.zeros(2, requires_grad=True)
scale = torch.ones(2, requires_grad=True)
distribution = Normal(mean, scale.exp())
z = distribution.rsample()
z.pow(2).sum().backward()
distribution.log_prob(z.detach()).sum().backward()
