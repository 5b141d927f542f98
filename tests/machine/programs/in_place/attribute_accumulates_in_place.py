import torch


class Meter:
    def __init__(self):
        self.total = torch.zeros(())

    def add(self, loss):
        self.total += loss
        return self.total


w = torch.randn(2, requires_grad=True)
meter = Meter()
for k in range(2):
    meter.add((w * k).pow(2).sum())
meter.total.backward()
meter.add((w * 3).sum()).backward()
