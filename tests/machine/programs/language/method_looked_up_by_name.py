import torch


class Trainer:
    def __init__(self):
        self.w = torch.randn(2, requires_grad=True)
        self.trunk = self.w.exp()

    def loss_mean(self):
        return self.trunk.mean()

    def loss_fresh(self):
        return self.w.exp().sum()

    def run(self, names):
        for name in names:
            getattr(self, f"loss_{name}")().backward()


trainer = Trainer()
trainer.run(["fresh", "mean", "fresh"])
trainer.run(["fresh", "mean"])
