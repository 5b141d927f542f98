import torch

a = torch.randn(2, requires_grad=True)
b = torch.randn(2, requires_grad=True)
loss = a.exp().sum() + b.exp().sum()
loss.backward(inputs=[a])
loss.backward(inputs=[b])
