import torch

layer = torch.nn.Linear(2, 2)
x = torch.randn(4, 2)
loss = layer(x).sum()
x += 1
loss.backward()
