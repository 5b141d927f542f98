import torch
from torch import nn


def train(model, optimizer, epochs=2, *, clip=None):
    history = []
    for epoch in range(epochs):
        optimizer.zero_grad()
        loss = model(torch.randn(4, 2)).pow(2).mean()
        loss.backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        history.append(loss.item())
    return history


def main():
    model = nn.Linear(2, 1)
    history = train(model, torch.optim.Adam(model.parameters()), clip=1.0)
    print(min(history), max(history), len(history))


if __name__ == "__main__":
    main()
