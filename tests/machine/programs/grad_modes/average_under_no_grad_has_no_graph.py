import torch

w = torch.randn(2, requires_grad=True)
average = torch.zeros(())
for k in range(1, 4):
    loss = (w * k).exp().sum()
    with torch.no_grad():
        average = 0.9 * average + 0.1 * loss
    (loss - average).backward()
