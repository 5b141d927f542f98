
import sys

import torch
from torch import nn

OPTIONS = {"together": True}


class Tracker:
    def __init__(self):
        self.embedding = nn.Embedding(5, 8)
        self.optimizer = torch.optim.Adam(self.embedding.parameters())

    def learn(self, slots):
        seen = {}
        for slot in slots:
            seen[slot] = self.embedding(torch.tensor([len(slot)]))
        if OPTIONS["together"]:
            return self.step(self.embedding.weight)
        return self.step_of_each(seen).item()

    def step_of_each(self, seen):
        return self.step(torch.cat(list(seen.values())))

    def step(self, inputs):
        loss = inputs.pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss


print(Tracker().learn(sys.argv[1].split(",")))
