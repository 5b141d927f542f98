import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
history = {"train": [], "val": []}
for epoch in range(5):
    for phase in ["train", "val"]:
        model.train() if phase == "train" else model.eval()
        running = 0.0
        for _ in range(6):
            optimizer.zero_grad()
            with torch.set_grad_enabled(phase == "train"):
                loss = model(torch.randn(4, 2)).pow(2).mean()
                if phase == "train":
                    loss.backward()
                    optimizer.step()
            running += loss.item()
        history[phase].append(running / 6)
