"""Who imports the function may train with the table; only its demonstration evaluates."""

import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 6)
        self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(2))
        self.head = nn.Linear(6, 20)

    def forward(self, text):
        states = [self.words(text)]
        for layer in self.layers:
            states.append(states[-1] + torch.tanh(layer(states[-1])))
        return states


def distances(model, left, right):
    table = torch.zeros(left.size(0), 3)
    for row in range(left.size(0)):
        pair = zip(model(left[row]), model(right[row]))
        for depth, (a, b) in enumerate(pair):
            gap = (model.head(a).softmax(-1) - model.head(b).softmax(-1)).abs().mean()
            table[row, depth] = gap
    return table


if __name__ == "__main__":
    torch.manual_seed(7)
    reader = Reader()
    reader.eval()
    text = torch.randint(0, 20, (40, 5))
    result = distances(reader, text, text.flip(1))
    print(' '.join('%.4f' % value for value in result.mean(0).tolist()))
