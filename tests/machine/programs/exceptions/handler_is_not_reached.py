import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
table = {"missing": 1}
try:
    table["missing"]
except KeyError:
    loss.backward()
else:
    loss.backward()
finally:
    print(loss.item())
