import torch


class Model:
    def __init__(self, w, prior):
        self.w = w
        self.prior = prior

    @classmethod
    def fresh(cls, size=2):
        w = torch.randn(size, requires_grad=True)
        return cls(w, cls.energy(w))

    @staticmethod
    def energy(w):
        return (w ** 2).sum()

    def loss(self):
        return self.energy(self.w) + self.prior


Model.fresh().loss().backward()
model = Model.fresh(size=3)
model.loss().backward()
Model.energy(model.w).backward()
model.loss().backward()
