import torch

w = torch.randn(2, requires_grad=True)


def outer():
    count = 0
    trunk = None

    def middle():
        def inner():
            nonlocal count, trunk
            count += 1
            if trunk is None or count % 2:
                trunk = w.exp()
            return trunk.sum()

        return inner

    return middle()


step = outer()
step().backward()
step().backward()
