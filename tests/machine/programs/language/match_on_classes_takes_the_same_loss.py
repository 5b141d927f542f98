import torch


class Train:
    __match_args__ = ("loss", "times")

    def __init__(self, loss, times):
        self.loss, self.times = loss, times


w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
for task in [None, Train(loss, 1), Train(loss, 0), Train(loss, 1)]:
    match task:
        case None | Train(times=0):
            continue
        case Train(found, 1):
            found.backward()
