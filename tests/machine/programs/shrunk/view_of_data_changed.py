import torch

net = torch.nn.Linear(3, 3)
x = torch.randn(2, 3)
out = net(x)
turned = x.view(3, 2)
turned *= 0.5
out.sum().backward()
