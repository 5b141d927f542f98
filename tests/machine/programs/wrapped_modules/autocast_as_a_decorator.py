import torch
from torch import nn

model = nn.Linear(2, 1)


@torch.autocast("cpu", dtype=torch.bfloat16)
def cost(x):
    return model(x).float().pow(2).mean()


loss = cost(torch.randn(4, 2))
loss.backward()
loss.backward()
