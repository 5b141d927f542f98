import torch


class Root:
    def loss(self, w):
        return w.sum()


class Left(Root):
    def loss(self, w):
        return super().loss(w) * 2


class Right(Root):
    def loss(self, w):
        return super().loss(w.exp())


class Both(Left, Right):
    pass


w = torch.randn(2, requires_grad=True)
Both().loss(w).backward()
loss = Both().loss(w + 1)
loss.backward()
loss.backward()
