import torch
from torch import nn

actor, critic = nn.Linear(2, 1), nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
opt_a, opt_c = torch.optim.Adam(actor.parameters()), torch.optim.Adam(critic.parameters())
for _ in range(2):
    state = torch.randn(4, 2)
    action = torch.tanh(actor(state))
    critic_loss = (critic(torch.cat([state, action.detach()], dim=-1)) - 1).pow(2).mean()
    opt_c.zero_grad()
    critic_loss.backward()
    opt_c.step()
    actor_loss = -critic(torch.cat([state, action], dim=-1)).mean()
    opt_a.zero_grad()
    actor_loss.backward()
    opt_a.step()
