import torch

a = torch.randn(2, 3, requires_grad=True)
b = torch.randn(3, 2)
product = torch.einsum("ij,jk->ik", a, b)
product.trace().backward()
(a @ b).trace().backward()
torch.mm(a, b).sum().backward()
product.sum().backward()
