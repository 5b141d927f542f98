from contextlib import ExitStack

import torch

w = torch.randn(2, requires_grad=True)
with ExitStack() as stack:
    stack.enter_context(torch.no_grad())
    prior = w.exp()
for _ in range(2):
    (w * prior).sum().backward()
