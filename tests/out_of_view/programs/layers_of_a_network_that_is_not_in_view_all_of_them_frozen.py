
import torch
from models import resnet18
from torch import nn

resnet = resnet18(pretrained=True)
net = nn.Sequential(*list(resnet.children())[:3])
for param in net.parameters():
    param.requires_grad = False

image = torch.rand(1, 3, 32, 32, requires_grad=True)
target = net(torch.rand(1, 3, 32, 32))
optimizer = torch.optim.Adam([image])
for step in range(10):
    loss = (net(image) - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
