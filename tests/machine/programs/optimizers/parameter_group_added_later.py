import torch

v = torch.randn(2, requires_grad=True)
w = torch.randn(2, requires_grad=True)
optimizer = torch.optim.SGD([v], lr=0.1)
loss = (v * w).sum()
other = (w ** 3).sum()
loss.backward()
optimizer.add_param_group({"params": [w]})
optimizer.step()
other.backward()
