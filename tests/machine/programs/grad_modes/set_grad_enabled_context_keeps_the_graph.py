import torch

w = torch.randn(2, 2, requires_grad=True)
training = True
with torch.set_grad_enabled(training):
    prior = torch.tanh(torch.ones(2) @ w)
with torch.set_grad_enabled(mode=not training):
    other = torch.tanh(torch.ones(2) @ w)
for k in range(2):
    (other * w).sum().backward()
for k in range(2):
    (prior * w).sum().backward()
