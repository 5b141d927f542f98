import torch

params = {"a": torch.randn(3), "b": torch.randn(3)}


def cost(params, x):
    return (params["a"] * x + params["b"]).pow(2).sum()


for _ in range(3):
    grads, value = torch.func.grad_and_value(cost)(params, torch.randn(3))
    params = {name: p - 0.1 * grads[name] for name, p in params.items()}
w = torch.randn(3, requires_grad=True)
for _ in range(2):
    (w * params["a"]).sum().backward()
