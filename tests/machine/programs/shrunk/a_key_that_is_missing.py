import torch


class Losses(dict):
    def __missing__(self, key):
        loss = (w * w).sum()
        self[key] = loss
        return loss


w = torch.ones(3, requires_grad=True)
losses = Losses()
losses["a"].backward()
losses["b"].backward()
losses["a"].backward()
