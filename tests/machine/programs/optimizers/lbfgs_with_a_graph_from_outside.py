import torch

w = torch.full((2,), 2.0, requires_grad=True)
v = torch.full((2,), 2.0, requires_grad=True)
optimizer = torch.optim.LBFGS([w], lr=0.5, max_iter=4)
prior = (v ** 2).sum()


def closure():
    optimizer.zero_grad()
    loss = (w ** 4).sum() + prior
    loss.backward()
    return loss


optimizer.step(closure)
