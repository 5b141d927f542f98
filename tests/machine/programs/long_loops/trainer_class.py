import torch
from torch import nn


class Trainer:
    def __init__(self, model, lr=0.1):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.step = 0
        self.metrics = {}

    def log(self, **values):
        for name, value in values.items():
            self.metrics.setdefault(name, []).append(value)

    def training_step(self, batch):
        loss = self.model(batch).pow(2).mean()
        self.log(loss=loss.item())
        return loss

    def fit(self, epochs):
        for epoch in range(epochs):
            for batch in torch.randn(6, 4, 2):
                loss = self.training_step(batch)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.step += 1
        return self


trainer = Trainer(nn.Linear(2, 1)).fit(3)
print(trainer.step, len(trainer.metrics["loss"]))
