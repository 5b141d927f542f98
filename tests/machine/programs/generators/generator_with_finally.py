import torch

w = torch.randn(2, requires_grad=True)


def steps():
    loss = w.exp().sum()
    try:
        yield loss
    finally:
        loss.backward()


for loss in steps():
    print(loss.item())
for loss in steps():
    loss.backward()
