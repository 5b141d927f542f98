import torch

w = torch.randn(2, requires_grad=True)
optimizer = torch.optim.LBFGS([w], lr=0.5, max_iter=4)


def closure():
    optimizer.zero_grad()
    loss = (w ** 4).sum() + (w * w).sum()
    loss.backward()
    return loss


for _ in range(2):
    optimizer.step(closure)
