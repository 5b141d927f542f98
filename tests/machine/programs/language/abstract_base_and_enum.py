from abc import ABC, abstractmethod
from enum import Enum

import torch


class Mode(Enum):
    TRAIN = "train"
    EVAL = "eval"


class Task(ABC):
    @abstractmethod
    def loss(self):
        ...

    def run(self, mode):
        loss = self.loss()
        if mode is Mode.TRAIN:
            loss.backward()
        return loss


class Square(Task):
    def __init__(self):
        self.w = torch.randn(2, requires_grad=True)

    def loss(self):
        return (self.w ** 2).sum()


task = Square()
for mode in (Mode.TRAIN, Mode.EVAL):
    loss = task.run(mode)
loss.backward()
