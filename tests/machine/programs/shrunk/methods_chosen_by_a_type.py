import functools

import torch


class Report:
    def __init__(self, loss):
        self.loss = loss

    @functools.singledispatchmethod
    def show(self, k):
        return "other"

    @show.register
    def _(self, k: int):
        self.loss.backward()
        return "int"

    @show.register(str)
    def _(self, k):
        return self.loss.item()


w = torch.ones(3, requires_grad=True)
report = Report((w * w).sum())
report.show(None)
report.show("text")
report.show(1)
report.show(2)
