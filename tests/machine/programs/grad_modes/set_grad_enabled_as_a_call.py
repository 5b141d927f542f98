import torch

w = torch.randn(2, 2, requires_grad=True)
torch.set_grad_enabled(False)
prior = torch.tanh(torch.ones(2) @ w)
torch.set_grad_enabled(True)
trunk = torch.tanh(prior @ w)
(prior @ w).sum().backward()
trunk.sum().backward()
trunk.sum().backward()
