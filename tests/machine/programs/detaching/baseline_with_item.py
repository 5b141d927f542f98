import torch

w = torch.randn(2, requires_grad=True)
baseline = 0.0
for k in range(1, 4):
    reward = (w * k).sigmoid().mean()
    loss = -(reward - baseline) ** 2
    loss.backward()
    baseline = 0.5 * baseline + 0.5 * reward.item()
