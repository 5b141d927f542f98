import torch
from torch import nn


class Trainer:
    def __init__(self, model):
        self.model = model
        self.previous = None

    def training_step(self, batch):
        out = self.model(batch)
        loss = out.pow(2).mean()
        if self.previous is not None:
            loss = loss + (out - self.previous).pow(2).mean()
        self.previous = out
        return loss

    def fit(self, epochs):
        for epoch in range(epochs):
            for batch in torch.randn(6, 4, 2):
                self.training_step(batch).backward()


Trainer(nn.Sequential(nn.Linear(2, 2), nn.Tanh())).fit(3)
