import torch

w = torch.randn(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for task in range(2):
    fast = w
    for _ in range(2):
        loss = (fast ** 2).sum()
        (g,) = torch.autograd.grad(loss, fast, create_graph=True)
        fast = fast - 0.1 * g
    optimizer.zero_grad()
    (fast ** 2).sum().backward()
    optimizer.step()
