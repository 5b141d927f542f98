import torch

w = torch.randn(2, requires_grad=True)


@torch.no_grad()
def fails(x):
    raise ValueError(x.sum().item())


try:
    with torch.no_grad():
        fails(w.exp())
except ValueError:
    trunk = w.exp()
trunk.sum().backward()
trunk.sum().backward()
