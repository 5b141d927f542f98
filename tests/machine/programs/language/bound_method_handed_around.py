import torch

w = torch.randn(2, requires_grad=True)


class Recorder:
    def __init__(self):
        self.losses = []

    def add(self, loss):
        self.losses.append(loss)
        return self


def every(function, values):
    for value in values:
        function(value)


recorder = Recorder()
every(recorder.add, [(w * k).sum() for k in range(3)])
list(map(recorder.add, [(w.exp() * k).sum() for k in range(2)]))
sum(recorder.losses).backward()
every(lambda loss: loss.backward(), recorder.losses)
