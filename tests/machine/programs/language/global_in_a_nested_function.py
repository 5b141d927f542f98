import torch

trunk = None
w = torch.randn(2, requires_grad=True)


def outer():
    trunk = "local"

    def inner():
        global trunk
        if trunk is None:
            trunk = w.exp()
        return trunk

    return inner().sum()


outer().backward()
outer().backward()
