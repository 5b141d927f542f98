import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm, weight_norm

model = nn.Sequential(weight_norm(nn.Linear(2, 3)), nn.ReLU(), spectral_norm(nn.Linear(3, 1)))
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 2)).mean()
    loss.backward()
    optimizer.step()
loss.backward()
