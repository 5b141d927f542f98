import torch

w = torch.randn(2, requires_grad=True)
with torch.autograd.set_detect_anomaly(True):
    loss = (w ** 2).sum()
    loss.backward()
    loss.backward()
