"""`backward` of a leaf only adds to its gradient, as often as one likes."""

import torch
from torch import autograd, optim


def find_a_candidate(transform, differentiable, x_init):
    start = transform.inv(x_init)
    x = start.detach().clone().requires_grad_(True)
    minimizer = optim.LBFGS([x], max_eval=20)

    def closure():
        minimizer.zero_grad()
        if (torch.log(torch.abs(x)) > 25.0).any():
            return torch.tensor(float("inf"))
        y = differentiable(transform(x))
        autograd.backward(x, autograd.grad(y, x))
        return y

    minimizer.step(closure)
    return transform(x).detach()


def find_another(transform, differentiable, x_init):
    x = transform.inv(x_init).clone().detach().requires_grad_(True)
    minimizer = optim.LBFGS([x], line_search_fn="strong_wolfe")

    def closure():
        minimizer.zero_grad()
        y = differentiable(transform(x))
        autograd.backward(x, autograd.grad(y, x))
        return y

    minimizer.step(closure)
    return transform(x).detach()


def find_a_third(transform, differentiable, x_init):
    x = transform.inv(x_init).clone().requires_grad_()
    for _ in range(20):
        y = differentiable(transform(x))
        autograd.backward(x, autograd.grad(y, x))
        with torch.no_grad():
            x -= 0.1 * x.grad
            x.grad = None
    return x.detach()
