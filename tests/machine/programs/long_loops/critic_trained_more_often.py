import torch
from torch import nn

generator, critic = nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
opt_g, opt_c = torch.optim.RMSprop(generator.parameters()), torch.optim.RMSprop(critic.parameters())
for step in range(20):
    with torch.no_grad():
        fake = generator(torch.randn(4, 2))
    opt_c.zero_grad()
    (critic(fake).mean() - critic(torch.randn(4, 2)).mean()).backward()
    opt_c.step()
    for p in critic.parameters():
        p.data.clamp_(-0.1, 0.1)
    if step % 5 == 0:
        opt_g.zero_grad()
        (-critic(generator(torch.randn(4, 2))).mean()).backward()
        opt_g.step()
