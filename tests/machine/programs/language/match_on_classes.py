from dataclasses import dataclass

import torch


@dataclass
class Train:
    loss: object


@dataclass
class Evaluate:
    loss: object


w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
for task in [Evaluate(loss), Train(loss), Evaluate(loss)]:
    match task:
        case Evaluate():
            pass
        case Train(loss=found):
            found.backward()
