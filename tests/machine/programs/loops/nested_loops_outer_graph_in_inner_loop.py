import torch

w = torch.randn(2, 2, requires_grad=True)
for epoch in range(2):
    encoded = torch.relu(torch.randn(5, 2) @ w)
    for k in range(2):
        loss = (encoded * (k + 1)).sum()
        loss.backward()
