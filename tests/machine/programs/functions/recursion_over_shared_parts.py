import torch

w = torch.randn(2, requires_grad=True)


def product(parts):
    if len(parts) == 1:
        return parts[0]
    return parts[0] * product(parts[1:])


parts = [w * k for k in range(3)]
product(parts).sum().backward()
product(parts[1:]).sum().backward()
