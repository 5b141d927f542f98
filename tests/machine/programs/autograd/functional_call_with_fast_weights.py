import torch
from torch import nn
from torch.func import functional_call

model = nn.Linear(2, 1)
x = torch.randn(4, 2)
for _ in range(2):
    params = dict(model.named_parameters())
    loss = functional_call(model, params, (x,)).pow(2).mean()
    grads = torch.autograd.grad(loss, list(params.values()), create_graph=True)
    fast = {name: p - 0.1 * g for (name, p), g in zip(params.items(), grads)}
    functional_call(model, fast, (x,)).pow(2).mean().backward()
