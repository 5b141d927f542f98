import torch
from torch import nn


class Flow(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(layers)])

    def forward(self, x):
        volume = torch.zeros(x.shape[0])
        for layer in self.layers:
            scale = torch.tanh(layer(torch.ones_like(x)))
            x, volume = x * scale.exp(), volume + scale.sum(1)
        return x, volume

    def inverse(self, z):
        volume = torch.zeros(z.shape[0])
        for layer in self.layers[::-1]:
            scale = torch.tanh(layer(torch.ones_like(z)))
            z = z * torch.exp(-scale)
            volume -= scale.sum(1)
        return z, volume


flow = Flow(3)
optimizer = torch.optim.Adam(flow.parameters())
for step in range(100):
    z, volume = flow(torch.randn(4, 2))
    loss = (z.pow(2).sum(1) - volume).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(flow.inverse(torch.randn(8, 2))[0].data.numpy())
