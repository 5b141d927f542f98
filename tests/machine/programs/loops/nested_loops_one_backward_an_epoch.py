import torch

cell = torch.nn.RNNCell(2, 3)
for epoch in range(3):
    h = torch.zeros(4, 3)
    total = 0.0
    for t in range(3):
        h = cell(torch.randn(4, 2), h)
        total = total + h.pow(2).sum()
    total.backward()
