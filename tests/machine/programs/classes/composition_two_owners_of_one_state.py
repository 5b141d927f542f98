import torch


class Shared:
    def __init__(self):
        self.h = torch.ones(2)


class Reader:
    def __init__(self, shared, w):
        self.shared, self.w = shared, w

    def loss(self):
        self.shared.h = (self.shared.h * self.w).cos()
        return self.shared.h.sum()


shared = Shared()
w = torch.randn(2, requires_grad=True)
one, other = Reader(shared, w), Reader(shared, w)
one.loss().backward()
other.loss().backward()
