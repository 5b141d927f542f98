import torch
from torch import nn

generator = nn.Linear(2, 2)
discriminator = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
opt_g = torch.optim.Adam(generator.parameters())
opt_d = torch.optim.Adam(discriminator.parameters())
for _ in range(2):
    fake = generator(torch.randn(4, 2))
    loss_d = discriminator(fake.detach()).mean()
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    loss_g = -discriminator(fake).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
