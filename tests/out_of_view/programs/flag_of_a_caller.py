import torch
import torch.nn.functional as F
from torch import nn


class Ensemble:
    def __init__(self, members):
        self.model = nn.Linear(3, 2)
        self.members = members

    def predict(self, x, differentiable=False):
        x = torch.tensor(x)
        if differentiable:
            x.requires_grad = True
        out = torch.zeros(len(self.members), x.shape[0], 2)
        for number, bias in enumerate(self.members):
            out[number] = self.model(x) + bias
        probabilities = F.softmax(out, dim=2)
        if differentiable:
            return probabilities
        return probabilities.data
