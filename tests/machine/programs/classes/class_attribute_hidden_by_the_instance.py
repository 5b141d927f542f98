import torch


class Model:
    w = torch.randn(2, requires_grad=True)
    prior = None

    def loss(self, x):
        if self.prior is None:
            self.prior = self.w.exp()
        return (self.prior * x).sum()


Model().loss(1.0).backward()
Model().loss(2.0).backward()
