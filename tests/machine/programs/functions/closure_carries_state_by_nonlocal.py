import torch

w = torch.randn(2, 2, requires_grad=True)


def recurrent():
    h = torch.ones(2)

    def step():
        nonlocal h
        h = torch.relu(h @ w)
        return h.sum()

    return step


step = recurrent()
step().backward()
step().backward()
