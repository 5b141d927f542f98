import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2))
x, y = torch.rand(3, 2), torch.tensor([0, 1, 0])
delta = torch.zeros_like(x, requires_grad=True)
for _ in range(3):
    loss = nn.functional.cross_entropy(model(x + delta), y)
    loss.backward()
    delta.data = (delta + 0.1 * delta.grad.sign()).clamp(-0.2, 0.2)
    delta.grad.zero_()
