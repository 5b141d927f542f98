import torch
from torch import nn

encoder, decoder = nn.Linear(2, 2), nn.Linear(2, 1)
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
h = encoder(torch.randn(4, 2)).tanh()
h.mean().backward(retain_graph=True)
optimizer.step()
decoder(h).mean().backward()
