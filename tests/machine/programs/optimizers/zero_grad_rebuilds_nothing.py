import torch

w = torch.randn(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
loss = (w * 3).sum()
for _ in range(2):
    optimizer.zero_grad()
    loss.backward()
