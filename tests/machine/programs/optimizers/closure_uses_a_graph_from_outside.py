import torch

w = torch.randn(2, requires_grad=True)
optimizer = torch.optim.Adam([w], lr=0.1)
prior = (w + 1).log_softmax(0)


def closure():
    optimizer.zero_grad()
    loss = (w ** 2).sum() + prior.sum()
    loss.backward()
    return loss


optimizer.step(closure)
optimizer.step(closure)
