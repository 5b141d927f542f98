import torch

x = torch.randn(3, requires_grad=True)
jacobian = torch.autograd.functional.jacobian(lambda t: t**2, x)
for _ in range(2):
    (x * jacobian.sum()).sum().backward()
