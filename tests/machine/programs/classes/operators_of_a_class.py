import torch


class Loss:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Loss(self.value + (other.value if isinstance(other, Loss) else other))

    __radd__ = __add__

    def __mul__(self, factor):
        return Loss(self.value * factor)

    def backward(self):
        self.value.backward()


w = torch.randn(2, requires_grad=True)
total = sum([Loss((w * k).sum()) for k in range(3)])
(total * 0.5).backward()
(Loss(w.exp().sum()) + 1).backward()
