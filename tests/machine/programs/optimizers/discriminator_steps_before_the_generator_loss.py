import torch
from torch import nn

generator = nn.Linear(2, 2)
discriminator = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
opt_g = torch.optim.Adam(generator.parameters())
opt_d = torch.optim.Adam(discriminator.parameters())
fake = generator(torch.randn(4, 2))
score = discriminator(fake)
loss_d, loss_g = score.mean(), -score.mean()
loss_d.backward(retain_graph=True)
opt_d.step()
loss_g.backward()
opt_g.step()
