import torch

a = torch.randn(2, requires_grad=True)
b = torch.randn(2, requires_grad=True)
loss = (a * b).sum()
(ga,) = torch.autograd.grad(loss, a, retain_graph=True)
(gb,) = torch.autograd.grad(outputs=loss, inputs=[b])
print((ga + gb).sum())
