import torch
from torch.autograd import Variable

w = torch.ones(3, requires_grad=True)
scale = torch.ones(3, requires_grad=True)
features = Variable((w * 2).exp())
for _ in range(2):
    loss = (features * scale).pow(2).sum()
    loss.backward()
