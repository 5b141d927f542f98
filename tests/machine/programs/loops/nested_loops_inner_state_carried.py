import torch

cell = torch.nn.RNNCell(2, 3)
for epoch in range(2):
    h = torch.zeros(4, 3)
    for t in range(2):
        h = cell(torch.randn(4, 2), h)
        loss = h.sum()
        loss.backward()
