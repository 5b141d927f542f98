import torch

critic = torch.nn.Linear(2, 1)
hidden = torch.randn(4, 2, requires_grad=True) * 2
real = critic(hidden).mean()
with torch.no_grad():
    for p in critic.parameters():
        p.clamp_(-0.01, 0.01)
fake = critic(hidden).mean()
(fake - real).backward()
