import torch

w = torch.ones(4, requires_grad=True)
shape = torch.zeros(2, 2)
mine = (w * w).exp()
mine.view_as(shape).sum().backward()
mine.sum().backward()
