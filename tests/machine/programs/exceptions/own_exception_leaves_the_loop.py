import torch


class Stop(Exception):
    pass


w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
try:
    for i in range(3):
        if i == 1:
            raise Stop
        loss.backward()
except Stop:
    print("stopped")
