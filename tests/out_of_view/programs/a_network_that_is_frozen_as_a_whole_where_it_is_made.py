
import torch
from models import vgg16
from torch import nn

net = vgg16().eval()
net = net.requires_grad_(False)
image = torch.rand(1, 3, 8, 8).requires_grad_(True)
optimizer = torch.optim.Adam([image])
target = net(torch.rand(1, 3, 8, 8))
for step in range(10):
    loss = nn.functional.mse_loss(net(image), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
