import torch


class Swallow:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return kind is RuntimeError


w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
loss.backward()
with Swallow():
    loss.backward()
