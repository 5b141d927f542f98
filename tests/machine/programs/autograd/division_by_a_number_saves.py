import torch

w = torch.rand(2, requires_grad=True)
loss = (w + 1).mean()
scaled = loss / 4
loss.backward()
scaled.backward()
loss.backward()
scaled.backward()
