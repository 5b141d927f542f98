import torch

a = torch.randn(2, requires_grad=True)
b = torch.randn(2, requires_grad=True)
loss = (a.exp() + b.exp()).pow(2).sum()
loss.backward(inputs=[a])
loss.backward(inputs=[b])
