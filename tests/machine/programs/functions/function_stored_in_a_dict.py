import torch

w = torch.randn(2, requires_grad=True)


def square(x):
    return x ** 2


table = {"abs": torch.abs, "square": square, "cube": lambda x: x ** 3}
for name, function in table.items():
    function(w).sum().backward()
