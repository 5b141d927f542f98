import torch

w = torch.rand(3, requires_grad=True)
mean = torch.zeros(())
new = mean.lerp((w * w).mean(), 0.1)
mean.copy_(new.detach())
((w - new) ** 2).sum().backward()
