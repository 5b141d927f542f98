import torch
from torch import distributions as D

logits = torch.zeros(3, requires_grad=True)
for _ in range(3):
    d = D.Bernoulli(logits=logits)
    x = d.sample((4,))
    (d.log_prob(x).mean() + d.entropy().mean()).backward()
