import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2))
x, y = torch.rand(3, 2, requires_grad=True), torch.tensor([0, 1, 0])
adversarial = x
for _ in range(2):
    loss = nn.functional.cross_entropy(model(adversarial), y)
    (g,) = torch.autograd.grad(loss, adversarial)
    adversarial = (adversarial + 0.1 * g.sign()).clamp(0, 1)
model(adversarial).sum().backward()
nn.functional.cross_entropy(model(adversarial), y).backward()
