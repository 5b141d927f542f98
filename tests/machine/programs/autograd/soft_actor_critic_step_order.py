import torch
from torch import nn

actor, critic = nn.Linear(2, 1), nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
opt_a, opt_c = torch.optim.Adam(actor.parameters()), torch.optim.Adam(critic.parameters())
state = torch.randn(4, 2)
action = torch.tanh(actor(state))
q = critic(torch.cat([state, action], dim=-1))
critic_loss, actor_loss = (q - 1).pow(2).mean(), -q.mean()
opt_c.zero_grad()
critic_loss.backward(retain_graph=True)
opt_c.step()
opt_a.zero_grad()
actor_loss.backward()
opt_a.step()
