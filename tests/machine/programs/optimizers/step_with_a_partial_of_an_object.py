import torch
from functools import partial

w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)


class Base:
    def __call__(self, x):
        loss = (w.exp() * x).sum()
        loss.backward()
        self.loss = loss
        return loss


class Step(Base):
    pass


step = Step()
optimizer.step(partial(step, torch.ones(3)))
step.loss.backward()
