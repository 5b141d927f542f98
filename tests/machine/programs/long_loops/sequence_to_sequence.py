import random

import torch
from torch import nn

encoder, decoder, head = nn.GRU(3, 4), nn.GRUCell(3, 4), nn.Linear(4, 3)
source, target = torch.randn(5, 2, 3), torch.randn(5, 2, 3)
for epoch in range(3):
    _, state = encoder(source)
    state, step, loss = state[0], torch.zeros(2, 3), 0
    for t in range(5):
        state = decoder(step, state)
        out = head(state)
        loss = loss + nn.functional.mse_loss(out, target[t])
        step = target[t] if random.random() < 0.5 else out
    loss.backward()
    print(loss.item() / 5)
