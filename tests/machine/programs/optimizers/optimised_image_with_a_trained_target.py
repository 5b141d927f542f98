import torch
from torch import nn

network = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU())
content = torch.rand(1, 1, 5, 5)
target = network(content)
image = content.clone().requires_grad_(True)
optimizer = torch.optim.Adam([image])
for _ in range(2):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(network(image), target)
    loss.backward()
    optimizer.step()
