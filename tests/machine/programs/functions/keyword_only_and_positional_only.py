import torch


def loss_of(w, /, x, *, power=2, keep=False):
    loss = (w * x).pow(power).sum()
    loss.backward(retain_graph=keep)
    return loss


w = torch.randn(2, requires_grad=True)
loss_of(w, 3.0, keep=True).backward()
loss_of(w, x=3.0, power=3).backward()
