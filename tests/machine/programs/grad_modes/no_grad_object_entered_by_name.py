import torch

w = torch.randn(2, 2, requires_grad=True)
context = torch.no_grad()
with context:
    prior = torch.tanh(torch.ones(2) @ w)
with torch.no_grad() if prior.requires_grad else torch.enable_grad():
    trunk = torch.tanh(prior @ w)
trunk.sum().backward()
trunk.sum().backward()
