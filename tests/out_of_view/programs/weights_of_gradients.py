import torch
from torch import nn


class Weighting(nn.Module):
    def differentiate(self, weights, gradients):
        for number, task in enumerate(self.tasks):
            self.outputs[task].backward(weights[number] * gradients[number])


class Learned(Weighting):
    def __init__(self):
        super().__init__()
        self.logits = nn.Parameter(torch.ones(2))

    def step(self, gradients):
        self.differentiate(torch.softmax(self.logits, 0), gradients)
