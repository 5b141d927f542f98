
import torch
from settings import load


class Temperature:
    def __init__(self, init):
        self.log_alpha = (torch.ones(1) * init).requires_grad_(True)
        self.optimizer = torch.optim.Adam([self.log_alpha], lr=0.01)

    def update(self, log_prob):
        loss = -(self.log_alpha * (log_prob + 1.0)).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


settings = load("settings.yaml")
temperature = Temperature(settings.agent.init)
for step in range(100):
    temperature.update(torch.randn(8))
