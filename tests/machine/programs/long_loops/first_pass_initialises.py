import torch

cell = torch.nn.GRUCell(2, 2)
for epoch in range(10):
    for t in range(10):
        if t == 0:
            h = torch.zeros(1, 2)
        else:
            h = h.detach()
        h = cell(torch.randn(1, 2), h)
        h.sum().backward()
