import torch

w = torch.randn(2, requires_grad=True)
total = 0.0
for k in range(3):
    loss = (w ** 2).mean()
    loss.backward()
    loss *= 4
    total += loss.item()
print(total)
