import torch

w = torch.randn(2, 2, requires_grad=True)
with torch.no_grad():
    prior = torch.tanh(torch.ones(2) @ w)
for k in range(3):
    ((prior @ w) * k).sum().backward()
