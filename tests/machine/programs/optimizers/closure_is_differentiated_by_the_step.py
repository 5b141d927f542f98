import torch

w = torch.randn(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)


def closure():
    optimizer.zero_grad()
    loss = (w ** 2).sum()
    loss.backward()
    return loss


for _ in range(3):
    loss = optimizer.step(closure)
    print(float(loss.detach()))
