import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()


def step(loss):
    loss = loss * 2
    return loss


values = [loss for loss in (1, 2)]
step(loss).backward()
print(values)
loss.backward()
