"""As the folder `programs`: what writes into the dicts of a module, or makes one by hand. Judged by running them."""

from __future__ import annotations

WEIGHTS: list[tuple[str, str]] = []


def program(name: str, source: str) -> None:
    WEIGHTS.append((name, source.lstrip("\n")))


HEAD = """
import torch
from torch import nn

"""
TWIN = (
    HEAD
    + """\
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
"""
)

program(
    "twins-are-adapted",
    TWIN
    + """\
for _ in range(3):
    learner = twin(net)
    grads = iter(torch.autograd.grad(learner(torch.ones(4, 2)).mean(), list(learner.parameters()), create_graph=True))
    replace(learner, lambda p: p - 0.1 * next(grads))
    learner(torch.ones(4, 2)).mean().backward()
""",
)
program(
    "network-itself-is-adapted",
    TWIN
    + """\
for _ in range(3):
    grads = iter(torch.autograd.grad(net(torch.ones(4, 2)).mean(), list(net.parameters()), create_graph=True))
    replace(net, lambda p: p - 0.1 * next(grads))
    loss = net(torch.ones(4, 2)).mean()
    loss.backward()
""",
)
program(
    "weights-by-a-learned-rate",
    TWIN
    + """\
rate = nn.Parameter(torch.tensor(0.1))
for _ in range(2):
    for task in range(2):
        loss = twin(net)(torch.randn(4, 2)).mean()
        loss.backward()
    replace(net, lambda p: p.detach() - rate * torch.ones_like(p))
""",
)
program(
    "weights-by-a-learned-shift",
    TWIN
    + """\
shift = nn.Parameter(torch.tensor(0.1))
for _ in range(2):
    for task in range(2):
        loss = twin(net)(torch.randn(4, 2)).mean()
        loss.backward()
    replace(net, lambda p: p.detach() - shift)
""",
)
program(
    "gradients-by-the-identity-of-weights",
    HEAD
    + """\
net = nn.Linear(2, 1)
frozen = nn.Parameter(torch.ones(1)) * 2
for _ in range(2):
    loss = net(torch.ones(4, 2)).pow(2).mean() + frozen.sum()
    found = {id(p): p * 1.5 for p in net.parameters()}
    found[id(frozen)] = frozen
    total = found[id(net.weight)].sum()
    total.backward()
""",
)
program(
    "weights-of-a-dict-that-was-kept",
    HEAD
    + """\
net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
held = [part._parameters for part in net.modules()]
for _ in range(2):
    for weights in held:
        for name in weights:
            weights[name] = weights[name] * 0.5
    loss = net(torch.ones(4, 2)).sum()
    loss.backward()
""",
)
program(
    "weights-of-a-dict-that-was-kept-begin-anew",
    HEAD
    + """\
net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
held = [part._parameters for part in net.modules()]
for _ in range(3):
    for weights in held:
        for name in weights:
            weights[name] = weights[name] * 0.5
    loss = net(torch.ones(4, 2)).sum()
    loss.backward()
    for part in net.modules():
        for name, p in part._parameters.items():
            part._parameters[name] = p.detach().requires_grad_()
""",
)
program(
    "weight-that-is-made-in-every-call",
    HEAD
    + """\
layer = nn.Linear(2, 3)
raw = layer._parameters.pop("weight")
layer.register_parameter("raw", nn.Parameter(raw.data))
opt = torch.optim.SGD(layer.parameters(), 0.1)
for _ in range(3):
    layer.weight = layer.raw * 0.5
    layer(torch.ones(4, 2)).sum().backward()
    opt.step()
assert [name for name in layer._parameters] == ["bias", "raw"]
""",
)
program(
    "weight-that-was-made-once",
    HEAD
    + """\
layer = nn.Linear(2, 3)
raw = layer.weight
del layer._parameters["weight"]
layer.register_parameter("raw", nn.Parameter(raw.data))
layer.weight = layer.raw * 0.5
for _ in range(3):
    loss = layer(torch.ones(4, 2)).sum()
    loss.backward()
""",
)
program(
    "buffer-written-with-history",
    HEAD
    + """\
class Mean(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.register_buffer("seen", torch.zeros(3))

    def forward(self, x):
        h = self.layer(x)
        self._buffers["seen"] = 0.9 * self.seen + 0.1 * h.mean(0)
        return h - self.seen


net = Mean()
for _ in range(3):
    loss = net(torch.ones(4, 3)).pow(2).sum()
    loss.backward()
""",
)
program(
    "object-filled-by-hand",
    HEAD
    + """\
class Model:
    def __init__(self, w):
        self.w = w
        self.state = torch.zeros(3)

    def copy(self):
        other = object.__new__(Model)
        other.__dict__.update(self.__dict__)
        return other

    def step(self, x):
        self.state = torch.tanh(self.w * x + self.state)
        return self.state.sum()


model = Model(torch.ones(3, requires_grad=True))
for _ in range(2):
    once = model.copy()
    once.step(torch.ones(3)).backward()
once = model.copy()
for _ in range(2):
    loss = once.step(torch.ones(3))
    loss.backward()
""",
)
program(
    "children-of-a-copy-are-its-own",
    HEAD
    + """\
net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
other = nn.Sequential.__new__(nn.Sequential)
other.__dict__ = net.__dict__.copy()
other._modules = other._modules.copy()
other._modules["1"] = nn.Identity()
scale = nn.Parameter(torch.ones(1))
other._modules["0"] = nn.Linear(2, 3)
other[0]._parameters["bias"] = scale * torch.ones(3)
for _ in range(2):
    net(torch.ones(4, 2)).sum().backward()
loss = other(torch.ones(4, 2)).sum()
loss.backward()
loss = other(torch.ones(4, 2)).sum()
loss.backward()
""",
)
