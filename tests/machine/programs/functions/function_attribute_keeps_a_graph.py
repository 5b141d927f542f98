import torch

w = torch.randn(2, requires_grad=True)


def loss_of(x):
    if not hasattr(loss_of, "prior"):
        loss_of.prior = w.exp()
    return (loss_of.prior * x).sum()


loss_of(1.0).backward()
loss_of(2.0).backward()
