import torch
from torch import nn

network = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU())
network.requires_grad_(False)
content = torch.rand(1, 1, 5, 5)
target = network(content)
image = content.clone().requires_grad_(True)
optimizer = torch.optim.LBFGS([image], max_iter=3)


def closure():
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(network(image), target)
    loss.backward()
    return loss


for _ in range(2):
    optimizer.step(closure)
