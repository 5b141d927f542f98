import torch
from torch import nn

encoder = nn.Linear(2, 3)
decoder = nn.Linear(3, 2)
decoder.weight = nn.Parameter(encoder.weight.t().detach().clone())
siamese = [encoder, encoder]
for _ in range(2):
    a, b = (net(torch.randn(4, 2)) for net in siamese)
    (a - b).pow(2).mean().backward()
    decoder(a.detach()).mean().backward()
