
import torch
from torch import nn


def stylize(net, image, style):
    net.eval()
    image = image.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([image])
    target = net(style)
    for step in range(10):
        loss = nn.functional.mse_loss(net(image), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return image.detach()
