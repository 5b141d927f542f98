import torch

cell = torch.nn.RNNCell(3, 3)
h = cell(torch.randn(2, 3), torch.randn(2, 3))
h[0] = 0
h.mean().backward()
