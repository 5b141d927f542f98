import torch

w = torch.randn(2, requires_grad=True)


def step(loss, early):
    try:
        if early:
            return loss
        loss.backward()
    finally:
        loss.backward()


step((w * 2).sum(), True)
step((w * 2).sum(), False)
