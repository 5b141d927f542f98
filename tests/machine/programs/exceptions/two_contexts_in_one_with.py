import contextlib

import torch

w = torch.randn(2, 2, requires_grad=True)
with contextlib.nullcontext("name") as name, torch.no_grad():
    prior = torch.tanh(torch.ones(2) @ w)
with contextlib.ExitStack() as stack, torch.enable_grad():
    trunk = (prior @ w).exp()
for k in range(2):
    (trunk * k).sum().backward()
