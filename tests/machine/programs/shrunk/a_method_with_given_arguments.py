import functools

import torch


class Trainer:
    def step(self, loss, times):
        for _ in range(times):
            loss.backward()

    twice = functools.partialmethod(step, times=2)


w = torch.ones(3, requires_grad=True)
Trainer().step((w * w).sum(), 1)
Trainer().twice((w * w).sum())
