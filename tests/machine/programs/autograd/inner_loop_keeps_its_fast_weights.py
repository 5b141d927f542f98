import torch

w = torch.randn(2, requires_grad=True)
fast = w
for task in range(2):
    loss = (fast ** 2).sum()
    (g,) = torch.autograd.grad(loss, fast, create_graph=True)
    fast = fast - 0.1 * g
    (fast ** 2).sum().backward()
