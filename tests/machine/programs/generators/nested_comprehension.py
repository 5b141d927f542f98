import torch

w = torch.randn(2, requires_grad=True)
table = [[(w * (i + j)).sum() for j in range(2)] for i in range(2)]
flat = [loss for row in table for loss in row if loss.requires_grad]
for loss in flat:
    loss.backward()
table[1][1].backward()
