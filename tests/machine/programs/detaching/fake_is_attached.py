import torch
from torch import nn

generator, discriminator = nn.Linear(2, 2), nn.Linear(2, 1)
fake = torch.tanh(generator(torch.randn(4, 2)))
loss_d = discriminator(fake).mean()
loss_d.backward()
loss_g = -discriminator(fake).mean()
loss_g.backward()
