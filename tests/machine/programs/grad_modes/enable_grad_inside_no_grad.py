import torch

w = torch.randn(2, 2, requires_grad=True)
with torch.no_grad():
    frozen = torch.tanh(torch.ones(2) @ w)
    with torch.enable_grad():
        prior = torch.tanh(frozen @ w)
    after = torch.tanh(prior @ w)
(after @ w).sum().backward()
for k in range(2):
    (prior * k).sum().backward()
