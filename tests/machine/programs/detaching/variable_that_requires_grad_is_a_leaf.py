import torch
from torch.autograd import Variable

w = torch.ones(3, requires_grad=True)
image = Variable((w * 2).exp(), requires_grad=True)
for _ in range(2):
    loss = (image * image).sum()
    loss.backward()
