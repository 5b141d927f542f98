import torch
from torch import nn


def twin(module):
    made = module.__new__(type(module))
    made.__dict__ = module.__dict__.copy()
    made._parameters = {name: p.clone() for name, p in module._parameters.items()}
    made._modules = {name: twin(child) for name, child in module._modules.items()}
    return made


def replace(module, new):
    for name, p in list(module._parameters.items()):
        module._parameters[name] = new(p)
    for child in module.children():
        replace(child, new)


net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
for _ in range(3):
    grads = iter(torch.autograd.grad(net(torch.ones(4, 2)).mean(), list(net.parameters()), create_graph=True))
    replace(net, lambda p: p - 0.1 * next(grads))
    loss = net(torch.ones(4, 2)).mean()
    loss.backward()
