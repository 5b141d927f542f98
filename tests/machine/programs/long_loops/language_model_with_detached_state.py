import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, vocabulary=10, size=4):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, size)
        self.rnn = nn.LSTM(size, size, num_layers=2)
        self.decoder = nn.Linear(size, vocabulary)

    def forward(self, x, hidden):
        out, hidden = self.rnn(self.embedding(x), hidden)
        return self.decoder(out), hidden

    def init_hidden(self, batch):
        weight = next(self.parameters())
        return weight.new_zeros(2, batch, 4), weight.new_zeros(2, batch, 4)


model, criterion = Model(), nn.CrossEntropyLoss()
data = torch.randint(0, 10, (25, 3))
hidden = model.init_hidden(3)
for i in range(0, data.size(0) - 1, 6):
    x, y = data[i : i + 6], data[i + 1 : i + 7]
    hidden = tuple(h.detach() for h in hidden)
    out, hidden = model(x[: len(y)], hidden)
    criterion(out.view(-1, 10), y.reshape(-1)).backward()
