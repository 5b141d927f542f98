import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
try:
    print(loss.item())
except ValueError:
    pass
else:
    loss.backward()
finally:
    loss.backward()
