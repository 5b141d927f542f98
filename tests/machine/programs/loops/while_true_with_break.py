import torch

w = torch.ones(4, requires_grad=True)
loss = (w * w).sum()
count = 0
while True:
    loss.backward()
    count += 1
    if count > 0:
        break
