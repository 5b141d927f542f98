import torch


class Batch(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


w = torch.randn(2, requires_grad=True)
batch = Batch(x=torch.ones(2))
batch.loss = (w.exp() * batch.x).sum()
batch.loss.backward()
batch["loss"].backward()
