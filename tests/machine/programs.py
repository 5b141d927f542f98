"""Small complete PyTorch programs, about half of which raise in a `backward`: (name, source).

They cover the language that the machine models. Each says by running what it does: nothing here names a verdict. All of
them are deterministic as far as the verdict goes, call each function and method that they define, and write a call that
differentiates on one line.
"""

from __future__ import annotations

LOOPS: list[tuple[str, str]] = [
    (
        "for-carried-state",
        """\
import torch

w = torch.randn(3, 3, requires_grad=True)
h = torch.zeros(1, 3)
for x in (torch.randn(1, 3), torch.randn(1, 3), torch.randn(1, 3)):
    h = torch.tanh(x + h @ w)
    loss = h.pow(2).mean()
    loss.backward()
""",
    ),
    (
        "for-state-detached-where-it-enters",
        """\
import torch

w = torch.randn(3, 3, requires_grad=True)
h = torch.zeros(1, 3)
for _ in range(5):
    h = h.detach()
    h = torch.tanh(torch.randn(1, 3) + h @ w)
    loss = h.pow(2).mean()
    loss.backward()
""",
    ),
    (
        "while-graph-built-before-it",
        """\
import torch

w = torch.ones(4, requires_grad=True)
penalty = (w ** 2).sum()
step = 0
while step < 3:
    loss = (w * torch.randn(4)).sum() + penalty
    loss.backward()
    step += 1
""",
    ),
    (
        "while-true-with-break",
        """\
import torch

w = torch.ones(4, requires_grad=True)
loss = (w * w).sum()
count = 0
while True:
    loss.backward()
    count += 1
    if count > 0:
        break
""",
    ),
    (
        "while-else-differentiates-again",
        """\
import torch

w = torch.ones(4, requires_grad=True)
loss = w.exp().sum()
n = 1
while n > 0:
    loss.backward()
    n -= 1
else:
    loss.backward()
""",
    ),
    (
        "nested-loops-inner-state-carried",
        """\
import torch

cell = torch.nn.RNNCell(2, 3)
for epoch in range(2):
    h = torch.zeros(4, 3)
    for t in range(2):
        h = cell(torch.randn(4, 2), h)
        loss = h.sum()
        loss.backward()
""",
    ),
    (
        "nested-loops-one-backward-an-epoch",
        """\
import torch

cell = torch.nn.RNNCell(2, 3)
for epoch in range(3):
    h = torch.zeros(4, 3)
    total = 0.0
    for t in range(3):
        h = cell(torch.randn(4, 2), h)
        total = total + h.pow(2).sum()
    total.backward()
""",
    ),
    (
        "nested-loops-outer-graph-in-inner-loop",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
for epoch in range(2):
    encoded = torch.relu(torch.randn(5, 2) @ w)
    for k in range(2):
        loss = (encoded * (k + 1)).sum()
        loss.backward()
""",
    ),
    (
        "for-else-is-run",
        """\
import torch

w = torch.randn(3, requires_grad=True)
loss = (w * 3).sum()
for i in range(2):
    if i == 5:
        break
else:
    loss.backward()
loss.backward()
""",
    ),
    (
        "for-else-is-skipped",
        """\
import torch

w = torch.randn(3, requires_grad=True)
loss = (w * 3).sum()
for name in ["a", "b", "c"]:
    if name == "b":
        loss.backward()
        break
else:
    loss.backward()
""",
    ),
    (
        "continue-skips-one",
        """\
import torch

w = torch.randn(3, requires_grad=True)
loss = w.sigmoid().sum()
for i in range(2):
    if i == 0:
        continue
    loss.backward()
""",
    ),
    (
        "continue-skips-too-few",
        """\
import torch

w = torch.randn(3, requires_grad=True)
loss = w.sigmoid().sum()
for i in range(3):
    if i == 0:
        continue
    loss.backward()
""",
    ),
    (
        "break-out-of-inner-loop-only",
        """\
import torch

w = torch.randn(3, requires_grad=True)
loss = w.sigmoid().sum()
for i in range(2):
    for j in range(3):
        loss.backward()
        break
""",
    ),
    (
        "losses-of-one-trunk-one-by-one",
        """\
import torch

trunk = torch.nn.Linear(4, 4)
heads = [torch.nn.Linear(4, 1) for _ in range(3)]
features = torch.tanh(trunk(torch.randn(8, 4)))
losses = [head(features).mean() for head in heads]
for loss in losses:
    loss.backward()
""",
    ),
    (
        "losses-of-one-trunk-summed",
        """\
import torch

trunk = torch.nn.Linear(4, 4)
heads = [torch.nn.Linear(4, 1) for _ in range(3)]
features = torch.tanh(trunk(torch.randn(8, 4)))
losses = [head(features).mean() for head in heads]
sum(losses).backward()
""",
    ),
    (
        "range-with-step",
        """\
import torch

w = torch.randn(3, requires_grad=True)
seen = {}
for i in range(0, 6, 2):
    seen[i] = (w * i).sum()
for i in range(4, -1, -2):
    seen[i].backward()
""",
    ),
    (
        "retain-in-all-passes-but-the-last",
        """\
import torch

w = torch.randn(3, requires_grad=True)
loss = (w ** 3).sum()
n = 3
for i in range(n):
    loss.backward(retain_graph=i < n - 1)
""",
    ),
    (
        "retain-in-the-first-pass-only",
        """\
import torch

w = torch.randn(3, requires_grad=True)
loss = (w ** 3).sum()
for i in range(3):
    loss.backward(retain_graph=(i == 0))
""",
    ),
    (
        "unrolled-window-carried-without-detach",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
h = torch.zeros(2)
for window in range(3):
    total = torch.zeros(())
    for t in range(2):
        h = (h @ w).tanh() + 1
        total = total + h.sum()
    total.backward()
""",
    ),
    (
        "unrolled-window-detached-at-its-end",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
h = torch.zeros(2)
for window in range(3):
    total = torch.zeros(())
    for t in range(2):
        h = (h @ w).tanh() + 1
        total = total + h.sum()
    total.backward()
    h = h.detach()
""",
    ),
    (
        "list-grows-while-it-is-walked",
        """\
import torch

w = torch.randn(2, requires_grad=True)
queue = [(w * 2).sum()]
for loss in queue:
    loss.backward()
    if len(queue) < 3:
        queue.append((w * len(queue)).sum())
""",
    ),
    (
        "accumulated-loss-differentiated-in-each-pass",
        """\
import torch

w = torch.randn(2, requires_grad=True)
total = 0
for x in torch.randn(3, 2):
    total = total + (w * x).pow(2).sum()
    total.backward()
""",
    ),
    (
        "no-saving-graph-is-walked-twice",
        """\
import torch

w = torch.randn(2, requires_grad=True)
offset = (w + 1).sum()
for _ in range(3):
    loss = offset + (w * 2).sum()
    loss.backward()
""",
    ),
]

BRANCHES: list[tuple[str, str]] = [
    (
        "correlated-tests-exclusive",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
heads = torch.rand(()).item() > 0.5
if heads:
    loss.backward()
print("between")
if not heads:
    loss.backward()
""",
    ),
    (
        "correlated-tests-either-way-once",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
heads = torch.rand(()).item() > 0.5
if heads:
    loss.backward()
if heads:
    pass
else:
    loss.backward()
""",
    ),
    (
        "both-branches-then-again",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
if torch.rand(()).item() > 0.5:
    loss.backward()
else:
    loss.backward()
loss.backward()
""",
    ),
    (
        "elif-chain-takes-the-retaining-arm",
        """\
import torch

w = torch.randn(2, requires_grad=True)
mode = "keep"
for _ in range(2):
    loss = (w * 2).sum()
    if mode == "drop":
        loss.backward()
    elif mode == "keep":
        loss.backward(retain_graph=True)
    else:
        raise ValueError(mode)
    loss.backward()
""",
    ),
    (
        "elif-chain-takes-the-freeing-arm",
        """\
import torch

w = torch.randn(2, requires_grad=True)
mode = "drop"
loss = (w * 2).sum()
if mode == "keep":
    loss.backward(retain_graph=True)
elif mode == "drop":
    loss.backward()
loss.backward()
""",
    ),
    (
        "every-other-step-trains-the-other-network",
        """\
import torch
from torch import nn

critic, actor = nn.Linear(2, 1), nn.Linear(2, 2)
for step in range(4):
    state = torch.randn(3, 2)
    action = actor(state)
    if step % 2 == 0:
        critic(action.detach()).mean().backward()
    else:
        critic(action).mean().backward()
""",
    ),
    (
        "short-circuit-differentiates",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
ready = True
ready and loss.backward()
not ready or loss.backward()
""",
    ),
    (
        "short-circuit-does-not-differentiate",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
ready = False
ready and loss.backward()
ready or loss.backward()
""",
    ),
    (
        "conditional-expression-detaches-later-passes",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
h = torch.ones(2)
for i in range(3):
    h = h.detach() if i > 0 else h
    h = (h @ w).sigmoid()
    h.sum().backward()
""",
    ),
    (
        "conditional-expression-detaches-the-wrong-pass",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
h = torch.ones(2)
for i in range(3):
    h = h.detach() if i == 0 else h
    h = (h @ w).sigmoid()
    h.sum().backward()
""",
    ),
    (
        "chained-comparison",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
for i in range(4):
    if 0 < i < 2:
        loss.backward()
    if 1 <= i <= 0:
        loss.backward()
""",
    ),
    (
        "none-until-first-use",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
h = None
for _ in range(3):
    if h is None:
        h = torch.zeros(2)
    h = torch.sin(h @ w + 1)
    h.sum().backward()
""",
    ),
    (
        "none-again-after-each-pass",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
h = None
for _ in range(3):
    if h is None:
        h = torch.zeros(2)
    h = torch.sin(h @ w + 1)
    h.sum().backward()
    h = None
""",
    ),
    (
        "match-on-text",
        """\
import torch

w = torch.randn(2, requires_grad=True)
for kind in ["l1", "l2", "other"]:
    match kind:
        case "l1":
            loss = w.abs().sum()
        case "l2":
            loss = w.pow(2).sum()
        case _:
            pass
    loss.backward()
""",
    ),
    (
        "match-makes-a-loss-in-each-arm",
        """\
import torch

w = torch.randn(2, requires_grad=True)
for kind in ["l1", "l2", "other"]:
    match kind:
        case "l1":
            loss = w.abs().sum()
        case "l2" | "square":
            loss = w.pow(2).sum()
        case _:
            loss = w.exp().sum()
    loss.backward()
""",
    ),
    (
        "match-takes-a-tuple-apart",
        """\
import torch

w = torch.randn(2, requires_grad=True)
command = ("scale", (w * 2).sum())
match command:
    case ("skip", _):
        pass
    case ("scale", loss):
        loss.backward()
        command[1].backward()
""",
    ),
    (
        "match-takes-a-dict-apart",
        """\
import torch

w = torch.randn(2, requires_grad=True)
batch = {"kind": "train", "loss": (w * 2).sum()}
match batch:
    case {"kind": "eval"}:
        pass
    case {"kind": "train", "loss": loss} if loss.requires_grad:
        loss.backward()
match batch:
    case {"kind": "eval", "loss": loss}:
        loss.backward()
""",
    ),
]

FUNCTIONS: list[tuple[str, str]] = [
    (
        "mutable-default-keeps-graphs",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def step(x, seen=[]):
    seen.append((w * x).sum())
    loss = sum(seen)
    loss.backward()


step(1.0)
step(2.0)
""",
    ),
    (
        "fresh-list-for-each-call",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def step(x, seen=None):
    seen = [] if seen is None else seen
    seen.append((w * x).sum())
    sum(seen).backward()


step(1.0)
step(2.0)
""",
    ),
    (
        "keywords-are-handed-on",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def differentiate(loss, *args, **options):
    loss.backward(*args, **options)


loss = (w * 2).sum()
differentiate(loss, None, True)
differentiate(loss, retain_graph=True)
differentiate(loss)
""",
    ),
    (
        "keywords-are-handed-on-once-too-often",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def differentiate(loss, *args, **options):
    loss.backward(*args, **options)


loss = (w * 2).sum()
options = {"retain_graph": True}
differentiate(loss, **options)
differentiate(loss, **{"retain_graph": False})
differentiate(loss, **options)
""",
    ),
    (
        "keyword-only-and-positional-only",
        """\
import torch


def loss_of(w, /, x, *, power=2, keep=False):
    loss = (w * x).pow(power).sum()
    loss.backward(retain_graph=keep)
    return loss


w = torch.randn(2, requires_grad=True)
loss_of(w, 3.0, keep=True).backward()
loss_of(w, x=3.0, power=3).backward()
""",
    ),
    (
        "closure-carries-state-by-nonlocal",
        """\
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
""",
    ),
    (
        "closure-carries-a-detached-state",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)


def recurrent():
    h = torch.ones(2)

    def step():
        nonlocal h
        out = torch.relu(h @ w)
        h = out.detach()
        return out.sum()

    return step


step = recurrent()
step().backward()
step().backward()
""",
    ),
    (
        "lambda-builds-a-graph-in-each-call",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss_of = lambda x: ((w - x) ** 2).sum()
for x in range(3):
    loss_of(x).backward()
""",
    ),
    (
        "lambda-gives-the-same-graph",
        """\
import torch

w = torch.randn(2, requires_grad=True)
target = (w * 2).exp()
loss_of = lambda x, t=target: (t - x).sum()
for x in range(3):
    loss_of(x).backward()
""",
    ),
    (
        "lambdas-bound-late",
        """\
import torch

w = torch.randn(2, requires_grad=True)
losses = [(w * k).sum() for k in range(3)]
makers = [lambda: losses[i] for i in range(3)]
for make in makers:
    make().backward()
""",
    ),
    (
        "lambdas-bound-early",
        """\
import torch

w = torch.randn(2, requires_grad=True)
losses = [(w * k).sum() for k in range(3)]
makers = [lambda i=i: losses[i] for i in range(3)]
for make in makers:
    make().backward()
""",
    ),
    (
        "recursion",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def product(parts):
    if len(parts) == 1:
        return parts[0]
    return parts[0] * product(parts[1:])


parts = [w + k for k in range(3)]
product(parts).sum().backward()
product(parts).sum().backward()
product([w.sin(), *parts]).sum().backward()
""",
    ),
    (
        "recursion-over-shared-parts",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def product(parts):
    if len(parts) == 1:
        return parts[0]
    return parts[0] * product(parts[1:])


parts = [w * k for k in range(3)]
product(parts).sum().backward()
product(parts[1:]).sum().backward()
""",
    ),
    (
        "global-state",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
h = torch.ones(2)


def step():
    global h
    h = torch.softmax(h @ w, 0)
    h.max().backward()


step()
step()
""",
    ),
    (
        "global-state-reset",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
h = torch.ones(2)


def reset():
    global h
    h = torch.ones(2)


def step():
    global h
    h = torch.softmax(h @ w, 0)
    h.max().backward()


for _ in range(3):
    reset()
    step()
""",
    ),
    (
        "partial-fixes-the-graph",
        """\
from functools import partial

import torch

w = torch.randn(2, requires_grad=True)


def loss_of(prior, x):
    return (prior * x).sum()


step = partial(loss_of, w.exp())
for x in (1.0, 2.0):
    step(x).backward()
""",
    ),
    (
        "partial-fixes-the-leaf",
        """\
from functools import partial

import torch

w = torch.randn(2, requires_grad=True)


def loss_of(prior, x):
    return (prior.exp() * x).sum()


step = partial(loss_of, w)
for x in (1.0, 2.0):
    step(x=x).backward()
""",
    ),
    (
        "cached-function-gives-the-same-graph",
        """\
from functools import lru_cache

import torch

w = torch.randn(2, requires_grad=True)


@lru_cache(maxsize=None)
def prior(k):
    return (w * k).exp()


for x in range(2):
    loss = prior(1).sum() + prior(x + 5).sum()
    loss.backward()
""",
    ),
    (
        "cached-function-with-other-arguments",
        """\
import functools

import torch

w = torch.randn(2, requires_grad=True)


@functools.cache
def prior(k):
    return (w * k).exp()


for x in range(3):
    prior(x).sum().backward()
""",
    ),
    (
        "decorator-wraps-the-step",
        """\
import functools

import torch

w = torch.randn(2, requires_grad=True)


def differentiated(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        loss = function(*args, **kwargs)
        loss.backward()
        return loss

    return wrapper


@differentiated
def step(x):
    return (w * x).pow(2).sum()


step(1.0)
step(2.0).backward()
""",
    ),
    (
        "decorator-with-arguments-retains",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def differentiated(times):
    def decorate(function):
        def wrapper(*args):
            loss = function(*args)
            for i in range(times):
                loss.backward(retain_graph=i + 1 < times)
            return loss.item()

        return wrapper

    return decorate


@differentiated(times=3)
def step(x):
    return (w * x).pow(2).sum()


print(step(1.0) + step(2.0))
""",
    ),
    (
        "early-return-and-finally",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def step(loss, early):
    try:
        if early:
            return loss
        loss.backward()
    finally:
        loss.backward()


step((w * 2).sum(), True)
step((w * 2).sum(), False)
""",
    ),
    (
        "several-results-unpacked",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def forward(x):
    hidden = (w * x).tanh()
    return hidden, hidden.sum(), (hidden ** 2).mean()


hidden, first, second = forward(2.0)
first.backward()
hidden, *_ = forward(3.0)
_, first, second = forward(4.0)
(first + second).backward()
second.backward()
""",
    ),
    (
        "function-stored-in-a-dict",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def square(x):
    return x ** 2


table = {"abs": torch.abs, "square": square, "cube": lambda x: x ** 3}
for name, function in table.items():
    function(w).sum().backward()
""",
    ),
    (
        "function-attribute-keeps-a-graph",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def loss_of(x):
    if not hasattr(loss_of, "prior"):
        loss_of.prior = w.exp()
    return (loss_of.prior * x).sum()


loss_of(1.0).backward()
loss_of(2.0).backward()
""",
    ),
]

CLASSES: list[tuple[str, str]] = [
    (
        "state-on-the-instance",
        """\
import torch


class Memory:
    def __init__(self):
        self.w = torch.randn(2, 2, requires_grad=True)
        self.h = torch.zeros(2)

    def step(self, x):
        self.h = torch.tanh(self.h @ self.w + x)
        return self.h.sum()


memory = Memory()
for x in range(3):
    memory.step(x).backward()
""",
    ),
    (
        "state-on-the-instance-reset",
        """\
import torch


class Memory:
    def __init__(self):
        self.w = torch.randn(2, 2, requires_grad=True)
        self.reset()

    def reset(self):
        self.h = torch.zeros(2)
        return self

    def step(self, x):
        self.h = torch.tanh(self.h @ self.w + x)
        return self.h.sum()


memory = Memory()
for x in range(3):
    memory.reset().step(x).backward()
""",
    ),
    (
        "inheritance-and-super",
        """\
import torch


class Base:
    def __init__(self, size):
        self.w = torch.randn(size, requires_grad=True)
        self.prior = self.w.exp()

    def loss(self, x):
        return (self.w * x).sum()


class Regularised(Base):
    def __init__(self, size, weight=0.1):
        super().__init__(size)
        self.weight = weight

    def loss(self, x):
        return super().loss(x) + self.weight * self.prior.sum()


model = Regularised(3)
model.loss(1.0).backward()
model.loss(2.0).backward()
""",
    ),
    (
        "inheritance-override-builds-anew",
        """\
import torch


class Base:
    def __init__(self, size):
        self.w = torch.randn(size, requires_grad=True)

    def prior(self):
        raise NotImplementedError

    def loss(self, x):
        return (self.w * x).sum() + self.prior().sum()


class Exponential(Base):
    def prior(self):
        return self.w.exp()


model = Exponential(3)
model.loss(1.0).backward()
model.loss(2.0).backward()
""",
    ),
    (
        "diamond-inheritance",
        """\
import torch


class Root:
    def loss(self, w):
        return w.sum()


class Left(Root):
    def loss(self, w):
        return super().loss(w) * 2


class Right(Root):
    def loss(self, w):
        return super().loss(w.exp())


class Both(Left, Right):
    pass


w = torch.randn(2, requires_grad=True)
Both().loss(w).backward()
loss = Both().loss(w + 1)
loss.backward()
loss.backward()
""",
    ),
    (
        "property-builds-anew",
        """\
import torch


class Model:
    def __init__(self):
        self.w = torch.randn(2, requires_grad=True)

    @property
    def prior(self):
        return self.w.exp().sum()


model = Model()
for _ in range(3):
    model.prior.backward()
""",
    ),
    (
        "cached-property-keeps-its-graph",
        """\
from functools import cached_property

import torch


class Model:
    def __init__(self):
        self.w = torch.randn(2, requires_grad=True)

    @cached_property
    def prior(self):
        return self.w.exp().sum()


model = Model()
for _ in range(3):
    model.prior.backward()
""",
    ),
    (
        "property-setter-detaches",
        """\
import torch


class State:
    def __init__(self):
        self._h = torch.ones(2)

    @property
    def h(self):
        return self._h

    @h.setter
    def h(self, value):
        self._h = value.detach()


w = torch.randn(2, 2, requires_grad=True)
state = State()
for _ in range(3):
    out = torch.tanh(state.h @ w)
    state.h = out
    out.sum().backward()
""",
    ),
    (
        "property-setter-keeps-the-graph",
        """\
import torch


class State:
    def __init__(self):
        self._h = torch.ones(2)

    @property
    def h(self):
        return self._h

    @h.setter
    def h(self, value):
        self._h = value


w = torch.randn(2, 2, requires_grad=True)
state = State()
for _ in range(3):
    out = torch.tanh(state.h @ w)
    state.h = out
    out.sum().backward()
""",
    ),
    (
        "class-and-static-methods",
        """\
import torch


class Model:
    def __init__(self, w, prior):
        self.w = w
        self.prior = prior

    @classmethod
    def fresh(cls, size=2):
        w = torch.randn(size, requires_grad=True)
        return cls(w, cls.energy(w))

    @staticmethod
    def energy(w):
        return (w ** 2).sum()

    def loss(self):
        return self.energy(self.w) + self.prior


Model.fresh().loss().backward()
model = Model.fresh(size=3)
model.loss().backward()
Model.energy(model.w).backward()
model.loss().backward()
""",
    ),
    (
        "class-attribute-shared-by-instances",
        """\
import torch


class Model:
    w = torch.randn(2, requires_grad=True)
    prior = w.exp()

    def loss(self, x):
        return (self.prior * x).sum()


Model().loss(1.0).backward()
Model().loss(2.0).backward()
""",
    ),
    (
        "class-attribute-hidden-by-the-instance",
        """\
import torch


class Model:
    w = torch.randn(2, requires_grad=True)
    prior = None

    def loss(self, x):
        if self.prior is None:
            self.prior = self.w.exp()
        return (self.prior * x).sum()


Model().loss(1.0).backward()
Model().loss(2.0).backward()
""",
    ),
    (
        "call-and-getitem",
        """\
import torch


class Bank:
    def __init__(self, w):
        self.rows = [w * k for k in range(1, 4)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]

    def __call__(self, index):
        return self[index].sum()


w = torch.randn(2, requires_grad=True)
bank = Bank(w)
for i in range(len(bank)):
    bank(i).backward()
bank(-1).backward()
""",
    ),
    (
        "operators-of-a-class",
        """\
import torch


class Loss:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Loss(self.value + (other.value if isinstance(other, Loss) else other))

    __radd__ = __add__

    def __mul__(self, factor):
        return Loss(self.value * factor)

    def backward(self):
        self.value.backward()


w = torch.randn(2, requires_grad=True)
total = sum([Loss((w * k).sum()) for k in range(3)])
(total * 0.5).backward()
(Loss(w.exp().sum()) + 1).backward()
""",
    ),
    (
        "own-method-called-backward",
        """\
class Value:
    def __init__(self, data):
        self.data = data
        self.grad = 0.0

    def backward(self):
        self.grad += 1.0


value = Value(3.0)
for _ in range(3):
    value.backward()
print(value.grad)
""",
    ),
    (
        "own-iterator-gives-fresh-graphs",
        """\
import torch


class Losses:
    def __init__(self, w, count):
        self.w, self.count = w, count

    def __iter__(self):
        self.at = 0
        return self

    def __next__(self):
        if self.at >= self.count:
            raise StopIteration
        self.at += 1
        return (self.w * self.at).sum()


for loss in Losses(torch.randn(2, requires_grad=True), 3):
    loss.backward()
""",
    ),
    (
        "own-context-manager-differentiates",
        """\
import torch


class Step:
    def __init__(self, loss):
        self.loss = loss

    def __enter__(self):
        return self.loss

    def __exit__(self, *exc):
        self.loss.backward()
        return False


w = torch.randn(2, requires_grad=True)
with Step((w * 2).sum()) as loss:
    print(loss.item())
with Step((w * 2).sum()) as loss:
    loss.backward()
""",
    ),
    (
        "getattr-hands-on-to-the-wrapped",
        """\
import torch


class Wrapper:
    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)


class Inner:
    def __init__(self):
        self.w = torch.randn(2, requires_grad=True)

    def loss(self):
        return self.w.exp().sum()


wrapper = Wrapper(Inner())
loss = wrapper.loss()
loss.backward()
wrapper.loss().backward()
loss.backward()
""",
    ),
    (
        "slots-and-class-constants",
        """\
import torch


class Config:
    __slots__ = ("keep",)
    STEPS = 2

    def __init__(self, keep):
        self.keep = keep


w = torch.randn(2, requires_grad=True)
config = Config(keep=True)
loss = (w * 2).sum()
for i in range(Config.STEPS):
    loss.backward(retain_graph=config.keep)
config.keep = False
loss.backward(retain_graph=config.keep)
""",
    ),
    (
        "composition-two-owners-of-one-state",
        """\
import torch


class Shared:
    def __init__(self):
        self.h = torch.ones(2)


class Reader:
    def __init__(self, shared, w):
        self.shared, self.w = shared, w

    def loss(self):
        self.shared.h = (self.shared.h * self.w).cos()
        return self.shared.h.sum()


shared = Shared()
w = torch.randn(2, requires_grad=True)
one, other = Reader(shared, w), Reader(shared, w)
one.loss().backward()
other.loss().backward()
""",
    ),
    (
        "setattr-and-getattr-by-name",
        """\
import torch


class Store:
    pass


w = torch.randn(2, requires_grad=True)
store = Store()
for name in ("a", "b"):
    setattr(store, name, (w * len(name)).sum())
for name in ("a", "b"):
    getattr(store, name).backward()
getattr(store, "missing", store.b).backward()
""",
    ),
]

CONTAINERS: list[tuple[str, str]] = [
    (
        "list-of-losses-stacked-at-the-end",
        """\
import torch

w = torch.randn(2, requires_grad=True)
losses = []
for k in range(5):
    losses.append((w * k).pow(2).sum())
torch.stack(losses).mean().backward()
print(sum(loss.item() for loss in losses))
""",
    ),
    (
        "list-of-losses-stacked-in-each-pass",
        """\
import torch

w = torch.randn(2, requires_grad=True)
losses = []
for k in range(3):
    losses.append((w * k).pow(2).sum())
    torch.stack(losses).mean().backward()
""",
    ),
    (
        "list-slot-holds-the-state",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
states = [torch.ones(2), torch.ones(2)]
for i in range(2):
    for k in range(len(states)):
        states[k] = torch.tanh(states[k] @ w)
    torch.cat(states).sum().backward()
""",
    ),
    (
        "list-comprehension-detaches-the-states",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
states = [torch.ones(2), torch.ones(2)]
for i in range(3):
    states = [s.detach() for s in states]
    for k, state in enumerate(states):
        states[k] = torch.tanh(state @ w)
    torch.cat(states).sum().backward()
""",
    ),
    (
        "dict-slot-holds-the-state",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
state = {"h": torch.ones(2), "steps": 0}
while state["steps"] < 2:
    state["h"] = torch.tanh(state["h"] @ w)
    state["h"].sum().backward()
    state["steps"] += 1
""",
    ),
    (
        "dict-comprehension-detaches-the-states",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
state = {"h": torch.ones(2), "c": torch.zeros(2)}
for _ in range(3):
    state = {name: value.detach() for name, value in state.items()}
    state["c"] = state["c"] + torch.sigmoid(state["h"] @ w)
    state.update(h=state["c"].tanh())
    state["h"].sum().backward()
""",
    ),
    (
        "nested-dict-holds-the-state",
        """\
import torch

w = torch.randn(2, requires_grad=True)
cache = {"layer": {"k": None}}
for x in range(1, 3):
    past = cache["layer"]["k"]
    now = (w * x).exp()
    cache["layer"]["k"] = now if past is None else past + now
    cache["layer"]["k"].sum().backward()
""",
    ),
    (
        "defaultdict-of-lists",
        """\
from collections import defaultdict

import torch

w = torch.randn(2, requires_grad=True)
log = defaultdict(list)
for k in range(3):
    log["a"].append((w * k).sum())
    log["b"].append((w + k).exp().sum())
sum(log["a"]).backward()
torch.stack(log["b"]).sum().backward()
log["a"][-1].backward()
""",
    ),
    (
        "defaultdict-of-numbers",
        """\
from collections import defaultdict

import torch

w = torch.randn(2, requires_grad=True)
totals = defaultdict(float)
for k in range(3):
    loss = (w * k).sum()
    loss.backward()
    totals["loss"] += loss.item()
print({name: f"{value:.3f}" for name, value in totals.items()})
""",
    ),
    (
        "deque-hands-back-an-old-graph",
        """\
from collections import deque

import torch

w = torch.randn(2, requires_grad=True)
memory = deque(maxlen=2)
for k in range(3):
    memory.append((w * k).tanh())
    loss = sum(item.sum() for item in memory)
    loss.backward()
""",
    ),
    (
        "deque-hands-back-what-was-detached",
        """\
from collections import deque

import torch

w = torch.randn(2, requires_grad=True)
memory = deque([torch.zeros(2)], maxlen=2)
for k in range(4):
    out = (w * k).tanh()
    loss = sum((out - item).pow(2).sum() for item in memory)
    loss.backward()
    memory.append(out.detach())
    if len(memory) == 2:
        memory.popleft()
""",
    ),
    (
        "deque-of-length-one-forgets",
        """\
from collections import deque

import torch

w = torch.randn(2, requires_grad=True)
memory = deque(maxlen=1)
for k in range(3):
    memory.append((w * k).tanh())
    memory[0].sum().backward()
""",
    ),
    (
        "tuple-state-as-of-an-lstm",
        """\
import torch

lstm = torch.nn.LSTM(2, 3)
state = (torch.zeros(1, 1, 3), torch.zeros(1, 1, 3))
for _ in range(2):
    out, state = lstm(torch.randn(4, 1, 2), state)
    out.sum().backward()
""",
    ),
    (
        "tuple-state-detached-by-a-generator",
        """\
import torch

lstm = torch.nn.LSTM(2, 3)
state = (torch.zeros(1, 1, 3), torch.zeros(1, 1, 3))
for _ in range(3):
    state = tuple(s.detach() for s in state)
    out, state = lstm(torch.randn(4, 1, 2), state)
    out.sum().backward()
""",
    ),
    (
        "one-of-two-states-detached",
        """\
import torch

lstm = torch.nn.LSTM(2, 3)
h, c = torch.zeros(1, 1, 3), torch.zeros(1, 1, 3)
for _ in range(2):
    h = h.detach()
    out, (h, c) = lstm(torch.randn(4, 1, 2), (h, c))
    out.sum().backward()
""",
    ),
    (
        "states-mapped-through-detach",
        """\
import torch

lstm = torch.nn.LSTM(2, 3)
state = None
for _ in range(3):
    if state is not None:
        state = tuple(map(lambda s: s.detach(), state))
    out, state = lstm(torch.randn(4, 1, 2), state)
    out.sum().backward()
""",
    ),
    (
        "swapped-by-tuple-assignment",
        """\
import torch

w = torch.randn(2, requires_grad=True)
a, b = w.exp(), w.sin()
a, b = b, a
a.sum().backward()
b.sum().backward()
(a * 2).sum().backward()
""",
    ),
    (
        "star-in-the-middle",
        """\
import torch

w = torch.randn(2, requires_grad=True)
parts = [(w * k).sum() for k in range(5)]
first, *middle, last = parts
(first + last).backward()
sum(middle).backward()
[head, *_] = middle
head.backward()
""",
    ),
    (
        "stars-in-displays-and-calls",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def total(first, *rest, scale=1.0):
    return (first + sum(rest)) * scale


a, b, c = [(w * k).sum() for k in (1, 2, 3)]
total(*[a, b], **{"scale": 2.0}).backward()
total(*(c,), *[]).backward()
total(*{"x": a}.values()).backward()
""",
    ),
    (
        "extend-insert-pop",
        """\
import torch

w = torch.randn(2, requires_grad=True)
losses = [w.exp().sum()]
losses.extend([w.sin().sum(), w.cos().sum()])
losses.insert(0, w.tanh().sum())
first = losses.pop(0)
first.backward()
last = losses.pop()
last.backward()
losses += [last]
losses[0].backward()
losses[-1].backward()
""",
    ),
    (
        "dict-methods",
        """\
import torch

w = torch.randn(2, requires_grad=True)
table = {}
table.setdefault("a", w.exp().sum())
table.setdefault("a", w.sin().sum())
table.update({"b": w.cos().sum()}, c=w.tanh().sum())
table.pop("a").backward()
table.get("a", table["b"]).backward()
table.get("c").backward()
for key in table.keys() & {"b"}:
    table[key].backward()
""",
    ),
    (
        "dataclass-with-a-factory",
        """\
from dataclasses import dataclass, field

import torch


@dataclass
class Batch:
    w: torch.Tensor
    scale: float = 2.0
    losses: list = field(default_factory=list)

    def add(self, x):
        self.losses.append((self.w * x * self.scale).sum())
        return self


w = torch.randn(2, requires_grad=True)
first, second = Batch(w), Batch(w, scale=3.0)
sum(first.add(1.0).add(2.0).losses).backward()
sum(second.add(1.0).losses).backward()
sum(first.add(3.0).losses).backward()
""",
    ),
    (
        "dataclass-replaced-with-a-detached-state",
        """\
from dataclasses import dataclass, replace

import torch


@dataclass(frozen=True)
class State:
    h: torch.Tensor
    step: int = 0


w = torch.randn(2, 2, requires_grad=True)
state = State(torch.ones(2))
for _ in range(3):
    h = torch.tanh(state.h @ w)
    h.sum().backward()
    state = replace(state, h=h.detach(), step=state.step + 1)
""",
    ),
    (
        "dataclass-replaced-with-an-attached-state",
        """\
import dataclasses

import torch


@dataclasses.dataclass
class State:
    h: torch.Tensor
    step: int = 0


w = torch.randn(2, 2, requires_grad=True)
state = State(torch.ones(2))
for _ in range(3):
    state = dataclasses.replace(state, h=torch.tanh(state.h @ w), step=state.step + 1)
    state.h.sum().backward()
""",
    ),
    (
        "namedtuple-carries-the-state",
        """\
from collections import namedtuple

import torch

State = namedtuple("State", ["h", "c"])
cell = torch.nn.LSTMCell(2, 3)
state = State(torch.zeros(1, 3), torch.zeros(1, 3))
for _ in range(2):
    state = State(*cell(torch.randn(1, 2), state))
    state.h.sum().backward()
""",
    ),
    (
        "named-tuple-class-carries-a-detached-state",
        """\
from typing import NamedTuple

import torch


class State(NamedTuple):
    h: torch.Tensor
    c: torch.Tensor = None

    def detach(self):
        return State(self.h.detach(), None if self.c is None else self.c.detach())


cell = torch.nn.LSTMCell(2, 3)
state = State(h=torch.zeros(1, 3), c=torch.zeros(1, 3))
for _ in range(3):
    state = state.detach()
    h, c = cell(torch.randn(1, 2), (state.h, state.c))
    state = State(h, c)
    state.h.sum().backward()
""",
    ),
    (
        "zip-and-enumerate",
        """\
import torch

w = torch.randn(2, requires_grad=True)
scales = [1.0, 2.0, 3.0]
names = ["a", "b", "c"]
losses = {}
for i, (name, scale) in enumerate(zip(names, scales), start=1):
    losses[name] = (w * scale * i).sum()
for name, loss in zip(names[::-1], reversed(list(losses.values()))):
    loss.backward()
""",
    ),
    (
        "map-and-filter",
        """\
import torch

w = torch.randn(2, requires_grad=True)
base = w.exp()
losses = list(map(lambda k: (base * k).sum(), range(3)))
for loss in filter(lambda loss: loss.requires_grad, losses):
    loss.backward()
""",
    ),
    (
        "sorted-and-max-by-key",
        """\
import torch

w = torch.randn(2, requires_grad=True)
losses = [("b", (w * 2).sum()), ("a", (w * 3).sum())]
for name, loss in sorted(losses, key=lambda pair: pair[0]):
    loss.backward()
worst = max(losses, key=lambda pair: pair[1].item())
worst[1].backward()
""",
    ),
    (
        "slices-of-a-list",
        """\
import torch

w = torch.randn(2, requires_grad=True)
losses = [(w * k).sum() for k in range(4)]
sum(losses[:2]).backward()
sum(losses[2:]).backward()
sum(losses[1:3]).backward()
""",
    ),
    (
        "set-of-seen-names",
        """\
import torch

w = torch.randn(2, requires_grad=True)
losses = {"a": (w * 2).sum(), "b": (w * 3).sum()}
seen = set()
for name in ["a", "b", "a", "b"]:
    if name in seen:
        continue
    seen.add(name)
    losses[name].backward()
""",
    ),
    (
        "chained-assignment-is-one-object",
        """\
import torch

w = torch.randn(2, requires_grad=True)
a = b = (w * 2).sum()
c = d = 0
c = c + a
a.backward()
(w + d).sum().backward()
b.backward()
""",
    ),
    (
        "deleted-and-bound-again",
        """\
import torch

w = torch.randn(2, requires_grad=True)
cache = {}
for k in range(3):
    if "prior" not in cache:
        cache["prior"] = w.exp()
    cache["prior"].sum().backward()
    del cache["prior"]
""",
    ),
    (
        "ordered-dict-of-heads",
        """\
from collections import OrderedDict

import torch

w = torch.randn(2, requires_grad=True)
shared = w.exp()
heads = OrderedDict([("a", shared * 2), ("b", shared * 3)])
for name, head in heads.items():
    head.sum().backward(retain_graph=name != "b")
""",
    ),
    (
        "full-deque-filled-on-the-left",
        """\
import torch
from collections import deque

w = torch.ones(3, requires_grad=True)
states = deque([torch.zeros(3), torch.zeros(3)], maxlen=2)
for step in range(4):
    h = torch.tanh(states[0] * w)
    h.sum().backward()
    states.appendleft(h)
""",
    ),
    (
        "full-deque-filled-on-the-left-read-on-the-right",
        """\
import torch
from collections import deque

w = torch.ones(3, requires_grad=True)
states = deque(maxlen=1)
states.appendleft(torch.zeros(3))
for step in range(4):
    h = torch.tanh(states[-1] * w)
    h.sum().backward()
    states.appendleft(h.detach())
""",
    ),
    (
        "full-deque-refuses-to-insert",
        """\
import torch
from collections import deque

w = torch.ones(3, requires_grad=True)
loss = (w * w).sum()
loss.backward()
states = deque([1, 2], maxlen=2)
try:
    states.insert(0, 3)
except IndexError:
    loss.backward()
""",
    ),
    (
        "deque-turned-round",
        """\
import torch
from collections import deque

w = torch.ones(3, requires_grad=True)
states = deque([torch.zeros(3), torch.zeros(3), torch.zeros(3)])
for step in range(4):
    h = torch.tanh(states[0] * w)
    h.sum().backward()
    states[-1] = h
    states.rotate(1)
""",
    ),
    (
        "deque-turned-back",
        """\
import torch
from collections import deque

w = torch.ones(3, requires_grad=True)
walked = (w * w).sum()
walked.backward()
losses = deque([walked, (w * w).sum(), (w * w).sum()])
losses.rotate(-1)
losses[0].backward()
losses.rotate(5)
losses[1].backward()
losses[0].backward()
""",
    ),
    (
        "deque-extended-on-the-left",
        """\
import torch
from collections import deque

w = torch.ones(3, requires_grad=True)
losses = deque([(w * w).sum()])
losses[0].backward()
losses.extendleft([(w * w).sum(), (w.exp() * w).sum()])
losses[1].backward()
losses[0].backward()
losses[2].backward()
""",
    ),
    (
        "dict-updated-by-pairs",
        """\
import torch

w = torch.ones(3, requires_grad=True)
losses = {}
for name in ("a", "b"):
    loss = (w * w).sum()
    loss.backward()
    losses.update([(name, loss)])
losses["b"].backward()
""",
    ),
    (
        "dict-updated-by-pairs-of-zip",
        """\
import torch

w = torch.ones(3, requires_grad=True)
losses = {"a": (w * w).sum()}
losses["a"].backward()
losses.update(zip(["a", "b"], [(w * w).sum(), w.exp().sum()]))
losses["a"].backward()
losses["b"].backward()
""",
    ),
    (
        "setdefault-by-a-counter-in-epochs",
        """\
import torch

w = torch.ones(3, requires_grad=True)
cache = {}
for epoch in range(2):
    for i in range(40):
        loss = cache.setdefault(i, (w * w).sum())
        loss.backward()
""",
    ),
    (
        "setdefault-by-a-counter-once",
        """\
import torch

w = torch.ones(3, requires_grad=True)
cache = {}
for i in range(40):
    loss = cache.setdefault(i, (w * w).sum())
    loss.backward()
""",
    ),
    (
        "set-united-with-what-was-differentiated",
        """\
import torch

w = torch.ones(3, requires_grad=True)
losses = set()
for step in range(3):
    loss = (w * w).sum()
    loss.backward()
    losses = losses.union({loss})
for loss in losses:
    loss.backward()
""",
    ),
    (
        "set-joined-by-an-operator",
        """\
import torch

w = torch.ones(3, requires_grad=True)
losses = set()
for step in range(3):
    losses = losses | {(w * w).sum()}
sum(losses).backward()
sum(losses | {w.exp().sum()}).backward()
""",
    ),
]

GENERATORS: list[tuple[str, str]] = [
    (
        "generator-yields-fresh-losses",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def losses(count):
    for k in range(count):
        yield (w * k).sum()


for loss in losses(3):
    loss.backward()
""",
    ),
    (
        "generator-yields-losses-of-one-trunk",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def losses(count):
    trunk = w.exp()
    for k in range(count):
        yield (trunk * k).sum()


for loss in losses(3):
    loss.backward()
""",
    ),
    (
        "generator-carries-state",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)


def roll_out(h):
    while True:
        h = torch.sigmoid(h @ w)
        yield h


states = roll_out(torch.ones(2))
next(states).sum().backward()
next(states).sum().backward()
""",
    ),
    (
        "generator-carries-a-detached-state",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)


def roll_out(h):
    while True:
        h = torch.sigmoid(h.detach() @ w)
        yield h


for step, h in zip(range(3), roll_out(torch.ones(2))):
    h.sum().backward()
""",
    ),
    (
        "generator-expression-is-summed",
        """\
import torch

w = torch.randn(2, requires_grad=True)
total = sum((w * k).pow(2).sum() for k in range(4) if k % 2)
total.backward()
total = sum(part for part in [total, w.sum()])
total.backward()
""",
    ),
    (
        "yield-from",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def inner(base):
    yield base.sum()
    yield (base * 2).sum()


def outer():
    yield from inner(w.sin())
    yield from [w.cos().sum()]


first, second, third = outer()
(first + second).backward()
third.backward()
second.backward()
""",
    ),
    (
        "generator-with-finally",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def steps():
    loss = w.exp().sum()
    try:
        yield loss
    finally:
        loss.backward()


for loss in steps():
    print(loss.item())
for loss in steps():
    loss.backward()
""",
    ),
    (
        "nested-comprehension",
        """\
import torch

w = torch.randn(2, requires_grad=True)
table = [[(w * (i + j)).sum() for j in range(2)] for i in range(2)]
flat = [loss for row in table for loss in row if loss.requires_grad]
for loss in flat:
    loss.backward()
table[1][1].backward()
""",
    ),
    (
        "itertools-chain-and-cycle",
        """\
import itertools

import torch

w = torch.randn(2, requires_grad=True)
ring = itertools.cycle([1.0, 2.0])
for k in itertools.chain([3.0], (4.0, 5.0)):
    ((w * k).sum() * next(ring)).backward()
trunk = w.exp()
for k in itertools.chain([3.0], (4.0, 5.0)):
    (trunk * next(ring)).sum().backward()
""",
    ),
    (
        "iterator-is-used-up",
        """\
import torch

w = torch.randn(2, requires_grad=True)
losses = iter([(w * k).sum() for k in range(3)])
for loss in losses:
    loss.backward()
for loss in losses:
    loss.backward()
""",
    ),
    (
        "list-is-walked-again",
        """\
import torch

w = torch.randn(2, requires_grad=True)
losses = [(w * k).sum() for k in range(3)]
for loss in losses:
    loss.backward()
for loss in losses:
    loss.backward()
""",
    ),
    (
        "walrus-in-a-while",
        """\
import torch

w = torch.randn(2, requires_grad=True)
pending = [(w * k).sum() for k in range(3)]
while (loss := pending.pop() if pending else None) is not None:
    loss.backward()
if (n := len(pending)) == 0:
    pending.append(last := (w * 2).sum())
last.backward()
pending[n].backward()
""",
    ),
    (
        "generator-under-no-grad",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)


@torch.no_grad()
def roll_out(h):
    for _ in range(3):
        h = torch.sigmoid(h @ w)
        yield h


for h in roll_out(torch.ones(2)):
    (h @ w).exp().sum().backward()
""",
    ),
]

EXCEPTIONS: list[tuple[str, str]] = [
    (
        "second-backward-is-caught",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
loss.backward()
try:
    loss.backward()
except RuntimeError as error:
    print(type(error).__name__)
""",
    ),
    (
        "only-another-error-is-caught",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
loss.backward()
try:
    loss.backward()
except (ValueError, KeyError):
    print("not this one")
""",
    ),
    (
        "handler-differentiates",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
table = {}
try:
    loss.backward()
    table["missing"]
except KeyError:
    loss.backward()
""",
    ),
    (
        "handler-is-not-reached",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
table = {"missing": 1}
try:
    table["missing"]
except KeyError:
    loss.backward()
else:
    loss.backward()
finally:
    print(loss.item())
""",
    ),
    (
        "else-and-finally-both-differentiate",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
try:
    print(loss.item())
except ValueError:
    pass
else:
    loss.backward()
finally:
    loss.backward()
""",
    ),
    (
        "own-exception-leaves-the-loop",
        """\
import torch


class Stop(Exception):
    pass


w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
try:
    for i in range(3):
        if i == 1:
            raise Stop
        loss.backward()
except Stop:
    print("stopped")
""",
    ),
    (
        "exception-crosses-a-call",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def step(loss):
    loss.backward()
    raise ValueError("always")


loss = (w * 2).sum()
for _ in range(2):
    try:
        step(loss)
    except ValueError:
        pass
""",
    ),
    (
        "suppressed",
        """\
import contextlib

import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
loss.backward()
with contextlib.suppress(RuntimeError):
    loss.backward()
""",
    ),
    (
        "own-contextmanager-function",
        """\
from contextlib import contextmanager

import torch

w = torch.randn(2, 2, requires_grad=True)


@contextmanager
def frozen():
    with torch.no_grad():
        yield "frozen"


h = torch.ones(2)
for _ in range(2):
    with frozen() as name:
        h = torch.tanh(h @ w)
    (h @ w).exp().sum().backward()
""",
    ),
    (
        "own-contextmanager-function-does-not-freeze",
        """\
from contextlib import contextmanager

import torch

w = torch.randn(2, 2, requires_grad=True)


@contextmanager
def timed(name):
    print("begin", name)
    yield
    print("end", name)


h = torch.ones(2)
for _ in range(2):
    with timed("step"):
        h = torch.tanh(h @ w)
    (h @ w).exp().sum().backward()
""",
    ),
    (
        "two-contexts-in-one-with",
        """\
import contextlib

import torch

w = torch.randn(2, 2, requires_grad=True)
with contextlib.nullcontext("name") as name, torch.no_grad():
    prior = torch.tanh(torch.ones(2) @ w)
with contextlib.ExitStack() as stack, torch.enable_grad():
    trunk = (prior @ w).exp()
for k in range(2):
    (trunk * k).sum().backward()
""",
    ),
    (
        "assertion-holds",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
assert loss.requires_grad, "it has history"
assert loss.dim() == 0
loss.backward()
assert w.grad is not None
loss.backward()
""",
    ),
    (
        "formatted-text",
        """\
import torch

w = torch.randn(2, requires_grad=True)
running = 0.0
for step in range(3):
    loss = (w ** 2).sum()
    loss.backward()
    running += loss.item()
    message = f"step {step:>3d}: {loss.item():.4f} ({running / (step + 1)!r}) {w.grad.norm().item():.2f}"
    print(message, "%d %s" % (step, message), "{} {n}".format(step, n=running))
""",
    ),
]

GRAD_MODES: list[tuple[str, str]] = [
    (
        "no-grad-block",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
with torch.no_grad():
    prior = torch.tanh(torch.ones(2) @ w)
for k in range(3):
    ((prior @ w) * k).sum().backward()
""",
    ),
    (
        "enable-grad-inside-no-grad",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
with torch.no_grad():
    frozen = torch.tanh(torch.ones(2) @ w)
    with torch.enable_grad():
        prior = torch.tanh(frozen @ w)
    after = torch.tanh(prior @ w)
(after @ w).sum().backward()
for k in range(2):
    (prior * k).sum().backward()
""",
    ),
    (
        "no-grad-decorator",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)


@torch.no_grad()
def encode(x):
    return torch.tanh(x @ w)


h = torch.ones(2)
for _ in range(3):
    h = encode(h)
    (h @ w).exp().sum().backward()
""",
    ),
    (
        "no-grad-decorator-without-parentheses",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)


@torch.no_grad
def encode(x):
    return torch.tanh(x @ w)


encoded = encode(torch.ones(2))
for _ in range(3):
    (encoded @ w).exp().sum().backward()
""",
    ),
    (
        "enable-grad-decorator-under-no-grad",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)


@torch.enable_grad()
def encode(x):
    return torch.tanh(x @ w)


with torch.no_grad():
    encoded = encode(torch.ones(2))
encoded.sum().backward()
encoded.sum().backward()
""",
    ),
    (
        "set-grad-enabled-as-a-call",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
torch.set_grad_enabled(False)
prior = torch.tanh(torch.ones(2) @ w)
torch.set_grad_enabled(True)
trunk = torch.tanh(prior @ w)
(prior @ w).sum().backward()
trunk.sum().backward()
trunk.sum().backward()
""",
    ),
    (
        "set-grad-enabled-as-a-context",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
for phase in ["train", "val", "train"]:
    with torch.set_grad_enabled(phase == "train"):
        loss = torch.tanh(torch.ones(2) @ w).sum()
    if phase == "train":
        loss.backward()
    print(torch.is_grad_enabled(), loss.requires_grad)
""",
    ),
    (
        "set-grad-enabled-context-keeps-the-graph",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
training = True
with torch.set_grad_enabled(training):
    prior = torch.tanh(torch.ones(2) @ w)
with torch.set_grad_enabled(mode=not training):
    other = torch.tanh(torch.ones(2) @ w)
for k in range(2):
    (other * w).sum().backward()
for k in range(2):
    (prior * w).sum().backward()
""",
    ),
    (
        "set-grad-enabled-as-a-decorator",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)


@torch.set_grad_enabled(False)
def encode(x):
    return torch.tanh(x @ w)


encoded = encode(torch.ones(2))
trunk = torch.tanh(torch.ones(2) @ w)
for _ in range(2):
    (encoded @ w).sum().backward()
trunk.sum().backward()
trunk.sum().backward()
""",
    ),
    (
        "no-grad-wraps-a-function",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)


def encode(x):
    return torch.tanh(x @ w)


frozen = torch.no_grad()(encode)
for function in (frozen, encode):
    encoded = function(torch.ones(2))
    for _ in range(2):
        (encoded @ w).exp().sum().backward()
""",
    ),
    (
        "no-grad-object-entered-by-name",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
context = torch.no_grad()
with context:
    prior = torch.tanh(torch.ones(2) @ w)
with torch.no_grad() if prior.requires_grad else torch.enable_grad():
    trunk = torch.tanh(prior @ w)
trunk.sum().backward()
trunk.sum().backward()
""",
    ),
    (
        "append-under-no-grad-keeps-the-graph",
        """\
import torch

w = torch.randn(2, requires_grad=True)
kept = []
for k in range(1, 3):
    out = (w * k).exp()
    with torch.no_grad():
        kept.append(out)
    torch.stack(kept).sum().backward()
""",
    ),
    (
        "average-under-no-grad-has-no-graph",
        """\
import torch

w = torch.randn(2, requires_grad=True)
average = torch.zeros(())
for k in range(1, 4):
    loss = (w * k).exp().sum()
    with torch.no_grad():
        average = 0.9 * average + 0.1 * loss
    (loss - average).backward()
""",
    ),
    (
        "average-with-a-graph",
        """\
import torch

w = torch.randn(2, requires_grad=True)
average = torch.zeros(())
for k in range(1, 4):
    loss = (w * k).exp().sum()
    average = 0.9 * average + 0.1 * loss
    (loss - average).backward()
""",
    ),
    (
        "requires-grad-switched-on",
        """\
import torch

w = torch.randn(2)
prior = w.exp()
w.requires_grad_()
trunk = (w * prior).sin()
for _ in range(2):
    (w * prior).sum().backward()
trunk.sum().backward()
trunk.sum().backward()
""",
    ),
    (
        "requires-grad-switched-off",
        """\
import torch

w, v = torch.randn(2, requires_grad=True), torch.randn(2, requires_grad=True)
w.requires_grad_(False)
prior = w.exp()
for _ in range(2):
    (prior * v).sum().backward()
w.requires_grad = True
prior = w.exp()
for _ in range(2):
    (prior * v).sum().backward()
""",
    ),
    (
        "frozen-by-a-loop-over-parameters",
        """\
import torch
from torch import nn

encoder, head = nn.Linear(2, 2), nn.Linear(2, 1)
for p in encoder.parameters():
    p.requires_grad = False
features = torch.tanh(encoder(torch.randn(4, 2)))
for _ in range(3):
    head(features).mean().backward()
""",
    ),
    (
        "frozen-by-requires-grad-of-the-module",
        """\
import torch
from torch import nn

encoder, head = nn.Linear(2, 2), nn.Linear(2, 1)
encoder.requires_grad_(False)
features = torch.tanh(encoder(torch.randn(4, 2)))
head(features).mean().backward()
encoder.requires_grad_(True)
features = torch.tanh(encoder(torch.randn(4, 2)))
head(features).mean().backward()
head(features).mean().backward()
""",
    ),
    (
        "eval-does-not-switch-gradients-off",
        """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.Tanh()).eval()
out = model(torch.randn(4, 2))
out.mean().backward()
out.sum().backward()
""",
    ),
    (
        "inference-mode-then-training",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
with torch.inference_mode():
    score = torch.tanh(torch.ones(2) @ w).sum().item()
for k in range(2):
    (torch.tanh(torch.ones(2) @ w).sum() * score).backward()
""",
    ),
]

DETACHING: list[tuple[str, str]] = [
    (
        "variable-of-a-result-has-no-history",
        """\
import torch
from torch.autograd import Variable

w = torch.ones(3, requires_grad=True)
scale = torch.ones(3, requires_grad=True)
features = Variable((w * 2).exp())
for _ in range(2):
    loss = (features * scale).pow(2).sum()
    loss.backward()
""",
    ),
    (
        "variable-that-requires-grad-is-a-leaf",
        """\
import torch
from torch.autograd import Variable

w = torch.ones(3, requires_grad=True)
image = Variable((w * 2).exp(), requires_grad=True)
for _ in range(2):
    loss = (image * image).sum()
    loss.backward()
""",
    ),
    (
        "shape-of-another-tensor-is-no-history",
        """\
import torch

w = torch.ones(4, requires_grad=True)
v = torch.ones(2, 2, requires_grad=True)
other = (v * v).exp()
first = (w * w).view_as(other).expand_as(other).reshape_as(other).type_as(other).to(other)
first.sum().backward()
other.sum().backward()
""",
    ),
    (
        "shape-of-another-tensor-where-its-own-graph-is-walked-again",
        """\
import torch

w = torch.ones(4, requires_grad=True)
shape = torch.zeros(2, 2)
mine = (w * w).exp()
mine.view_as(shape).sum().backward()
mine.sum().backward()
""",
    ),
    (
        "detach-is-dropped",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
h = torch.ones(2)
for _ in range(2):
    h.detach()
    h = torch.tanh(h @ w)
    h.sum().backward()
""",
    ),
    (
        "detach-in-place",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
h = torch.ones(2)
for _ in range(3):
    h = torch.tanh(h @ w)
    h.sum().backward()
    h.detach_()
""",
    ),
    (
        "data-of-the-state",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
h = torch.ones(2)
for _ in range(3):
    h = torch.tanh(h.data @ w)
    h.sum().backward()
""",
    ),
    (
        "clone-is-no-detach",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
h = torch.ones(2)
for _ in range(3):
    h = torch.tanh(h.clone() @ w)
    h.sum().backward()
""",
    ),
    (
        "clone-of-a-detached-state",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
h = torch.ones(2)
for _ in range(3):
    h = torch.tanh(h.detach().clone() @ w)
    h.sum().backward()
""",
    ),
    (
        "detached-once-before-the-loop",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
h = torch.tanh(torch.ones(2) @ w).detach()
for _ in range(3):
    h = torch.tanh(h @ w)
    h.sum().backward()
""",
    ),
    (
        "unbound-detach",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
h = torch.ones(2)
for _ in range(3):
    h = torch.tanh(torch.detach(h) @ w)
    h.sum().backward()
""",
    ),
    (
        "repackaged-by-recursion",
        """\
import torch


def repackage(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage(v) for v in h)


lstm = torch.nn.LSTM(2, 3)
hidden = (torch.zeros(1, 1, 3), torch.zeros(1, 1, 3))
for _ in range(3):
    hidden = repackage(hidden)
    out, hidden = lstm(torch.randn(4, 1, 2), hidden)
    out.mean().backward()
""",
    ),
    (
        "repackaged-only-if-it-is-a-list",
        """\
import torch


def repackage(h):
    if isinstance(h, list):
        return [v.detach() for v in h]
    return h


gru = torch.nn.GRU(2, 3)
hidden = torch.zeros(1, 1, 3)
for _ in range(2):
    hidden = repackage(hidden)
    out, hidden = gru(torch.randn(4, 1, 2), hidden)
    out.mean().backward()
""",
    ),
    (
        "item-into-a-new-tensor",
        """\
import torch

w = torch.randn(2, requires_grad=True)
level = torch.tensor(1.0)
for _ in range(3):
    loss = ((w - level) ** 2).sum()
    loss.backward()
    level = torch.tensor(loss.item())
""",
    ),
    (
        "baseline-without-item",
        """\
import torch

w = torch.randn(2, requires_grad=True)
baseline = 0.0
for k in range(1, 4):
    reward = (w * k).sigmoid().mean()
    loss = -(reward - baseline) ** 2
    loss.backward()
    baseline = 0.5 * baseline + 0.5 * reward
""",
    ),
    (
        "baseline-with-item",
        """\
import torch

w = torch.randn(2, requires_grad=True)
baseline = 0.0
for k in range(1, 4):
    reward = (w * k).sigmoid().mean()
    loss = -(reward - baseline) ** 2
    loss.backward()
    baseline = 0.5 * baseline + 0.5 * reward.item()
""",
    ),
    (
        "detached-and-made-a-leaf-again",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
h = torch.ones(2)
for _ in range(3):
    h = h.detach().requires_grad_()
    out = torch.tanh(h @ w)
    out.sum().backward()
    h = out - 0.1 * h.grad
""",
    ),
    (
        "fake-is-attached",
        """\
import torch
from torch import nn

generator, discriminator = nn.Linear(2, 2), nn.Linear(2, 1)
fake = torch.tanh(generator(torch.randn(4, 2)))
loss_d = discriminator(fake).mean()
loss_d.backward()
loss_g = -discriminator(fake).mean()
loss_g.backward()
""",
    ),
    (
        "fake-is-detached",
        """\
import torch
from torch import nn

generator, discriminator = nn.Linear(2, 2), nn.Linear(2, 1)
for _ in range(2):
    fake = torch.tanh(generator(torch.randn(4, 2)))
    loss_d = discriminator(fake.detach()).mean()
    loss_d.backward()
    loss_g = -discriminator(fake).mean()
    loss_g.backward()
""",
    ),
    (
        "target-network-without-gradients",
        """\
import copy

import torch
from torch import nn

online = nn.Linear(2, 1)
target = copy.deepcopy(online)
state = torch.randn(4, 2)
with torch.no_grad():
    goal = 1.0 + 0.9 * target(state)
for _ in range(3):
    nn.functional.mse_loss(online(state), goal).backward()
    for p, q in zip(online.parameters(), target.parameters()):
        q.data.mul_(0.9).add_(0.1 * p.data)
""",
    ),
    (
        "target-with-gradients",
        """\
import torch
from torch import nn

online = nn.Linear(2, 1)
state = torch.randn(4, 2)
goal = (1.0 + 0.9 * online(state)) ** 2
for _ in range(3):
    nn.functional.mse_loss(online(state), goal).backward()
""",
    ),
]

IN_PLACE: list[tuple[str, str]] = [
    (
        "product-of-a-matrix-transposed-into-three-dimensions",
        """\
import torch
import torch.nn.functional as F

x = torch.zeros(7, 4)
y = F.linear(x.t().unsqueeze(2), torch.ones(5, 1, requires_grad=True))
x += 1
y.sum().backward()
""",
    ),
    (
        "product-of-a-transposed-matrix",
        """\
import torch
import torch.nn.functional as F

x = torch.zeros(7, 4)
y = F.linear(x.t(), torch.ones(5, 7, requires_grad=True))
x += 1
y.sum().backward()
""",
    ),
    (
        "product-of-leading-dimensions-that-changed-places",
        """\
import torch

x = torch.zeros(7, 4, 3)
y = x.transpose(0, 1) @ torch.ones(3, 2, requires_grad=True)
x += 1
y.sum().backward()
""",
    ),
    (
        "product-of-a-batch-of-transposed-matrices",
        """\
import torch

x = torch.zeros(2, 3, 4)
y = torch.bmm(x.transpose(1, 2), torch.ones(2, 3, 5, requires_grad=True))
x += 1
y.sum().backward()
""",
    ),
    (
        "product-of-dimensions-in-order",
        """\
import torch
from torch import nn

x = torch.zeros(2, 3, 4)
y = nn.Linear(4, 5)(x)
x += 1
y.sum().backward()
""",
    ),
    (
        "product-by-a-layer-of-dimensions-out-of-order",
        """\
import torch
from torch import nn

x = torch.zeros(2, 3, 4)
y = nn.Linear(3, 5)(x.permute(0, 2, 1))
x += 1
y.sum().backward()
""",
    ),
    (
        "product-of-a-contiguous-copy",
        """\
import torch
import torch.nn.functional as F

x = torch.zeros(2, 3)
y = F.linear(x.t().contiguous(), torch.ones(5, 2, requires_grad=True))
x += 1
y.sum().backward()
""",
    ),
    (
        "lerp-by-a-number-saves-nothing",
        """\
import torch

w = torch.rand(3, requires_grad=True)
mean = torch.zeros(())
new = mean.lerp((w * w).mean(), 0.1)
mean.copy_(new.detach())
((w - new) ** 2).sum().backward()
""",
    ),
    (
        "lerp-by-a-tensor-saves-operands",
        """\
import torch

w = torch.rand(3, requires_grad=True)
mean = torch.zeros(())
new = mean.lerp((w * w).mean(), torch.tensor(0.1, requires_grad=True))
mean.copy_(new.detach())
((w - new) ** 2).sum().backward()
""",
    ),
    (
        "result-of-exp-changed",
        """\
import torch

w = torch.randn(2, requires_grad=True)
y = w.exp()
y.add_(1)
y.sum().backward()
""",
    ),
    (
        "result-of-mul-changed",
        """\
import torch

w = torch.randn(2, requires_grad=True)
y = w * 2
y.add_(1)
y += 1
y.sum().backward()
""",
    ),
    (
        "augmented-assignment-of-a-saved-result",
        """\
import torch

w = torch.randn(2, requires_grad=True)
y = torch.sigmoid(w)
z = y.sum()
y *= 2
(z + y.sum()).backward()
""",
    ),
    (
        "augmented-assignment-makes-a-new-tensor",
        """\
import torch

w = torch.randn(2, requires_grad=True)
y = torch.sigmoid(w)
z = y.sum()
y = y * 2
(z + y.sum()).backward()
""",
    ),
    (
        "relu-in-place-behind-a-linear",
        """\
import torch
import torch.nn.functional as F

layer = torch.nn.Linear(2, 2)
for _ in range(2):
    h = F.relu(layer(torch.randn(4, 2)), inplace=True)
    F.relu_(layer(h)).sum().backward()
""",
    ),
    (
        "relu-in-place-behind-a-sigmoid",
        """\
import torch
import torch.nn.functional as F

layer = torch.nn.Linear(2, 2)
h = torch.sigmoid(layer(torch.randn(4, 2)))
out = F.relu(h, inplace=True)
out.sum().backward()
""",
    ),
    (
        "element-of-a-saved-tensor-assigned",
        """\
import torch

w = torch.randn(3, requires_grad=True)
a = w * 2
b = a * a
a[0] = 0.0
b.sum().backward()
""",
    ),
    (
        "element-of-an-unsaved-tensor-assigned",
        """\
import torch

w = torch.randn(3, requires_grad=True)
a = w * 2
b = a + a
a[0] = 0.0
(a.sum() + b.sum()).backward()
""",
    ),
    (
        "view-of-a-saved-tensor-zeroed",
        """\
import torch

w = torch.randn(3, requires_grad=True)
y = w.exp()
first = y[:1]
first.zero_()
y.sum().backward()
""",
    ),
    (
        "input-changed-after-use",
        """\
import torch

w = torch.randn(3, requires_grad=True)
x = torch.ones(3)
loss = (w * x).sum()
x.mul_(2)
loss.backward()
""",
    ),
    (
        "input-changed-after-use-without-saving",
        """\
import torch

w = torch.randn(3, requires_grad=True)
x = torch.ones(3)
loss = (w + x).sum()
x.mul_(2)
loss.backward()
""",
    ),
    (
        "detached-tensor-shares-its-version",
        """\
import torch

w = torch.randn(3, requires_grad=True)
y = torch.tanh(w)
y.detach().add_(1)
y.sum().backward()
""",
    ),
    (
        "data-has-a-version-of-its-own",
        """\
import torch

w = torch.randn(3, requires_grad=True)
y = torch.tanh(w)
y.data.add_(1)
y.sum().backward()
""",
    ),
    (
        "clone-has-a-version-of-its-own",
        """\
import torch

w = torch.randn(3, requires_grad=True)
y = torch.tanh(w)
z = y.clone()
z.add_(1)
z[0] = 5.0
(y.sum() + z.sum()).backward()
""",
    ),
    (
        "preallocated-states",
        """\
import torch

w = torch.randn(3, 3, requires_grad=True)
states = torch.zeros(4, 3)
for t in range(1, 4):
    states[t] = torch.tanh(states[t - 1] @ w)
states.sum().backward()
""",
    ),
    (
        "preallocated-states-cloned",
        """\
import torch

w = torch.randn(3, 3, requires_grad=True)
states = torch.zeros(4, 3)
for t in range(1, 4):
    states[t] = torch.tanh(states[t - 1].clone() @ w)
states.sum().backward()
""",
    ),
    (
        "weights-changed-under-no-grad-before-backward",
        """\
import torch

w = torch.randn(3, requires_grad=True)
loss = (w ** 2).sum()
with torch.no_grad():
    w.sub_(0.1)
loss.backward()
""",
    ),
    (
        "weights-changed-by-data-before-backward",
        """\
import torch

w = torch.randn(3, requires_grad=True)
loss = (w ** 2).sum()
w.data.sub_(0.1)
w.data -= 0.1
loss.backward()
""",
    ),
    (
        "weights-changed-after-backward",
        """\
import torch

w = torch.randn(3, requires_grad=True)
for _ in range(3):
    loss = (w ** 2).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()
""",
    ),
    (
        "weights-clipped-between-two-losses",
        """\
import torch

critic = torch.nn.Linear(2, 1)
hidden = torch.randn(4, 2, requires_grad=True) * 2
real = critic(hidden).mean()
with torch.no_grad():
    for p in critic.parameters():
        p.clamp_(-0.01, 0.01)
fake = critic(hidden).mean()
(fake - real).backward()
""",
    ),
    (
        "buffer-copied-into-between-uses",
        """\
import torch

w = torch.randn(3, 3, requires_grad=True)
buffer = torch.zeros(3)
total = torch.zeros(())
for _ in range(2):
    out = torch.tanh(buffer @ w)
    total = total + out.sum()
    buffer.copy_(out.detach())
total.backward()
""",
    ),
    (
        "buffer-replaced-between-uses",
        """\
import torch

w = torch.randn(3, 3, requires_grad=True)
buffer = torch.zeros(3)
total = torch.zeros(())
for _ in range(2):
    out = torch.tanh(buffer @ w)
    total = total + out.sum()
    buffer = buffer * 0.5 + out.detach()
total.backward()
""",
    ),
    (
        "out-argument-overwrites-a-saved-input",
        """\
import torch

w = torch.randn(3, requires_grad=True)
x = torch.ones(3)
loss = (w * x).sum()
torch.add(x, 1.0, out=x)
loss.backward()
""",
    ),
    (
        "running-total-in-place",
        """\
import torch

w = torch.randn(3, requires_grad=True)
total = torch.zeros(())
for k in range(3):
    total += (w * k).pow(2).sum()
total.backward()
""",
    ),
    (
        "running-total-in-place-differentiated-in-each-pass",
        """\
import torch

w = torch.randn(3, requires_grad=True)
total = torch.zeros(())
for k in range(3):
    total += (w * k).pow(2).sum()
    total.backward()
""",
    ),
    (
        "mask-filled-in-place",
        """\
import torch

w = torch.randn(3, 3, requires_grad=True)
scores = w @ w
weights = scores.softmax(-1)
scores.masked_fill_(torch.eye(3).bool(), 0.0)
(weights.sum() + scores.sum()).backward()
weights = (w + 1).softmax(-1)
weights.masked_fill_(torch.eye(3).bool(), 0.0)
weights.sum().backward()
""",
    ),
    (
        "state-dict-loaded-before-backward",
        """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
saved = {name: value.clone() for name, value in model.state_dict().items()}
loss = model(torch.randn(4, 2)).mean()
model.load_state_dict(saved)
loss.backward()
""",
    ),
    (
        "state-dict-loaded-after-backward",
        """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
for _ in range(2):
    saved = {name: value.clone() for name, value in model.state_dict().items()}
    loss = model(torch.randn(4, 2)).mean()
    loss.backward()
    model.load_state_dict(saved)
""",
    ),
    (
        "weights-initialised-before-backward",
        """\
import torch
from torch import nn

first, second = nn.Linear(2, 2), nn.Linear(2, 1)
loss = second(first(torch.randn(4, 2))).mean()
nn.init.normal_(second.weight)
loss.backward()
""",
    ),
    (
        "weights-initialised-before-forward",
        """\
import torch
from torch import nn

first, second = nn.Linear(2, 2), nn.Linear(2, 1)
for layer in (first, second):
    nn.init.normal_(layer.weight)
    nn.init.constant_(layer.bias, 0.0)
loss = second(first(torch.randn(4, 2))).mean()
loss.backward()
""",
    ),
    (
        "averaged-weights-updated-in-place",
        """\
import copy

import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
average = copy.deepcopy(model).requires_grad_(False)
for _ in range(2):
    loss = (model(torch.randn(4, 2)) - average(torch.randn(4, 2))).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        for p, q in zip(model.parameters(), average.parameters()):
            q.mul_(0.9).add_(p, alpha=0.1)
""",
    ),
    (
        "averaged-weights-updated-before-backward",
        """\
import copy

import torch
from torch import nn

model = nn.Linear(2, 2)
average = copy.deepcopy(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))).requires_grad_(False)
loss = average(model(torch.randn(4, 2))).mean()
with torch.no_grad():
    for q in average.parameters():
        q.mul_(0.9)
loss.backward()
""",
    ),
    (
        "relu-module-in-place-behind-a-tanh",
        """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.ReLU(inplace=True))
model(torch.randn(4, 2)).sum().backward()
""",
    ),
    (
        "relu-module-in-place-behind-a-linear",
        """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True), nn.Linear(2, 1))
for _ in range(2):
    model(torch.randn(4, 2)).sum().backward()
""",
    ),
    (
        "residual-added-in-place",
        """\
import torch
from torch import nn

layer = nn.Linear(2, 2)
x = layer(torch.randn(4, 2))
y = torch.relu(x)
y += x
y.sum().backward()
""",
    ),
    (
        "residual-added-in-place-to-a-linear",
        """\
import torch
from torch import nn

layer, other = nn.Linear(2, 2), nn.Linear(2, 2)
x = torch.relu(layer(torch.randn(4, 2)))
y = other(x)
y += x
y.sum().backward()
""",
    ),
    (
        "row-of-a-saved-tensor-scaled",
        """\
import torch

w = torch.randn(3, 2, requires_grad=True)
y = w.sigmoid()
y[0].mul_(2.0)
y.sum().backward()
""",
    ),
    (
        "column-of-an-unsaved-tensor-scaled",
        """\
import torch

w = torch.randn(3, 2, requires_grad=True)
y = w + 1
y[:, 0] *= 2.0
y[1] += 1.0
y.sum().backward()
""",
    ),
    (
        "base-changed-after-a-view-was-saved",
        """\
import torch

w = torch.randn(4, requires_grad=True)
y = w + 0
square = y.view(2, 2) ** 2
y.add_(1)
square.sum().backward()
""",
    ),
    (
        "alias-changed",
        """\
import torch

w = torch.randn(4, requires_grad=True)
a = b = w.exp()
b *= 2
a.sum().backward()
""",
    ),
    (
        "alias-is-rebound",
        """\
import torch

w = torch.randn(4, requires_grad=True)
a = b = w.exp()
b = b * 2
(a.sum() + b.sum()).backward()
""",
    ),
    (
        "attribute-accumulates-in-place",
        """\
import torch


class Meter:
    def __init__(self):
        self.total = torch.zeros(())

    def add(self, loss):
        self.total += loss
        return self.total


w = torch.randn(2, requires_grad=True)
meter = Meter()
for k in range(2):
    meter.add((w * k).pow(2).sum())
meter.total.backward()
meter.add((w * 3).sum()).backward()
""",
    ),
    (
        "saved-number-times-tensor-changed",
        """\
import torch

w = torch.randn(2, requires_grad=True)
scale = torch.tensor(2.0)
loss = (w * scale).sum()
scale.fill_(3.0)
loss.backward()
""",
    ),
    (
        "gradient-changed-in-place",
        """\
import torch

w = torch.randn(2, requires_grad=True)
for _ in range(2):
    loss = (w * 2).sum()
    loss.backward()
    w.grad.mul_(0.5)
    w.grad.data.clamp_(-1, 1)
    w.grad.zero_()
""",
    ),
    (
        "noise-added-to-weights-by-data",
        """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
loss = model(torch.randn(4, 2)).mean()
for p in model.parameters():
    p.data.add_(torch.randn_like(p.data))
loss.backward()
""",
    ),
    (
        "index-put-after-softmax",
        """\
import torch

w = torch.randn(3, requires_grad=True)
p = w.softmax(0)
p[torch.tensor([0, 1])] = 0.0
p.sum().backward()
""",
    ),
    (
        "where-instead-of-index-put",
        """\
import torch

w = torch.randn(3, requires_grad=True)
p = w.softmax(0)
p = torch.where(p > 0.3, p, torch.zeros(()))
p = p.masked_fill(p < 0.1, 0.0)
p.sum().backward()
""",
    ),
    (
        "dropout-in-place-behind-a-linear",
        """\
import torch
import torch.nn.functional as F

layer = torch.nn.Linear(2, 2)
x = torch.randn(4, 2)
h = F.dropout(layer(x), p=0.5, training=True, inplace=True)
h.sum().backward()
x += 1
""",
    ),
    (
        "batch-changed-before-backward",
        """\
import torch

layer = torch.nn.Linear(2, 2)
x = torch.randn(4, 2)
loss = layer(x).sum()
x += 1
loss.backward()
""",
    ),
    (
        "loss-scaled-in-place-after-backward",
        """\
import torch

w = torch.randn(2, requires_grad=True)
total = 0.0
for k in range(3):
    loss = (w ** 2).mean()
    loss.backward()
    loss *= 4
    total += loss.item()
print(total)
""",
    ),
    (
        "loss-scaled-in-place-before-backward",
        """\
import torch

w = torch.randn(2, requires_grad=True)
for k in range(2):
    loss = (w ** 2).mean()
    loss /= 2
    loss.backward()
loss = w.norm()
loss *= 2
loss.backward()
""",
    ),
]

MODULES: list[tuple[str, str]] = [
    (
        "plain-training",
        """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, hidden=4):
        super().__init__()
        self.fc1 = nn.Linear(2, hidden)
        self.fc2 = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(torch.randn(8, 2)), torch.zeros(8, 1))
    loss.backward()
    optimizer.step()
""",
    ),
    (
        "forward-outside-the-loop",
        """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
out = net(torch.randn(8, 2))
for epoch in range(3):
    optimizer.zero_grad()
    loss = nn.MSELoss()(out, torch.zeros(8, 1))
    loss.backward()
    optimizer.step()
""",
    ),
    (
        "retained-forward-outside-the-loop",
        """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
out = net(torch.randn(8, 2))
for epoch in range(3):
    optimizer.zero_grad()
    loss = nn.MSELoss()(out, torch.zeros(8, 1))
    loss.backward(retain_graph=True)
    optimizer.step()
""",
    ),
    (
        "retained-single-linear-needs-no-weight",
        """\
import torch
from torch import nn

net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
out = net(torch.randn(8, 2))
for epoch in range(3):
    loss = nn.functional.l1_loss(out, torch.zeros(8, 1))
    loss.backward(retain_graph=True)
    optimizer.step()
""",
    ),
    (
        "recurrent-state-retained-and-stepped",
        """\
import torch
from torch import nn

rnn, head = nn.GRU(2, 3), nn.Linear(3, 1)
optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()])
h = torch.zeros(1, 4, 3)
for _ in range(3):
    optimizer.zero_grad()
    out, h = rnn(torch.randn(5, 4, 2), h)
    loss = head(out).mean()
    loss.backward(retain_graph=True)
    optimizer.step()
""",
    ),
    (
        "recurrent-state-detached-and-stepped",
        """\
import torch
from torch import nn

rnn, head = nn.GRU(2, 3), nn.Linear(3, 1)
optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()])
h = torch.zeros(1, 4, 3)
for _ in range(3):
    optimizer.zero_grad()
    out, h = rnn(torch.randn(5, 4, 2), h.detach())
    loss = head(out).mean()
    loss.backward()
    optimizer.step()
""",
    ),
    (
        "state-kept-in-a-module",
        """\
import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(2, 3)
        self.h = None

    def forward(self, x):
        self.h = self.cell(x, self.h)
        return self.h


model = Cell()
for _ in range(2):
    model(torch.randn(4, 2)).sum().backward()
""",
    ),
    (
        "state-kept-in-a-module-with-reset",
        """\
import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(2, 3)
        self.h = None

    def reset(self):
        self.h = None

    def forward(self, x):
        self.h = self.cell(x, self.h)
        return self.h


model = Cell()
for _ in range(3):
    model.reset()
    model(torch.randn(4, 2))
    model(torch.randn(4, 2)).sum().backward()
""",
    ),
    (
        "state-in-a-buffer",
        """\
import torch
from torch import nn


class Running(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.register_buffer("mean", torch.zeros(2))

    def forward(self, x):
        y = self.fc(x)
        self.mean = 0.9 * self.mean + 0.1 * y.mean(0)
        return y - self.mean


model = Running()
for _ in range(2):
    model(torch.randn(4, 2)).pow(2).sum().backward()
""",
    ),
    (
        "state-in-a-buffer-detached",
        """\
import torch
from torch import nn


class Running(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.register_buffer("mean", torch.zeros(2))

    def forward(self, x):
        y = self.fc(x)
        if self.training:
            self.mean = 0.9 * self.mean + 0.1 * y.mean(0).detach()
        return y - self.mean


model = Running().train()
for _ in range(3):
    model(torch.randn(4, 2)).pow(2).sum().backward()
""",
    ),
    (
        "module-list-and-dict",
        """\
import torch
from torch import nn


class Multi(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(2)])
        self.heads = nn.ModuleDict({task: nn.Linear(2, 1) for task in tasks})

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return {task: head(x) for task, head in self.heads.items()}


model = Multi(["depth", "edges"])
outputs = model(torch.randn(4, 2))
sum(out.mean() for out in outputs.values()).backward()
outputs = model(torch.randn(4, 2))
for task in outputs:
    outputs[task].mean().backward()
""",
    ),
    (
        "sequential-of-submodules",
        """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(size, size), nn.LayerNorm(size), nn.GELU())

    def forward(self, x):
        return x + self.body(x)


model = nn.Sequential(*[Block(2) for _ in range(2)], nn.Dropout(0.1), nn.Linear(2, 1))
model.train()
for _ in range(3):
    model(torch.randn(4, 2)).mean().backward()
model[0](torch.randn(4, 2)).mean().backward()
loss = model[:2](torch.randn(4, 2)).mean()
loss.backward()
loss.backward()
""",
    ),
    (
        "module-subclass-calls-super-forward",
        """\
import torch
from torch import nn


class Noisy(nn.Linear):
    def __init__(self, size):
        super().__init__(size, size)
        self.last = None

    def forward(self, x):
        self.last = super().forward(x).tanh()
        return self.last


model = Noisy(2)
loss = model(torch.randn(4, 2)).sum()
loss.backward()
model(torch.randn(4, 2))
model.last.mean().backward()
model.last.mean().backward()
""",
    ),
    (
        "module-with-a-call-of-its-own",
        """\
import torch
from torch import nn


class Counted(nn.Module):
    calls = 0

    def __call__(self, x):
        self.calls += 1
        return super().__call__(x)


class Squared(Counted):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))
        self.square = self.scale ** 2

    def forward(self, x):
        return x * self.square


model = Squared()
for _ in range(2):
    loss = model(torch.randn(4, 2)).sum()
    loss.backward()
""",
    ),
    (
        "module-called-by-the-name-of-its-base",
        """\
import torch
from torch import nn


class Shifted(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = nn.Parameter(torch.ones(2))
        self.moved = self.shift.exp()

    def __call__(self, *inputs):
        return nn.Module.__call__(self, *inputs)

    def forward(self, x):
        return x + self.moved


model = Shifted()
for _ in range(2):
    loss = model.__call__(torch.randn(4, 2)).sum()
    loss.backward()
""",
    ),
    (
        "two-losses-of-one-forward",
        """\
import torch
from torch import nn

trunk, policy, value = nn.Linear(2, 4), nn.Linear(4, 2), nn.Linear(4, 1)
features = torch.tanh(trunk(torch.randn(3, 2)))
policy_loss = policy(features).log_softmax(-1).mean()
value_loss = value(features).pow(2).mean()
policy_loss.backward()
value_loss.backward()
""",
    ),
    (
        "two-losses-of-one-forward-retained",
        """\
import torch
from torch import nn

trunk, policy, value = nn.Linear(2, 4), nn.Linear(4, 2), nn.Linear(4, 1)
for _ in range(2):
    features = torch.tanh(trunk(torch.randn(3, 2)))
    policy_loss = policy(features).log_softmax(-1).mean()
    value_loss = value(features).pow(2).mean()
    policy_loss.backward(retain_graph=True)
    value_loss.backward()
""",
    ),
    (
        "two-losses-of-two-networks",
        """\
import torch
from torch import nn

actor, critic = nn.Linear(2, 2), nn.Linear(2, 1)
x = torch.randn(3, 2)
for _ in range(3):
    actor_loss = actor(x).log_softmax(-1).mean()
    critic_loss = critic(x).pow(2).mean()
    actor_loss.backward()
    critic_loss.backward()
""",
    ),
    (
        "regulariser-made-in-the-constructor",
        """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)
        self.penalty = sum(p.pow(2).sum() for p in self.parameters())

    def forward(self, x):
        return self.fc(x).mean() + 0.01 * self.penalty


model = Model()
for _ in range(2):
    model(torch.randn(4, 2)).backward()
""",
    ),
    (
        "regulariser-made-in-each-forward",
        """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)

    def penalty(self):
        return sum(p.pow(2).sum() for name, p in self.named_parameters() if "bias" not in name)

    def forward(self, x):
        return self.fc(x).mean() + 0.01 * self.penalty()


model = Model()
for _ in range(3):
    model(torch.randn(4, 2)).backward()
""",
    ),
    (
        "forward-hook-collects-activations",
        """\
import torch
from torch import nn

captured = []
model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
model[1].register_forward_hook(lambda module, args, output: captured.append(output))
for _ in range(2):
    loss = model(torch.randn(4, 2)).mean() + sum(a.pow(2).mean() for a in captured)
    loss.backward()
""",
    ),
    (
        "forward-hook-collects-activations-cleared",
        """\
import torch
from torch import nn

captured = []
model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))


def keep(module, args, output):
    captured.append(output)


handle = model[1].register_forward_hook(keep)
for _ in range(3):
    captured.clear()
    loss = model(torch.randn(4, 2)).mean() + sum(a.pow(2).mean() for a in captured)
    loss.backward()
handle.remove()
""",
    ),
    (
        "forward-hook-replaces-the-output",
        """\
import torch
from torch import nn

encoder, head = nn.Linear(2, 3), nn.Linear(3, 1)
encoder.register_forward_hook(lambda module, args, output: output.detach())
features = torch.tanh(encoder(torch.randn(4, 2)))
for _ in range(3):
    head(features).mean().backward()
""",
    ),
    (
        "tensor-hook-scales-the-gradient",
        """\
import torch
from torch import nn

layer = nn.Linear(2, 2)
h = layer(torch.randn(4, 2)).tanh()
h.register_hook(lambda grad: grad * 0.5)
h.retain_grad()
h.sum().backward()
print(h.grad.norm().item())
h.mean().backward()
""",
    ),
    (
        "batch-norm-in-training",
        """\
import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(inplace=True), nn.Flatten(), nn.LazyLinear(1))
for _ in range(2):
    first, second = model(torch.randn(2, 1, 5, 5)), model(torch.randn(2, 1, 5, 5))
    (first - second).pow(2).mean().backward()
""",
    ),
    (
        "embedding-and-cross-entropy",
        """\
import torch
from torch import nn

embedding, head = nn.Embedding(10, 4), nn.Linear(4, 10)
criterion = nn.CrossEntropyLoss()
tokens = torch.randint(0, 10, (3, 5))
embedded = embedding(tokens)
for t in range(4):
    loss = criterion(head(embedded[:, t]), tokens[:, t + 1])
    loss.backward()
""",
    ),
    (
        "embedding-looked-up-in-each-pass",
        """\
import torch
from torch import nn

embedding, head = nn.Embedding(10, 4), nn.Linear(4, 10)
criterion = nn.CrossEntropyLoss()
tokens = torch.randint(0, 10, (3, 5))
for t in range(4):
    loss = criterion(head(embedding(tokens[:, t])), tokens[:, t + 1])
    loss.backward()
""",
    ),
    (
        "attention",
        """\
import torch
from torch import nn

attention = nn.MultiheadAttention(4, 2, batch_first=True)
x = torch.randn(2, 3, 4)
for _ in range(2):
    out, weights = attention(x, x, x)
    (out.mean() + weights.mean()).backward()
out, weights = attention(x, x, x)
out.mean().backward()
weights.mean().backward()
""",
    ),
    (
        "parameter-of-ones-own",
        """\
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))
        self.shifts = nn.ParameterList([nn.Parameter(torch.zeros(2)) for _ in range(2)])
        self.register_parameter("gain", nn.Parameter(torch.ones(())))

    def forward(self, x):
        for shift in self.shifts:
            x = (x + shift) * self.scale
        return x * self.gain


model = Scale()
x = model(torch.ones(2))
x.sum().backward()
model(x.detach()).sum().backward()
model(x).sum().backward()
""",
    ),
    (
        "shared-weights-are-no-shared-graph",
        """\
import torch
from torch import nn

encoder = nn.Linear(2, 3)
decoder = nn.Linear(3, 2)
decoder.weight = nn.Parameter(encoder.weight.t().detach().clone())
siamese = [encoder, encoder]
for _ in range(2):
    a, b = (net(torch.randn(4, 2)) for net in siamese)
    (a - b).pow(2).mean().backward()
    decoder(a.detach()).mean().backward()
""",
    ),
    (
        "apply-and-named-modules",
        """\
import torch
from torch import nn


def initialise(module):
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)
        nn.init.xavier_uniform_(module.weight)


model = nn.Sequential(nn.Linear(2, 2), nn.Sigmoid(), nn.Linear(2, 1))
model.apply(initialise)
out = model(torch.randn(4, 2))
for name, module in model.named_modules():
    if isinstance(module, nn.Sigmoid):
        continue
    out.mean().backward()
""",
    ),
    (
        "variational-autoencoder",
        """\
import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(4, 4), nn.Linear(2, 4)

    def forward(self, x):
        mean, log_variance = self.encoder(x).chunk(2, dim=-1)
        z = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decoder(z), mean, log_variance


model = VAE()
x = torch.rand(3, 4)
recon, mean, log_variance = model(x)
reconstruction = nn.functional.mse_loss(recon, x)
divergence = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum()
reconstruction.backward()
divergence.backward()
""",
    ),
    (
        "variational-autoencoder-summed",
        """\
import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(4, 4), nn.Linear(2, 4)

    def forward(self, x):
        mean, log_variance = self.encoder(x).chunk(2, dim=-1)
        z = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decoder(z), mean, log_variance


model = VAE()
x = torch.rand(3, 4)
for _ in range(2):
    recon, mean, log_variance = model(x)
    reconstruction = nn.functional.mse_loss(recon, x)
    divergence = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum()
    (reconstruction + 0.1 * divergence).backward()
""",
    ),
    (
        "layers-by-their-names",
        """\
import torch

net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
x = torch.randn(4, 3)
kept = {}
for name, layer in net._modules.items():
    x = layer(x)
    kept[name] = x
kept["1"].sum().backward()
kept["2"].sum().backward()
""",
    ),
    (
        "layer-replaced-by-its-name",
        """\
import torch


class Cut(torch.nn.Module):
    def forward(self, x):
        return x.detach()


net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
head = torch.nn.Linear(1, 1)
net._modules["2"] = Cut()
h = net(torch.randn(4, 3)).sum(1, keepdim=True)
for layer in (head, head):
    loss = head(h).pow(2).sum()
    loss.backward()
""",
    ),
]

OPTIMIZERS: list[tuple[str, str]] = [
    (
        "zero-grad-rebuilds-nothing",
        """\
import torch

w = torch.randn(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
loss = (w * 3).sum()
for _ in range(2):
    optimizer.zero_grad()
    loss.backward()
""",
    ),
    (
        "gradients-accumulate-over-passes",
        """\
import torch

w = torch.randn(2, requires_grad=True)
optimizer = torch.optim.AdamW([{"params": [w], "lr": 0.1}])
for step in range(4):
    loss = (w * step).pow(2).sum() / 2
    loss.backward()
    if step % 2 == 1:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
""",
    ),
    (
        "step-between-two-losses-of-one-trunk",
        """\
import torch
from torch import nn

trunk, a, b = nn.Linear(2, 3), nn.Linear(3, 1), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*trunk.parameters(), *a.parameters(), *b.parameters()], lr=0.1)
x = torch.randn(4, 2, requires_grad=True)
h = torch.tanh(trunk(x))
loss_a, loss_b = a(h).mean(), b(h).mean()
loss_a.backward(retain_graph=True)
optimizer.step()
loss_b.backward()
""",
    ),
    (
        "step-behind-two-losses-of-one-trunk",
        """\
import torch
from torch import nn

trunk, a, b = nn.Linear(2, 3), nn.Linear(3, 1), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*trunk.parameters(), *a.parameters(), *b.parameters()], lr=0.1)
for _ in range(2):
    h = torch.tanh(trunk(torch.randn(4, 2)))
    loss_a, loss_b = a(h).mean(), b(h).mean()
    loss_a.backward(retain_graph=True)
    loss_b.backward()
    optimizer.step()
    optimizer.zero_grad()
""",
    ),
    (
        "discriminator-steps-before-the-generator-loss",
        """\
import torch
from torch import nn

generator = nn.Linear(2, 2)
discriminator = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
opt_g = torch.optim.Adam(generator.parameters())
opt_d = torch.optim.Adam(discriminator.parameters())
fake = generator(torch.randn(4, 2))
score = discriminator(fake)
loss_d, loss_g = score.mean(), -score.mean()
loss_d.backward(retain_graph=True)
opt_d.step()
loss_g.backward()
opt_g.step()
""",
    ),
    (
        "discriminator-steps-and-scores-again",
        """\
import torch
from torch import nn

generator = nn.Linear(2, 2)
discriminator = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
opt_g = torch.optim.Adam(generator.parameters())
opt_d = torch.optim.Adam(discriminator.parameters())
for _ in range(2):
    fake = generator(torch.randn(4, 2))
    loss_d = discriminator(fake.detach()).mean()
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    loss_g = -discriminator(fake).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
""",
    ),
    (
        "stepped-bias-is-not-saved",
        """\
import torch

x = torch.randn(3)
b = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.SGD([b], lr=0.1)
y = x + b
first, second = y.sum(), (y * x).sum()
first.backward()
optimizer.step()
second.backward()
""",
    ),
    (
        "step-of-the-other-network",
        """\
import torch
from torch import nn

encoder, decoder = nn.Linear(2, 2), nn.Linear(2, 1)
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
h = encoder(torch.randn(4, 2)).tanh()
h.mean().backward(retain_graph=True)
optimizer.step()
decoder(h).mean().backward()
""",
    ),
    (
        "closure-is-differentiated-by-the-step",
        """\
import torch

w = torch.randn(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)


def closure():
    optimizer.zero_grad()
    loss = (w ** 2).sum()
    loss.backward()
    return loss


for _ in range(3):
    loss = optimizer.step(closure)
    print(float(loss.detach()))
""",
    ),
    (
        "closure-uses-a-graph-from-outside",
        """\
import torch

w = torch.randn(2, requires_grad=True)
optimizer = torch.optim.Adam([w], lr=0.1)
prior = (w + 1).log_softmax(0)


def closure():
    optimizer.zero_grad()
    loss = (w ** 2).sum() + prior.sum()
    loss.backward()
    return loss


optimizer.step(closure)
optimizer.step(closure)
""",
    ),
    (
        "lbfgs",
        """\
import torch

w = torch.randn(2, requires_grad=True)
optimizer = torch.optim.LBFGS([w], lr=0.5, max_iter=4)


def closure():
    optimizer.zero_grad()
    loss = (w ** 4).sum() + (w * w).sum()
    loss.backward()
    return loss


for _ in range(2):
    optimizer.step(closure)
""",
    ),
    (
        "lbfgs-with-a-graph-from-outside",
        """\
import torch

w = torch.full((2,), 2.0, requires_grad=True)
v = torch.full((2,), 2.0, requires_grad=True)
optimizer = torch.optim.LBFGS([w], lr=0.5, max_iter=4)
prior = (v ** 2).sum()


def closure():
    optimizer.zero_grad()
    loss = (w ** 4).sum() + prior
    loss.backward()
    return loss


optimizer.step(closure)
""",
    ),
    (
        "optimised-image",
        """\
import torch
from torch import nn

network = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU())
network.requires_grad_(False)
content = torch.rand(1, 1, 5, 5)
target = network(content)
image = content.clone().requires_grad_(True)
optimizer = torch.optim.LBFGS([image], max_iter=3)


def closure():
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(network(image), target)
    loss.backward()
    return loss


for _ in range(2):
    optimizer.step(closure)
""",
    ),
    (
        "optimised-image-with-a-trained-target",
        """\
import torch
from torch import nn

network = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU())
content = torch.rand(1, 1, 5, 5)
target = network(content)
image = content.clone().requires_grad_(True)
optimizer = torch.optim.Adam([image])
for _ in range(2):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(network(image), target)
    loss.backward()
    optimizer.step()
""",
    ),
    (
        "scheduler-and-clipping",
        """\
import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)
for _ in range(3):
    loss = model(torch.randn(4, 2)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    for group in optimizer.param_groups:
        print(group["lr"])
""",
    ),
    (
        "parameter-group-added-later",
        """\
import torch

v = torch.randn(2, requires_grad=True)
w = torch.randn(2, requires_grad=True)
optimizer = torch.optim.SGD([v], lr=0.1)
loss = (v * w).sum()
other = (w ** 3).sum()
loss.backward()
optimizer.add_param_group({"params": [w]})
optimizer.step()
other.backward()
""",
    ),
    (
        "scaler-and-autocast",
        """\
import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", enabled=False)
for _ in range(3):
    optimizer.zero_grad()
    with torch.autocast("cpu", enabled=False):
        loss = model(torch.randn(4, 2)).pow(2).mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
""",
    ),
    (
        "scaler-differentiates-twice",
        """\
import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", enabled=False)
h = model(torch.randn(4, 2)).tanh()
scaler.scale(h.mean()).backward()
scaler.step(optimizer)
scaler.scale(h.pow(2).mean()).backward()
""",
    ),
    (
        "own-gradient-descent",
        """\
import torch

w = torch.randn(2, requires_grad=True)
for _ in range(3):
    loss = (w ** 2).sum()
    loss.backward()
    w.data = w.data - 0.1 * w.grad
    w.grad = None
""",
    ),
    (
        "own-gradient-descent-rebinds-the-leaf",
        """\
import torch

w = torch.randn(2, requires_grad=True)
for _ in range(2):
    loss = (w ** 2).sum()
    (gradient,) = torch.autograd.grad(loss, [w])
    w = w * 0.9 - 0.1 * gradient
loss = w.sum()
loss.backward()
print(w.is_leaf)
loss.backward()
""",
    ),
    (
        "own-gradient-descent-with-a-new-leaf",
        """\
import torch

w = torch.randn(2, requires_grad=True)
for _ in range(3):
    loss = (w ** 2).sum()
    loss.backward()
    w = (w - 0.1 * w.grad).detach().requires_grad_()
""",
    ),
    (
        "own-gradient-descent-carried",
        """\
import torch

v = torch.randn(2, requires_grad=True)
w = v * 1.0
for _ in range(2):
    w.retain_grad()
    loss = (w ** 2).sum()
    loss.backward()
    w = w * 0.9 - 0.1 * w.grad
""",
    ),
    (
        "own-optimizer-class",
        """\
import torch


class Descent:
    def __init__(self, parameters, lr=0.1):
        self.parameters, self.lr = list(parameters), lr

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None

    @torch.no_grad()
    def step(self):
        for p in self.parameters:
            p -= self.lr * p.grad


model = torch.nn.Linear(2, 1)
optimizer = Descent(model.parameters())
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(4, 2)).pow(2).mean().backward()
    optimizer.step()
""",
    ),
    (
        "lbfgs-with-an-object-that-is-called",
        """\
import torch

w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.LBFGS([w], lr=0.1)


class Step:
    def __init__(self):
        self.penalty = (w * w).sum()

    def __call__(self):
        optimizer.zero_grad()
        loss = (w.exp() * w).sum() + self.penalty
        loss.backward()
        return loss


optimizer.step(Step())
""",
    ),
    (
        "step-with-a-partial-of-an-object",
        """\
import torch
from functools import partial

w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)


class Base:
    def __call__(self, x):
        loss = (w.exp() * x).sum()
        loss.backward()
        self.loss = loss
        return loss


class Step(Base):
    pass


step = Step()
optimizer.step(partial(step, torch.ones(3)))
step.loss.backward()
""",
    ),
    (
        "hook-that-is-a-partial",
        """\
import torch
from functools import partial

w = torch.ones(3, requires_grad=True)
kept = []


def keep(name, loss, gradient):
    kept.append(loss)


for _ in range(2):
    y = w * w
    loss = y.exp().sum()
    y.register_hook(partial(keep, "y", loss))
    loss.backward()
kept[0].backward()
""",
    ),
    (
        "hook-that-is-an-object",
        """\
import torch

w = torch.ones(3, requires_grad=True)


class Kept:
    def __init__(self):
        self.losses = []

    def __call__(self, gradient):
        self.losses.append(loss)
        return gradient * 2


kept = Kept()
y = w.exp()
y.register_hook(kept)
loss = y.sum()
loss.backward()
kept.losses[0].backward()
""",
    ),
]

AUTOGRAD: list[tuple[str, str]] = [
    (
        "gradient-penalty",
        """\
import torch
from torch import nn

critic = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
for _ in range(2):
    x = torch.randn(4, 2, requires_grad=True)
    out = critic(x)
    (g,) = torch.autograd.grad(out.sum(), x, create_graph=True)
    penalty = (g.norm(dim=1) - 1).pow(2).mean()
    (out.mean() + penalty).backward()
""",
    ),
    (
        "gradient-without-create-graph-frees",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = (w ** 3).sum()
g = torch.autograd.grad(loss, w)[0]
print(g.norm())
loss.backward()
""",
    ),
    (
        "gradient-twice-retained",
        """\
import torch

a = torch.randn(2, requires_grad=True)
b = torch.randn(2, requires_grad=True)
loss = (a * b).sum()
(ga,) = torch.autograd.grad(loss, a, retain_graph=True)
(gb,) = torch.autograd.grad(outputs=loss, inputs=[b])
print((ga + gb).sum())
""",
    ),
    (
        "gradient-twice-freed",
        """\
import torch

a = torch.randn(2, requires_grad=True)
b = torch.randn(2, requires_grad=True)
loss = (a * b).sum()
(ga,) = torch.autograd.grad(loss, a)
(gb,) = torch.autograd.grad(loss, b)
""",
    ),
    (
        "backward-for-inputs-on-two-branches",
        """\
import torch

a = torch.randn(2, requires_grad=True)
b = torch.randn(2, requires_grad=True)
loss = a.exp().sum() + b.exp().sum()
loss.backward(inputs=[a])
loss.backward(inputs=[b])
""",
    ),
    (
        "backward-for-inputs-on-a-shared-branch",
        """\
import torch

a = torch.randn(2, requires_grad=True)
b = torch.randn(2, requires_grad=True)
loss = (a.exp() + b.exp()).pow(2).sum()
loss.backward(inputs=[a])
loss.backward(inputs=[b])
""",
    ),
    (
        "backward-of-several-losses-at-once",
        """\
import torch

w = torch.randn(2, requires_grad=True)
trunk = w.exp()
torch.autograd.backward([trunk.sum(), (trunk * 2).sum()])
trunk = w.exp()
torch.autograd.backward((trunk, trunk * 2), grad_tensors=(torch.ones(2), torch.ones(2)))
torch.autograd.backward(trunk.sum())
""",
    ),
    (
        "backward-of-several-losses-retained",
        """\
import torch
from torch.autograd import backward

w = torch.randn(2, requires_grad=True)
trunk = w.exp()
losses = [trunk.sum(), (trunk * 2).sum()]
backward(losses, retain_graph=True)
backward(losses)
""",
    ),
    (
        "backward-with-a-gradient",
        """\
import torch

w = torch.randn(2, requires_grad=True)
y = w.exp()
y.backward(torch.ones(2), retain_graph=True)
y.backward(gradient=torch.ones_like(y))
y.backward(torch.ones(2))
""",
    ),
    (
        "retained-by-position",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
loss.backward(None, True)
loss.backward(None, False)
loss.backward()
""",
    ),
    (
        "create-graph-implies-retain",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = (w ** 3).sum()
g = torch.autograd.grad(loss, w, create_graph=True)[0]
g.sum().backward()
loss = (w ** 3).sum()
g = torch.autograd.grad(loss, w, create_graph=True, retain_graph=False)[0]
loss.backward()
""",
    ),
    (
        "hessian-row-by-row",
        """\
import torch

w = torch.randn(3, requires_grad=True)
loss = (w ** 3).sum() * w.prod()
(g,) = torch.autograd.grad(loss, w, create_graph=True)
rows = []
for i in range(3):
    rows.append(torch.autograd.grad(g[i], w, retain_graph=True)[0])
hessian = torch.stack(rows)
print(hessian.shape)
""",
    ),
    (
        "hessian-row-by-row-freed",
        """\
import torch

w = torch.randn(3, requires_grad=True)
loss = (w ** 3).sum() * w.prod()
(g,) = torch.autograd.grad(loss, w, create_graph=True)
rows = [torch.autograd.grad(g[i], w)[0] for i in range(3)]
""",
    ),
    (
        "inner-loop-of-meta-learning",
        """\
import torch

w = torch.randn(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for task in range(2):
    fast = w
    for _ in range(2):
        loss = (fast ** 2).sum()
        (g,) = torch.autograd.grad(loss, fast, create_graph=True)
        fast = fast - 0.1 * g
    optimizer.zero_grad()
    (fast ** 2).sum().backward()
    optimizer.step()
""",
    ),
    (
        "inner-loop-keeps-its-fast-weights",
        """\
import torch

w = torch.randn(2, requires_grad=True)
fast = w
for task in range(2):
    loss = (fast ** 2).sum()
    (g,) = torch.autograd.grad(loss, fast, create_graph=True)
    fast = fast - 0.1 * g
    (fast ** 2).sum().backward()
""",
    ),
    (
        "functional-call-with-fast-weights",
        """\
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
""",
    ),
    (
        "functional-call-twice-with-the-same-fast-weights",
        """\
import torch
from torch import nn

model = nn.Linear(2, 1)
fast = {name: p * 0.9 for name, p in model.named_parameters()}
for _ in range(2):
    torch.func.functional_call(model, fast, torch.randn(4, 2)).pow(2).mean().backward()
""",
    ),
    (
        "own-function-saves-its-input",
        """\
import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad


w = torch.randn(2, requires_grad=True)
for _ in range(2):
    Square.apply(w).sum().backward()
loss = Square.apply(w).sum()
loss.backward()
loss.backward()
""",
    ),
    (
        "own-function-keeps-it-on-the-context",
        """\
import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x.detach()
        return x ** 2

    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.x * grad


w = torch.randn(2, requires_grad=True)
loss = Square.apply(w).sum()
loss.backward()
loss.backward()
""",
    ),
    (
        "own-function-reverses-the-gradient",
        """\
import torch
from torch.autograd import Function


class Reverse(Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.scale * grad, None


w = torch.randn(2, requires_grad=True)
reverse = Reverse.apply
h = reverse(w, 0.5)
h.sum().backward()
h.sum().backward()
(h * 2).exp().sum().backward()
""",
    ),
    (
        "checkpoint-in-a-loop",
        """\
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

layer = nn.Linear(2, 2)
for _ in range(2):
    h = checkpoint(layer, torch.randn(4, 2), use_reentrant=False)
    checkpoint(lambda x: layer(x).tanh(), h, use_reentrant=False).sum().backward()
""",
    ),
    (
        "checkpoint-walked-twice",
        """\
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

layer = nn.Linear(2, 2)
h = checkpoint(layer, torch.randn(4, 2), use_reentrant=False).tanh()
h.sum().backward()
h.mean().backward()
""",
    ),
    (
        "sum-of-a-leaf-walked-twice",
        """\
import torch

w = torch.randn(2, 3, requires_grad=True)
y = torch.cat([w.t().reshape(-1), w.view(6)]).mean() - w.sum()
y.backward()
y.backward()
y = y + w.index_select(0, torch.tensor([0])).sum()
y.backward()
""",
    ),
    (
        "reciprocal-and-power-save",
        """\
import torch

w = torch.rand(2, requires_grad=True) + 1
a = (1 / w).sum()
b = (2 ** w).sum()
a.backward()
b.backward()
a.backward()
""",
    ),
    (
        "division-by-a-number-saves",
        """\
import torch

w = torch.rand(2, requires_grad=True)
loss = (w + 1).mean()
scaled = loss / 4
loss.backward()
scaled.backward()
loss.backward()
scaled.backward()
""",
    ),
    (
        "anomaly-detection",
        """\
import torch

w = torch.randn(2, requires_grad=True)
with torch.autograd.set_detect_anomaly(True):
    loss = (w ** 2).sum()
    loss.backward()
    loss.backward()
""",
    ),
    (
        "create-graph-of-backward",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = (w ** 3).sum()
loss.backward(create_graph=True)
penalty = w.grad.pow(2).sum()
w.grad = None
penalty.backward()
""",
    ),
    (
        "gradient-norm-freed",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = (w ** 3).sum()
(g,) = torch.autograd.grad(loss, w, create_graph=True)
norm = g.norm()
norm.backward()
(norm + loss).backward()
""",
    ),
    (
        "gradient-with-unused-inputs",
        """\
import torch

a = torch.randn(2, requires_grad=True)
b = torch.randn(2, requires_grad=True)
loss = (a ** 2).sum()
ga, gb = torch.autograd.grad(loss, (a, b), allow_unused=True)
print(gb is None)
ga, gb = torch.autograd.grad(loss, (a, b), allow_unused=True)
""",
    ),
    (
        "gradient-with-grad-outputs",
        """\
import torch

w = torch.randn(3, requires_grad=True)
y = w.exp()
for row in torch.eye(3):
    (g,) = torch.autograd.grad(y, w, grad_outputs=row, retain_graph=True)
(g,) = torch.autograd.grad(y, w, torch.ones(3))
y = w.exp()
(g,) = torch.autograd.grad([y], [w], [torch.ones(3)], False)
(g,) = torch.autograd.grad([y], [w], [torch.ones(3)])
""",
    ),
    (
        "gradient-of-an-intermediate",
        """\
import torch

w = torch.randn(3, requires_grad=True)
h = w.exp()
loss = h.pow(2).sum()
(g,) = torch.autograd.grad(loss, h)
h.backward(g)
""",
    ),
    (
        "gradient-of-an-intermediate-then-all",
        """\
import torch

w = torch.randn(3, requires_grad=True)
h = w.exp()
loss = h.pow(2).sum()
(g,) = torch.autograd.grad(loss, h)
loss.backward()
""",
    ),
    (
        "split-backward-by-a-detached-leaf",
        """\
import torch
from torch import nn

trunk, heads = nn.Linear(2, 2), [nn.Linear(2, 1) for _ in range(3)]
h = trunk(torch.randn(4, 2)).tanh()
cut = h.detach().requires_grad_()
for head in heads:
    head(cut).pow(2).mean().backward()
h.backward(cut.grad)
""",
    ),
    (
        "split-backward-without-the-cut",
        """\
import torch
from torch import nn

trunk, heads = nn.Linear(2, 2), [nn.Linear(2, 1) for _ in range(3)]
h = trunk(torch.randn(4, 2)).tanh()
cut = h.requires_grad_()
for head in heads:
    head(cut).pow(2).mean().backward()
""",
    ),
    (
        "first-order-meta-learning",
        """\
import torch

w = torch.randn(2, requires_grad=True)
for task in range(2):
    fast = w.clone()
    for _ in range(2):
        (g,) = torch.autograd.grad((fast ** 2).sum(), fast)
        fast = fast - 0.1 * g
    (fast ** 2).sum().backward()
""",
    ),
    (
        "checkpoint-reentrant",
        """\
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

layer = nn.Linear(2, 2)
x = torch.randn(4, 2, requires_grad=True)
for _ in range(2):
    checkpoint(layer, x, use_reentrant=True).tanh().sum().backward()
loss = checkpoint(layer, x, use_reentrant=True).sum()
loss.backward()
loss.backward()
""",
    ),
    (
        "checkpoint-of-a-sequence",
        """\
import torch
from torch import nn
from torch.utils import checkpoint

model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2), nn.Tanh())
x = torch.randn(4, 2, requires_grad=True)
for _ in range(2):
    checkpoint.checkpoint_sequential(model, 2, x, use_reentrant=False).sum().backward()
""",
    ),
    (
        "own-function-of-two-outputs",
        """\
import torch


class Split(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x + y

    @staticmethod
    def backward(ctx, g, h):
        return g + h, g + h


a = torch.randn(2, requires_grad=True)
product, total = Split.apply(a, torch.ones(2))
(product.sum() + total.sum()).backward()
""",
    ),
    (
        "own-function-with-a-setup-context",
        """\
import torch


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad):
        return grad


def exp(x):
    return Exp.apply(x)


a = torch.randn(2, requires_grad=True)
h = exp(a)
h.sum().backward()
exp(a).sum().backward()
""",
    ),
    (
        "own-function-in-a-module",
        """\
import torch
from torch import nn


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.sign()

    @staticmethod
    def backward(ctx, grad):
        return grad


class Binary(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return Straight.apply(self.fc(x))


model = Binary()
codes = model(torch.randn(4, 2))
for k in range(2):
    (codes * k).sum().backward()
""",
    ),
    (
        "unpacked-views-of-one-node",
        """\
import torch

w = torch.randn(4, requires_grad=True)
a, b = w.exp().chunk(2)
c, d = (w + 1).split(2)
e, f = torch.stack([w, w]).unbind(0)
(a.sum() + c.sum() + e.sum()).backward()
(d.sum() + f.sum()).backward()
b.sum().backward()
""",
    ),
    (
        "values-and-indices",
        """\
import torch

w = torch.randn(3, 2, requires_grad=True)
values, indices = w.max(dim=1)
values.sum().backward()
best = w.topk(1, dim=1).values
best.sum().backward()
w.sort(descending=True)[0].sum().backward()
values.mean().backward()
""",
    ),
    (
        "indices-have-no-history",
        """\
import torch

w = torch.randn(3, 2, requires_grad=True)
picked = w.argmax(dim=1)
mask = (w > 0).float()
one_hot = torch.nn.functional.one_hot(picked, 2).float()
for _ in range(3):
    (w * mask * one_hot).sum().backward()
""",
    ),
    (
        "einsum-and-matmul",
        """\
import torch

a = torch.randn(2, 3, requires_grad=True)
b = torch.randn(3, 2)
product = torch.einsum("ij,jk->ik", a, b)
product.trace().backward()
(a @ b).trace().backward()
torch.mm(a, b).sum().backward()
product.sum().backward()
""",
    ),
    (
        "plain-tensors-only",
        """\
import torch

total = torch.zeros(2)
state = torch.ones(2)
w = torch.randn(2, requires_grad=True)
for k in range(3):
    state = torch.tanh(state * k) + total
    total += state
    (w * state.clone()).sum().backward()
""",
    ),
    (
        "retained-by-a-variable",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
keep = True
for i in range(3):
    keep = i < 2
    loss.backward(retain_graph=keep)
""",
    ),
    (
        "retained-by-a-variable-too-late",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
keep = False
for i in range(3):
    loss.backward(retain_graph=keep)
    keep = True
""",
    ),
    (
        "hook-replaces-the-input",
        """\
import torch
from torch import nn

trunk, head = nn.Linear(2, 2), nn.Linear(2, 1)
head.register_forward_pre_hook(lambda module, args: tuple(a.detach() for a in args))
h = trunk(torch.randn(4, 2)).tanh()
for _ in range(3):
    head(h).mean().backward()
""",
    ),
    (
        "full-backward-hook",
        """\
import torch
from torch import nn

norms = []
model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
model[0].register_full_backward_hook(lambda module, gin, gout: norms.append(gout[0].norm().item()))
for _ in range(2):
    model(torch.randn(4, 2)).sum().backward()
print(len(norms))
""",
    ),
    (
        "hook-stores-on-the-module",
        """\
import torch
from torch import nn


def keep(module, args, output):
    module.kept = output


layer = nn.Linear(2, 2)
layer.register_forward_hook(keep)
layer(torch.randn(4, 2)).tanh().sum().backward()
layer.kept.pow(2).sum().backward()
layer.kept.pow(2).sum().backward()
""",
    ),
    (
        "packed-sequences",
        """\
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

rnn = nn.LSTM(2, 3, batch_first=True)
for _ in range(2):
    packed = pack_padded_sequence(torch.randn(2, 4, 2), [4, 3], batch_first=True)
    out, (h, c) = rnn(packed)
    padded, lengths = pad_packed_sequence(out, batch_first=True)
    padded.sum().backward()
h.sum().backward()
""",
    ),
    (
        "outputs-of-cells-stacked",
        """\
import torch
from torch import nn


class Rnn(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.cell, self.size = nn.LSTMCell(2, size), size

    def forward(self, xs, state=None):
        if state is None:
            state = (torch.zeros(xs.size(1), self.size),) * 2
        outputs = []
        for x in xs:
            state = self.cell(x, state)
            outputs.append(state[0])
        return torch.stack(outputs), state


rnn = Rnn(3)
for _ in range(2):
    out, state = rnn(torch.randn(4, 2, 2))
    out.mean().backward()
out, state = rnn(torch.randn(4, 2, 2), state)
out.mean().backward()
""",
    ),
    (
        "initial-state-is-a-parameter",
        """\
import torch
from torch import nn


class Rnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(2, 3)
        self.h0 = nn.Parameter(torch.zeros(1, 1, 3))

    def forward(self, x):
        return self.rnn(x, self.h0.expand(-1, x.size(1), -1).contiguous())[0]


model = Rnn()
for _ in range(3):
    model(torch.randn(5, 2, 2)).mean().backward()
""",
    ),
    (
        "deep-copied-model-has-its-own-graph",
        """\
import copy

import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.Sigmoid())
twin = copy.deepcopy(model)
x = torch.randn(4, 2)
a, b = model(x), twin(x)
a.sum().backward()
b.sum().backward()
b.sum().backward()
""",
    ),
    (
        "loader-read-by-hand",
        """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(6, 2), torch.randn(6, 1)), batch_size=2)
batches = iter(loader)
model = nn.Linear(2, 1)
x, y = next(batches)
h = model(x).tanh()
for step in range(2):
    x, y = next(batches)
    (h - y).pow(2).mean().backward()
""",
    ),
    (
        "loader-of-dicts",
        """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Records(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        return {"x": torch.full((2,), float(index)), "y": torch.tensor([1.0])}


model = nn.Linear(2, 1)
for step, batch in enumerate(DataLoader(Records(), batch_size=2)):
    loss = (model(batch["x"]) - batch["y"]).pow(2).mean()
    loss.backward()
loss.backward()
""",
    ),
    (
        "loader-with-a-collate-function",
        """\
import torch
from torch import nn
from torch.utils.data import DataLoader

data = [(float(k), k % 2) for k in range(6)]


def collate(rows):
    xs, ys = zip(*rows)
    return torch.tensor(xs).unsqueeze(1), torch.tensor(ys)


model = nn.Linear(1, 2)
criterion = nn.CrossEntropyLoss()
for x, y in DataLoader(data, batch_size=3, collate_fn=collate):
    criterion(model(x), y).backward()
""",
    ),
    (
        "divergence-of-distributions",
        """\
import torch
from torch.distributions import Normal, kl_divergence

mean = torch.zeros(2, requires_grad=True)
scale = torch.ones(2, requires_grad=True)
posterior = Normal(mean.tanh(), scale.exp())
kl_divergence(posterior, Normal(torch.zeros(2), torch.ones(2))).sum().backward()
posterior.rsample().sum().backward()
""",
    ),
    (
        "distribution-made-in-each-pass",
        """\
import torch
from torch import distributions as D

logits = torch.zeros(3, requires_grad=True)
for _ in range(3):
    d = D.Bernoulli(logits=logits)
    x = d.sample((4,))
    (d.log_prob(x).mean() + d.entropy().mean()).backward()
""",
    ),
    (
        "soft-actor-critic-step-order",
        """\
import torch
from torch import nn

actor, critic = nn.Linear(2, 1), nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
opt_a, opt_c = torch.optim.Adam(actor.parameters()), torch.optim.Adam(critic.parameters())
state = torch.randn(4, 2)
action = torch.tanh(actor(state))
q = critic(torch.cat([state, action], dim=-1))
critic_loss, actor_loss = (q - 1).pow(2).mean(), -q.mean()
opt_c.zero_grad()
critic_loss.backward(retain_graph=True)
opt_c.step()
opt_a.zero_grad()
actor_loss.backward()
opt_a.step()
""",
    ),
    (
        "soft-actor-critic-recomputed",
        """\
import torch
from torch import nn

actor, critic = nn.Linear(2, 1), nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
opt_a, opt_c = torch.optim.Adam(actor.parameters()), torch.optim.Adam(critic.parameters())
for _ in range(2):
    state = torch.randn(4, 2)
    action = torch.tanh(actor(state))
    critic_loss = (critic(torch.cat([state, action.detach()], dim=-1)) - 1).pow(2).mean()
    opt_c.zero_grad()
    critic_loss.backward()
    opt_c.step()
    actor_loss = -critic(torch.cat([state, action], dim=-1)).mean()
    opt_a.zero_grad()
    actor_loss.backward()
    opt_a.step()
""",
    ),
    (
        "contrastive-queue-detached",
        """\
import torch
from torch import nn

encoder = nn.Linear(2, 2)
queue = torch.randn(4, 2)
for _ in range(3):
    q = nn.functional.normalize(encoder(torch.randn(2, 2)), dim=1)
    loss = (q @ queue.t()).logsumexp(1).mean()
    loss.backward()
    queue = torch.cat([queue[2:], q.detach()])
""",
    ),
    (
        "contrastive-queue-attached",
        """\
import torch
from torch import nn

encoder = nn.Linear(2, 2)
queue = torch.randn(4, 2)
for _ in range(3):
    q = nn.functional.normalize(encoder(torch.randn(2, 2)), dim=1)
    loss = (q @ queue.t()).logsumexp(1).mean()
    loss.backward()
    queue = torch.cat([queue[2:], q])
""",
    ),
    (
        "weights-of-losses-learned",
        """\
import torch
from torch import nn


class Weighted(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.log_variances = nn.Parameter(torch.zeros(count))

    def forward(self, losses):
        total = 0
        for loss, s in zip(losses, self.log_variances):
            total = total + loss * torch.exp(-s) + s
        return total


model, weighted = nn.Linear(2, 2), Weighted(2)
for _ in range(2):
    out = model(torch.randn(4, 2))
    weighted([out[:, 0].pow(2).mean(), out[:, 1].abs().mean()]).backward()
""",
    ),
    (
        "teacher-and-student",
        """\
import torch
from torch import nn

teacher, student = nn.Linear(2, 3), nn.Linear(2, 3)
teacher.eval()
x = torch.randn(4, 2)
with torch.no_grad():
    soft = teacher(x).softmax(-1)
for _ in range(3):
    loss = nn.functional.kl_div(student(x).log_softmax(-1), soft, reduction="batchmean")
    loss.backward()
""",
    ),
    (
        "teacher-with-gradients",
        """\
import torch
from torch import nn

teacher, student = nn.Linear(2, 3), nn.Linear(2, 3)
teacher.eval()
x = torch.randn(4, 2)
soft = teacher(x).softmax(-1)
for _ in range(3):
    loss = nn.functional.kl_div(student(x).log_softmax(-1), soft, reduction="batchmean")
    loss.backward()
""",
    ),
    (
        "physics-residual",
        """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(1, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.Adam(net.parameters())
x = torch.linspace(0, 1, 5).unsqueeze(1).requires_grad_()
for _ in range(3):
    u = net(x)
    u_x = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]
    u_xx = torch.autograd.grad(u_x, x, torch.ones_like(u_x), create_graph=True)[0]
    loss = (u_xx + u).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    ),
    (
        "physics-residual-outside-the-loop",
        """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(1, 4), nn.Tanh(), nn.Linear(4, 1))
x = torch.linspace(0, 1, 5).unsqueeze(1).requires_grad_()
u = net(x)
u_x = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]
for _ in range(2):
    loss = (u_x + net(x)).pow(2).mean()
    loss.backward()
""",
    ),
    (
        "adversarial-example",
        """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2))
x, y = torch.rand(3, 2), torch.tensor([0, 1, 0])
delta = torch.zeros_like(x, requires_grad=True)
for _ in range(3):
    loss = nn.functional.cross_entropy(model(x + delta), y)
    loss.backward()
    delta.data = (delta + 0.1 * delta.grad.sign()).clamp(-0.2, 0.2)
    delta.grad.zero_()
""",
    ),
    (
        "adversarial-example-without-data",
        """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2))
x, y = torch.rand(3, 2, requires_grad=True), torch.tensor([0, 1, 0])
adversarial = x
for _ in range(2):
    loss = nn.functional.cross_entropy(model(adversarial), y)
    (g,) = torch.autograd.grad(loss, adversarial)
    adversarial = (adversarial + 0.1 * g.sign()).clamp(0, 1)
model(adversarial).sum().backward()
nn.functional.cross_entropy(model(adversarial), y).backward()
""",
    ),
    (
        "evaluation-between-epochs",
        """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 4), nn.Dropout(0.5), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


@torch.no_grad()
def evaluate(model):
    model.eval()
    return model(torch.randn(4, 2)).mean().item()


best = None
for epoch in range(2):
    model.train()
    loss = model(torch.randn(4, 2)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    score = evaluate(model)
    best = score if best is None else max(best, score)
""",
    ),
]

DATA: list[tuple[str, str]] = [
    (
        "loader-of-batches",
        """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

dataset = TensorDataset(torch.randn(8, 2), torch.randn(8, 1))
loader = DataLoader(dataset, batch_size=4, shuffle=True)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    running = 0.0
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(x)
    print(f"{epoch}: {running / len(dataset):.3f}")
""",
    ),
    (
        "loader-with-a-carried-state",
        """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(8, 2)), batch_size=4)
cell = nn.RNNCell(2, 3)
h = torch.zeros(4, 3)
for (x,) in loader:
    h = cell(x, h)
    h.sum().backward()
""",
    ),
    (
        "dataset-of-ones-own",
        """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Points(Dataset):
    def __init__(self, count):
        self.points = torch.randn(count, 2)

    def __len__(self):
        return len(self.points)

    def __getitem__(self, index):
        return self.points[index], self.points[index].sum()


model = nn.Linear(2, 1)
for x, y in DataLoader(Points(6), batch_size=3):
    (model(x).squeeze(-1) - y).abs().mean().backward()
""",
    ),
    (
        "dataset-that-holds-a-graph",
        """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Features(Dataset):
    def __init__(self, encoder, count):
        self.features = encoder(torch.randn(count, 2)).tanh()

    def __len__(self):
        return len(self.features)

    def __getitem__(self, index):
        return self.features[index]


encoder, head = nn.Linear(2, 2), nn.Linear(2, 1)
for x in DataLoader(Features(encoder, 4), batch_size=2):
    head(x).mean().backward()
""",
    ),
    (
        "policy-gradient",
        """\
import torch
from torch import nn
from torch.distributions import Categorical

policy = nn.Linear(2, 3)
for episode in range(2):
    log_probs, rewards = [], []
    for t in range(3):
        distribution = Categorical(logits=policy(torch.randn(2)))
        action = distribution.sample()
        log_probs.append(distribution.log_prob(action))
        rewards.append(float(action.item()))
    loss = -(torch.stack(log_probs) * torch.tensor(rewards)).sum()
    loss.backward()
""",
    ),
    (
        "policy-gradient-keeps-old-episodes",
        """\
import torch
from torch import nn
from torch.distributions import Categorical

policy = nn.Linear(2, 3)
log_probs, rewards = [], []
for episode in range(2):
    for t in range(2):
        distribution = Categorical(logits=policy(torch.randn(2)))
        action = distribution.sample()
        log_probs.append(distribution.log_prob(action))
        rewards.append(float(action.item()))
    loss = -(torch.stack(log_probs) * torch.tensor(rewards)).sum()
    loss.backward()
""",
    ),
    (
        "actor-critic-with-an-attached-advantage",
        """\
import torch
from torch import nn
from torch.distributions import Categorical

actor, critic = nn.Linear(2, 3), nn.Linear(2, 1)
state = torch.randn(4, 2)
distribution = Categorical(logits=actor(state))
log_prob = distribution.log_prob(distribution.sample())
advantage = 1.0 - critic(state).squeeze(-1)
critic_loss = advantage.pow(2).mean()
actor_loss = -(log_prob * advantage).mean()
critic_loss.backward()
actor_loss.backward()
""",
    ),
    (
        "actor-critic-with-a-detached-advantage",
        """\
import torch
from torch import nn
from torch.distributions import Categorical

actor, critic = nn.Linear(2, 3), nn.Linear(2, 1)
state = torch.randn(4, 2)
distribution = Categorical(logits=actor(state))
log_prob = distribution.log_prob(distribution.sample())
advantage = 1.0 - critic(state).squeeze(-1)
critic_loss = advantage.pow(2).mean()
actor_loss = -(log_prob * advantage.detach()).mean()
critic_loss.backward()
actor_loss.backward()
""",
    ),
    (
        "reparameterised-sample-shared",
        """\
import torch
from torch.distributions import Normal

mean = torch.zeros(2, requires_grad=True)
scale = torch.ones(2, requires_grad=True)
distribution = Normal(mean, scale.exp())
z = distribution.rsample()
z.pow(2).sum().backward()
distribution.log_prob(z.detach()).sum().backward()
""",
    ),
    (
        "sample-has-no-history",
        """\
import torch
from torch.distributions import Normal

mean = torch.zeros(2, requires_grad=True)
w = torch.ones(2, requires_grad=True)
z = Normal(mean, 1.0).sample()
for _ in range(3):
    (w * z).sum().backward()
loss = Normal(mean, 1.0).log_prob(z).sum()
loss.backward()
loss.backward()
""",
    ),
    (
        "entropy-and-log-prob-summed",
        """\
import torch
from torch import nn
from torch.distributions import Categorical

policy = nn.Linear(2, 3)
for _ in range(2):
    distribution = Categorical(logits=policy(torch.randn(4, 2)))
    actions = distribution.sample()
    loss = -distribution.log_prob(actions).mean() - 0.01 * distribution.entropy().mean()
    loss.backward()
""",
    ),
    (
        "roll-out-under-no-grad-then-training",
        """\
import torch
from torch import nn

policy = nn.Linear(2, 2)
buffer = []
with torch.no_grad():
    state = torch.randn(2)
    for t in range(3):
        state = torch.tanh(policy(state))
        buffer.append((state, t))
for epoch in range(2):
    for state, t in buffer:
        (policy(state).sum() * t).backward()
""",
    ),
    (
        "roll-out-with-history-then-training",
        """\
import torch
from torch import nn

policy = nn.Linear(2, 2)
buffer = []
state = torch.randn(2)
for t in range(3):
    state = torch.tanh(policy(state))
    buffer.append((state, t))
for epoch in range(2):
    for state, t in buffer:
        (policy(state).sum() * t).backward()
""",
    ),
    (
        "main-guard-and-arguments",
        """\
import torch
from torch import nn


def train(model, optimizer, epochs=2, *, clip=None):
    history = []
    for epoch in range(epochs):
        optimizer.zero_grad()
        loss = model(torch.randn(4, 2)).pow(2).mean()
        loss.backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        history.append(loss.item())
    return history


def main():
    model = nn.Linear(2, 1)
    history = train(model, torch.optim.Adam(model.parameters()), clip=1.0)
    print(min(history), max(history), len(history))


if __name__ == "__main__":
    main()
""",
    ),
]

LANGUAGE: list[tuple[str, str]] = [
    (
        "match-on-classes",
        """\
from dataclasses import dataclass

import torch


@dataclass
class Train:
    loss: object


@dataclass
class Evaluate:
    loss: object


w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
for task in [Evaluate(loss), Train(loss), Evaluate(loss)]:
    match task:
        case Evaluate():
            pass
        case Train(loss=found):
            found.backward()
""",
    ),
    (
        "match-on-classes-takes-the-same-loss",
        """\
import torch


class Train:
    __match_args__ = ("loss", "times")

    def __init__(self, loss, times):
        self.loss, self.times = loss, times


w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
for task in [None, Train(loss, 1), Train(loss, 0), Train(loss, 1)]:
    match task:
        case None | Train(times=0):
            continue
        case Train(found, 1):
            found.backward()
""",
    ),
    (
        "match-with-a-star",
        """\
import torch

w = torch.randn(2, requires_grad=True)
losses = [(w * k).sum() for k in range(3)]
match losses:
    case []:
        print("none")
    case [only]:
        only.backward()
    case [first, *rest]:
        first.backward()
        sum(rest).backward()
        rest[-1].backward()
""",
    ),
    (
        "match-with-a-rest-of-a-dict",
        """\
import torch

w = torch.randn(2, requires_grad=True)
losses = {"a": w.exp().sum(), "b": w.sin().sum()}
match losses:
    case {"a": first, **others}:
        first.backward()
        for other in others.values():
            other.backward()
""",
    ),
    (
        "match-guard-decides",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
for step in range(3):
    match step:
        case 0:
            pass
        case n if n > 1:
            loss.backward()
        case int():
            loss.backward()
""",
    ),
    (
        "generator-is-sent-values",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def scaled():
    factor = 1.0
    while True:
        factor = yield (w * factor).sum()


steps = scaled()
next(steps).backward()
steps.send(2.0).backward()
last = steps.send(3.0)
last.backward()
last.backward()
""",
    ),
    (
        "generator-returns-early",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def losses(limit):
    trunk = w.exp()
    for k in range(5):
        if k == limit:
            return
        yield (trunk * k).sum()


for loss in losses(1):
    loss.backward()
print(len(list(losses(0))))
for loss in losses(2):
    loss.backward()
""",
    ),
    (
        "generator-catches-an-error",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def losses(names):
    table = {"a": 1.0, "b": 2.0}
    for name in names:
        try:
            factor = table[name]
        except KeyError:
            continue
        yield (w * factor).sum()


for loss in losses(["a", "missing", "b"]):
    loss.backward()
loss.backward()
""",
    ),
    (
        "generator-method-walks-a-tree",
        """\
import torch


class Tree:
    def __init__(self, value, children=()):
        self.value, self.children = value, children

    def walk(self):
        yield self.value
        for child in self.children:
            yield from child.walk()


w = torch.randn(2, requires_grad=True)
tree = Tree(w.exp(), [Tree(w.sin()), Tree(w.cos(), [Tree(w.tanh())])])
sum(value.sum() for value in tree.walk()).backward()
tree.children[1].children[0].value.sum().backward()
""",
    ),
    (
        "flow-decided-by-numbers-and-texts",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
plan = "keep,keep,free".split(",")
quotient, rest = divmod(len(plan), 2)
for i, word in enumerate(plan):
    loss.backward(retain_graph=word.startswith("k"))
if quotient == 1 and rest == 1 and max(quotient, 3) > 2 and not any([0, 0]):
    loss.backward()
""",
    ),
    (
        "flow-decided-by-types",
        """\
import torch
from torch import nn

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
for value in [1, "a", None, nn.Linear(1, 1), [loss], {"x": loss}, loss]:
    if isinstance(value, (int, str)) or value is None or callable(value) and isinstance(value, nn.Module):
        continue
    if type(value) is list:
        value[0].backward(retain_graph=True)
    elif hasattr(value, "keys") and not torch.is_tensor(value):
        value["x"].backward(retain_graph=True)
    else:
        value.backward()
loss.backward()
""",
    ),
    (
        "nested-closures",
        """\
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
""",
    ),
    (
        "nested-closures-build-anew",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def outer():
    count = 0
    trunk = None

    def middle():
        def inner():
            nonlocal count, trunk
            if trunk is None or count % 2 == 0:
                trunk = w.exp()
            count += 2
            return trunk.sum()

        return inner

    return middle()


step = outer()
step().backward()
step().backward()
step().backward()
""",
    ),
    (
        "reduce-and-accumulate",
        """\
import operator
from functools import reduce
from itertools import accumulate

import torch

w = torch.randn(2, requires_grad=True)
parts = [(w * k).sum() for k in range(1, 4)]
reduce(operator.add, parts).backward(retain_graph=True)
*_, total = accumulate(parts)
total.backward()
reduce(lambda a, b: a * b, parts).backward()
""",
    ),
    (
        "itertools-islice-and-repeat",
        """\
from itertools import count, islice, repeat

import torch

w = torch.randn(2, requires_grad=True)
fresh = ((w * k).sum() for k in count())
for loss in islice(fresh, 3):
    loss.backward()
for loss in repeat((w * 2).sum(), 2):
    loss.backward()
""",
    ),
    (
        "itertools-product-and-pairs",
        """\
from itertools import product, zip_longest

import torch

w = torch.randn(2, requires_grad=True)
losses = [(w * k).sum() for k in range(2)]
for a, b in zip_longest(losses, [w.exp().sum()]):
    if b is not None:
        (a + b).backward()
losses[1].backward()
for a, b in product(losses, repeat=2):
    (a + b).backward()
""",
    ),
    (
        "method-looked-up-by-name",
        """\
import torch


class Trainer:
    def __init__(self):
        self.w = torch.randn(2, requires_grad=True)
        self.trunk = self.w.exp()

    def loss_mean(self):
        return self.trunk.mean()

    def loss_fresh(self):
        return self.w.exp().sum()

    def run(self, names):
        for name in names:
            getattr(self, f"loss_{name}")().backward()


trainer = Trainer()
trainer.run(["fresh", "mean", "fresh"])
trainer.run(["fresh", "mean"])
""",
    ),
    (
        "bound-method-handed-around",
        """\
import torch

w = torch.randn(2, requires_grad=True)


class Recorder:
    def __init__(self):
        self.losses = []

    def add(self, loss):
        self.losses.append(loss)
        return self


def every(function, values):
    for value in values:
        function(value)


recorder = Recorder()
every(recorder.add, [(w * k).sum() for k in range(3)])
list(map(recorder.add, [(w.exp() * k).sum() for k in range(2)]))
sum(recorder.losses).backward()
every(lambda loss: loss.backward(), recorder.losses)
""",
    ),
    (
        "unbound-method-called",
        """\
import torch


class Base:
    def loss(self, w):
        return w.exp().sum()


class Twice(Base):
    def loss(self, w):
        return Base.loss(self, w) + Base.loss(self, w * 2)


w = torch.randn(2, requires_grad=True)
loss = Twice().loss(w)
loss.backward()
Base.loss(None, w).backward()
Twice.loss(Twice(), w).backward()
loss.backward()
""",
    ),
    (
        "backward-as-a-value",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
backward = loss.backward
backward(retain_graph=True)
getattr(loss, "backward")(retain_graph=True)
backward()
backward()
""",
    ),
    (
        "backward-unbound",
        """\
import torch

w = torch.randn(2, requires_grad=True)
losses = [w.exp().sum(), w.sin().sum()]
for loss in losses:
    torch.Tensor.backward(loss)
torch.Tensor.backward(losses[0])
""",
    ),
    (
        "backward-in-a-comprehension",
        """\
import torch

w = torch.randn(2, requires_grad=True)
trunk = w.exp()
losses = [(trunk * k).sum() for k in range(3)]
done = [loss.backward() for loss in losses]
""",
    ),
    (
        "backward-in-a-conditional-expression",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
for last in (False, True):
    loss.backward() if last else loss.backward(retain_graph=True)
None if last else loss.backward()
(lambda: loss.backward())()
""",
    ),
    (
        "abstract-base-and-enum",
        """\
from abc import ABC, abstractmethod
from enum import Enum

import torch


class Mode(Enum):
    TRAIN = "train"
    EVAL = "eval"


class Task(ABC):
    @abstractmethod
    def loss(self):
        ...

    def run(self, mode):
        loss = self.loss()
        if mode is Mode.TRAIN:
            loss.backward()
        return loss


class Square(Task):
    def __init__(self):
        self.w = torch.randn(2, requires_grad=True)

    def loss(self):
        return (self.w ** 2).sum()


task = Square()
for mode in (Mode.TRAIN, Mode.EVAL):
    loss = task.run(mode)
loss.backward()
""",
    ),
    (
        "class-decorator-and-nested-class",
        """\
import torch


def registered(cls):
    cls.registry = []
    return cls


@registered
class Model:
    class Head:
        def __init__(self, w):
            self.out = w.exp()

    def __init__(self):
        self.w = torch.randn(2, requires_grad=True)
        self.head = self.Head(self.w)
        self.registry.append(self)


first, second = Model(), Model()
for model in Model.registry:
    model.head.out.sum().backward()
Model.registry[0].head.out.sum().backward()
""",
    ),
    (
        "context-manager-swallows-the-error",
        """\
import torch


class Swallow:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return kind is RuntimeError


w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
loss.backward()
with Swallow():
    loss.backward()
""",
    ),
    (
        "exit-stack-leaves-what-it-enters",
        """\
import contextlib

import torch


@contextlib.contextmanager
def walking(loss):
    yield
    loss.backward()


w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
with contextlib.ExitStack() as stack:
    stack.enter_context(walking(loss))
    loss.backward(retain_graph=True)
loss.backward()
""",
    ),
    (
        "attributes-that-are-items-of-the-dict",
        """\
import torch


class Batch(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


w = torch.randn(2, requires_grad=True)
batch = Batch(x=torch.ones(2))
batch.loss = (w.exp() * batch.x).sum()
batch.loss.backward()
batch["loss"].backward()
""",
    ),
    (
        "methods-of-containers-by-their-class",
        """\
import torch

w = torch.randn(2, requires_grad=True)
losses, table = [], {}
list.append(losses, w.exp().sum())
dict.__setitem__(table, "loss", losses[0])
dict.get(table, "loss").backward(retain_graph=True)
losses[0].backward()
""",
    ),
    (
        "exit-stack-enters-no-grad",
        """\
from contextlib import ExitStack

import torch

w = torch.randn(2, requires_grad=True)
with ExitStack() as stack:
    stack.enter_context(torch.no_grad())
    prior = w.exp()
for _ in range(2):
    (w * prior).sum().backward()
""",
    ),
    (
        "mode-is-restored-by-hand",
        """\
import torch

w = torch.randn(2, requires_grad=True)
before = torch.is_grad_enabled()
torch.set_grad_enabled(False)
try:
    prior = w.exp()
finally:
    torch.set_grad_enabled(before)
trunk = w.exp()
for _ in range(2):
    (w * prior).sum().backward()
for _ in range(2):
    trunk.sum().backward()
""",
    ),
    (
        "mode-is-restored-after-an-error",
        """\
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
""",
    ),
    (
        "finally-overrides-the-return",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def pick(a, b):
    for _ in range(2):
        try:
            return a
        finally:
            continue
    return b


a, b = w.exp().sum(), w.sin().sum()
pick(a, b).backward()
a.backward()
b.backward()
""",
    ),
    (
        "nested-try",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
try:
    try:
        raise KeyError("inner")
    except ValueError:
        loss.backward()
    finally:
        loss.backward()
except LookupError as error:
    print(repr(error))
    loss.backward()
""",
    ),
    (
        "raise-from-and-bare-raise",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()


def convert():
    try:
        raise KeyError("k")
    except KeyError as error:
        raise ValueError("v") from error


try:
    try:
        convert()
    except ValueError:
        loss.backward()
        raise
except Exception:
    print(loss.item())
loss.backward()
""",
    ),
    (
        "star-imports-and-aliases",
        """\
import torch as t
import torch.nn.functional as F
from torch import nn, optim
from torch.autograd import Variable, grad

w = Variable(t.randn(2), requires_grad=True)
layer = nn.Linear(2, 2)
optimizer = optim.SGD([w, *layer.parameters()], lr=0.1)
h = F.relu(layer(w))
(g,) = grad(h.sum(), [w], retain_graph=True)
F.softmax(h, dim=0).max().backward()
optimizer.step()
h.sum().backward()
""",
    ),
    (
        "list-methods-and-slices",
        """\
import torch

w = torch.randn(2, requires_grad=True)
a, b, c = (w * 1).sum(), (w * 2).sum(), (w * 3).sum()
losses = [c, a]
losses[1:1] = [b]
losses.reverse()
assert losses[0] is a and losses[1] is b
losses.remove(c)
del losses[0]
losses[:] = [*losses, c]
for loss in losses:
    loss.backward()
a.backward()
losses[0].backward()
""",
    ),
    (
        "dict-merging",
        """\
import torch

w = torch.randn(2, requires_grad=True)
base = {"a": w.exp().sum(), "b": w.sin().sum()}
more = {**base, "b": w.cos().sum()} | dict(c=w.tanh().sum())
names, values = zip(*more.items())
torch.stack(values).sum().backward()
base["b"].backward()
dict(zip(names, values))["a"].backward()
""",
    ),
    (
        "tuple-keys",
        """\
import torch

w = torch.randn(2, requires_grad=True)
table = {(i, j): (w * (i + j)).sum() for i in range(2) for j in range(2)}
table[0, 1].backward()
for (i, j), loss in table.items():
    if i == j:
        loss.backward()
table[(1, 0)].backward()
table[1, 1].backward()
""",
    ),
    (
        "loops-with-counters-by-hand",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
h, done, t = torch.ones(2), False, 0
while not done:
    h = torch.tanh(h @ w)
    t += 1
    if t % 2 == 0:
        h.sum().backward()
        h = h.detach()
    done = t >= 4
""",
    ),
    (
        "truncated-through-time",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
h, total = torch.ones(2), 0
for t in range(4):
    h = torch.tanh(h @ w)
    total = total + h.sum()
    if (t + 1) % 2 == 0:
        total.backward()
        total, h = 0, h.detach()
""",
    ),
    (
        "truncated-through-time-keeps-the-total",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
h, total = torch.ones(2), 0
for t in range(4):
    h = torch.tanh(h @ w)
    total = total + h.sum()
    if (t + 1) % 2 == 0:
        total.backward()
        h = h.detach()
""",
    ),
    (
        "rows-of-a-tensor-differentiated",
        """\
import torch

w = torch.randn(3, requires_grad=True)
for row in w * torch.eye(3):
    row.sum().backward()
""",
    ),
    (
        "rows-of-a-plain-tensor",
        """\
import torch

w = torch.randn(3, requires_grad=True)
for row in torch.eye(3):
    (w * row).sum().backward()
for row in torch.eye(3).unbind(0):
    (w * row).sum().backward()
""",
    ),
    (
        "two-threads-of-state",
        """\
import torch

cell = torch.nn.GRUCell(2, 2)
states = {"a": torch.zeros(1, 2), "b": torch.zeros(1, 2)}
for t, key in enumerate(["a", "b", "a"]):
    states[key] = cell(torch.ones(1, 2), states[key])
    states[key].sum().backward()
""",
    ),
    (
        "coroutine",
        """\
import asyncio

import torch

w = torch.randn(2, requires_grad=True)


async def loss_of(k):
    await asyncio.sleep(0)
    return (w * k).sum()


async def main():
    for k in range(2):
        loss = await loss_of(k)
        loss.backward()
    loss.backward()


asyncio.run(main())
""",
    ),
    (
        "global-in-a-nested-function",
        """\
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
""",
    ),
    (
        "shadowed-names",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()


def step(loss):
    loss = loss * 2
    return loss


values = [loss for loss in (1, 2)]
step(loss).backward()
print(values)
loss.backward()
""",
    ),
    (
        "argument-is-changed-by-the-callee",
        """\
import torch

w = torch.randn(2, requires_grad=True)


def shift(x, by=1.0):
    x += by
    return x


y = w.exp()
shift(y.clone()).sum().backward()
y = w.exp()
shift(y)
y.sum().backward()
""",
    ),
    (
        "singledispatch-and-overloads",
        """\
from functools import singledispatch

import torch

w = torch.randn(2, requires_grad=True)


@singledispatch
def detached(value):
    return value


@detached.register
def _(value: torch.Tensor):
    return value.detach()


h = torch.ones(2)
for _ in range(3):
    h = torch.tanh(detached(h) * w)
    h.sum().backward()
""",
    ),
    (
        "module-level-conditional-definition",
        """\
import torch

FAST = False
w = torch.randn(2, requires_grad=True)
if FAST:

    def step(loss):
        loss.backward(retain_graph=True)

else:

    def step(loss):
        loss.backward()


loss = w.exp().sum()
step(loss)
step(loss)
""",
    ),
    (
        "sorting-in-place",
        """\
import torch

w = torch.randn(2, requires_grad=True)
losses = [("b", w.exp().sum()), ("a", w.sin().sum())]
losses.sort(key=lambda pair: pair[0])
losses[0][1].backward()
first = [loss for name, loss in losses if name == "a"]
losses[1][1].backward()
first[0].backward()
""",
    ),
]

LONG_LOOPS: list[tuple[str, str]] = [
    (
        "truncated-every-five-steps",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
h, total = torch.ones(2), 0
for t in range(20):
    h = torch.tanh(h @ w)
    total = total + h.sum()
    if (t + 1) % 5 == 0:
        total.backward()
        total, h = 0, h.detach()
""",
    ),
    (
        "accumulated-over-eight-batches",
        """\
import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(32):
    loss = model(torch.randn(4, 2)).pow(2).mean() / 8
    loss.backward()
    if (step + 1) % 8 == 0:
        optimizer.step()
        optimizer.zero_grad()
""",
    ),
    (
        "summed-over-eight-batches",
        """\
import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0
for step in range(32):
    total = total + model(torch.randn(4, 2)).pow(2).mean()
    if (step + 1) % 8 == 0:
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        total = 0
""",
    ),
    (
        "critic-trained-more-often",
        """\
import torch
from torch import nn

generator, critic = nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
opt_g, opt_c = torch.optim.RMSprop(generator.parameters()), torch.optim.RMSprop(critic.parameters())
for step in range(20):
    with torch.no_grad():
        fake = generator(torch.randn(4, 2))
    opt_c.zero_grad()
    (critic(fake).mean() - critic(torch.randn(4, 2)).mean()).backward()
    opt_c.step()
    for p in critic.parameters():
        p.data.clamp_(-0.1, 0.1)
    if step % 5 == 0:
        opt_g.zero_grad()
        (-critic(generator(torch.randn(4, 2))).mean()).backward()
        opt_g.step()
""",
    ),
    (
        "retained-but-in-the-last-of-many",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
n = 10
for i in range(n):
    loss.backward(retain_graph=(i != n - 1))
""",
    ),
    (
        "first-pass-initialises",
        """\
import torch

cell = torch.nn.GRUCell(2, 2)
for epoch in range(10):
    for t in range(10):
        if t == 0:
            h = torch.zeros(1, 2)
        else:
            h = h.detach()
        h = cell(torch.randn(1, 2), h)
        h.sum().backward()
""",
    ),
    (
        "state-reset-at-the-end-of-an-episode",
        """\
import torch

cell = torch.nn.GRUCell(2, 2)
h, losses = torch.zeros(1, 2), []
for t in range(12):
    h = cell(torch.randn(1, 2), h)
    losses.append(h.sum())
    done = t % 4 == 3
    if done:
        torch.stack(losses).sum().backward()
        h, losses = torch.zeros(1, 2), []
""",
    ),
    (
        "state-not-reset-at-the-end-of-an-episode",
        """\
import torch

cell = torch.nn.GRUCell(2, 2)
h, losses = torch.zeros(1, 2), []
for t in range(12):
    h = cell(torch.randn(1, 2), h)
    losses.append(h.sum())
    done = t % 4 == 3
    if done:
        torch.stack(losses).sum().backward()
        losses = []
""",
    ),
    (
        "log-every-tenth-loss",
        """\
import torch

w = torch.randn(2, requires_grad=True)
history = []
for step in range(100):
    loss = (w ** 2).sum()
    loss.backward()
    if step % 10 == 0:
        history.append(loss.detach())
print(torch.stack(history).mean().item())
""",
    ),
    (
        "early-stopping",
        """\
import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
best, patience = float("inf"), 3
x, y = torch.randn(8, 2), torch.randn(8, 1)
for epoch in range(50):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if loss.item() < best - 0.01:
        best, patience = loss.item(), 3
    else:
        patience -= 1
    if patience == 0:
        break
""",
    ),
    (
        "while-until-converged",
        """\
import torch

w = torch.randn(2, requires_grad=True)
previous, current = None, None
while previous is None or abs(previous - current) > 1e-2:
    previous = current if current is not None else float("inf")
    loss = (w ** 2).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.2 * w.grad
    w.grad = None
    current = loss.item()
""",
    ),
    (
        "warm-up-then-joint-training",
        """\
import torch
from torch import nn

encoder, head = nn.Linear(2, 2), nn.Linear(2, 1)
for epoch in range(12):
    frozen = epoch < 6
    for p in encoder.parameters():
        p.requires_grad_(not frozen)
    features = torch.tanh(encoder(torch.randn(4, 2)))
    loss = head(features).mean()
    loss.backward()
""",
    ),
    (
        "alternating-phases",
        """\
import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
history = {"train": [], "val": []}
for epoch in range(5):
    for phase in ["train", "val"]:
        model.train() if phase == "train" else model.eval()
        running = 0.0
        for _ in range(6):
            optimizer.zero_grad()
            with torch.set_grad_enabled(phase == "train"):
                loss = model(torch.randn(4, 2)).pow(2).mean()
                if phase == "train":
                    loss.backward()
                    optimizer.step()
            running += loss.item()
        history[phase].append(running / 6)
""",
    ),
    (
        "experience-replay",
        """\
import random
from collections import deque

import torch
from torch import nn

net, target = nn.Linear(2, 2), nn.Linear(2, 2)
target.load_state_dict(net.state_dict())
optimizer = torch.optim.Adam(net.parameters())
memory = deque(maxlen=20)
state = torch.randn(2)
for step in range(30):
    with torch.no_grad():
        action = net(state).argmax().item()
    following = torch.randn(2)
    memory.append((state, action, random.random(), following))
    state = following
    if len(memory) < 8:
        continue
    states, actions, rewards, followings = zip(*random.sample(list(memory), 4))
    q = net(torch.stack(states)).gather(1, torch.tensor(actions).unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        goal = torch.tensor(rewards) + 0.9 * target(torch.stack(followings)).max(1).values
    loss = nn.functional.smooth_l1_loss(q, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        target.load_state_dict(net.state_dict())
""",
    ),
    (
        "clipped-policy-optimisation",
        """\
import torch
from torch import nn
from torch.distributions import Categorical

policy = nn.Linear(2, 3)
optimizer = torch.optim.Adam(policy.parameters())
for iteration in range(3):
    states = torch.randn(8, 2)
    with torch.no_grad():
        old = Categorical(logits=policy(states))
        actions = old.sample()
        old_log_probs = old.log_prob(actions)
    advantages = torch.randn(8)
    for epoch in range(4):
        for batch in torch.randperm(8).split(4):
            log_probs = Categorical(logits=policy(states[batch])).log_prob(actions[batch])
            ratio = (log_probs - old_log_probs[batch]).exp()
            clipped = ratio.clamp(0.8, 1.2) * advantages[batch]
            loss = -torch.min(ratio * advantages[batch], clipped).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
""",
    ),
    (
        "clipped-policy-optimisation-with-old-history",
        """\
import torch
from torch import nn
from torch.distributions import Categorical

policy = nn.Linear(2, 3)
optimizer = torch.optim.Adam(policy.parameters())
states = torch.randn(8, 2)
old = Categorical(logits=policy(states))
actions = old.sample()
old_log_probs = old.log_prob(actions)
advantages = torch.randn(8)
for epoch in range(4):
    log_probs = Categorical(logits=policy(states)).log_prob(actions)
    ratio = (log_probs - old_log_probs).exp()
    loss = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    ),
    (
        "trainer-class",
        """\
import torch
from torch import nn


class Trainer:
    def __init__(self, model, lr=0.1):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.step = 0
        self.metrics = {}

    def log(self, **values):
        for name, value in values.items():
            self.metrics.setdefault(name, []).append(value)

    def training_step(self, batch):
        loss = self.model(batch).pow(2).mean()
        self.log(loss=loss.item())
        return loss

    def fit(self, epochs):
        for epoch in range(epochs):
            for batch in torch.randn(6, 4, 2):
                loss = self.training_step(batch)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.step += 1
        return self


trainer = Trainer(nn.Linear(2, 1)).fit(3)
print(trainer.step, len(trainer.metrics["loss"]))
""",
    ),
    (
        "trainer-class-with-a-memory",
        """\
import torch
from torch import nn


class Trainer:
    def __init__(self, model):
        self.model = model
        self.previous = None

    def training_step(self, batch):
        out = self.model(batch)
        loss = out.pow(2).mean()
        if self.previous is not None:
            loss = loss + (out - self.previous).pow(2).mean()
        self.previous = out
        return loss

    def fit(self, epochs):
        for epoch in range(epochs):
            for batch in torch.randn(6, 4, 2):
                self.training_step(batch).backward()


Trainer(nn.Sequential(nn.Linear(2, 2), nn.Tanh())).fit(3)
""",
    ),
    (
        "language-model-with-detached-state",
        """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, vocabulary=10, size=4):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, size)
        self.rnn = nn.LSTM(size, size, num_layers=2)
        self.decoder = nn.Linear(size, vocabulary)

    def forward(self, x, hidden):
        out, hidden = self.rnn(self.embedding(x), hidden)
        return self.decoder(out), hidden

    def init_hidden(self, batch):
        weight = next(self.parameters())
        return weight.new_zeros(2, batch, 4), weight.new_zeros(2, batch, 4)


model, criterion = Model(), nn.CrossEntropyLoss()
data = torch.randint(0, 10, (25, 3))
hidden = model.init_hidden(3)
for i in range(0, data.size(0) - 1, 6):
    x, y = data[i : i + 6], data[i + 1 : i + 7]
    hidden = tuple(h.detach() for h in hidden)
    out, hidden = model(x[: len(y)], hidden)
    criterion(out.view(-1, 10), y.reshape(-1)).backward()
""",
    ),
    (
        "language-model-with-carried-state",
        """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, vocabulary=10, size=4):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, size)
        self.rnn = nn.LSTM(size, size, num_layers=2)
        self.decoder = nn.Linear(size, vocabulary)

    def forward(self, x, hidden):
        out, hidden = self.rnn(self.embedding(x), hidden)
        return self.decoder(out), hidden

    def init_hidden(self, batch):
        weight = next(self.parameters())
        return weight.new_zeros(2, batch, 4), weight.new_zeros(2, batch, 4)


model, criterion = Model(), nn.CrossEntropyLoss()
data = torch.randint(0, 10, (25, 3))
for epoch in range(2):
    hidden = model.init_hidden(3)
    for i in range(0, data.size(0) - 1, 6):
        x, y = data[i : i + 6], data[i + 1 : i + 7]
        out, hidden = model(x[: len(y)], hidden)
        criterion(out.view(-1, 10), y.reshape(-1)).backward()
""",
    ),
    (
        "sequence-to-sequence",
        """\
import random

import torch
from torch import nn

encoder, decoder, head = nn.GRU(3, 4), nn.GRUCell(3, 4), nn.Linear(4, 3)
source, target = torch.randn(5, 2, 3), torch.randn(5, 2, 3)
for epoch in range(3):
    _, state = encoder(source)
    state, step, loss = state[0], torch.zeros(2, 3), 0
    for t in range(5):
        state = decoder(step, state)
        out = head(state)
        loss = loss + nn.functional.mse_loss(out, target[t])
        step = target[t] if random.random() < 0.5 else out
    loss.backward()
    print(loss.item() / 5)
""",
    ),
    (
        "mixture-of-schedules",
        """\
import math

import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    for group in optimizer.param_groups:
        group["lr"] = 0.1 * (1 + math.cos(math.pi * step / 30)) / 2
    weight = min(1.0, step / 10)
    loss = model(torch.randn(4, 2)).pow(2).mean() * weight
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
""",
    ),
    (
        "k-fold-cross-validation",
        """\
import torch
from torch import nn

data = torch.randn(12, 2)
scores = []
for fold in range(4):
    held = data[fold * 3 : (fold + 1) * 3]
    rest = torch.cat([data[: fold * 3], data[(fold + 1) * 3 :]])
    model = nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(5):
        optimizer.zero_grad()
        model(rest).pow(2).mean().backward()
        optimizer.step()
    with torch.no_grad():
        scores.append(model(held).pow(2).mean().item())
print(sum(scores) / len(scores))
""",
    ),
    (
        "graph-outside-a-long-loop",
        """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
style = model(torch.randn(4, 2)).mean(0)
for step in range(100):
    loss = (model(torch.randn(4, 2)).mean(0) - style).pow(2).sum()
    loss.backward()
""",
    ),
    (
        "differentiated-in-one-pass-of-many",
        """\
import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
for step in range(20):
    if step == 7:
        loss.backward()
""",
    ),
    (
        "gradient-reversal-schedule",
        """\
import torch
from torch import nn


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


features, label, domain = nn.Linear(2, 2), nn.Linear(2, 1), nn.Linear(2, 1)
for step in range(10):
    h = features(torch.randn(4, 2)).tanh()
    loss = label(h).pow(2).mean() + domain(Reverse.apply(h, step / 10)).pow(2).mean()
    loss.backward()
""",
    ),
    (
        "spectral-regularisation",
        """\
import torch
from torch import nn


class Regularised(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.register_buffer("u", torch.randn(2))

    def penalty(self):
        with torch.no_grad():
            v = nn.functional.normalize(self.fc.weight.t() @ self.u, dim=0)
            self.u.copy_(nn.functional.normalize(self.fc.weight @ v, dim=0))
        return self.u.clone() @ self.fc.weight @ v

    def forward(self, x):
        return self.fc(x)


model = Regularised()
for _ in range(6):
    (model(torch.randn(4, 2)).mean() + model.penalty()).backward()
""",
    ),
    (
        "spectral-regularisation-of-two-batches",
        """\
import torch
from torch import nn


class Regularised(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.register_buffer("u", torch.randn(2))

    def penalty(self):
        with torch.no_grad():
            v = nn.functional.normalize(self.fc.weight.t() @ self.u, dim=0)
            self.u.copy_(nn.functional.normalize(self.fc.weight @ v, dim=0))
        return self.u @ self.fc.weight @ v


model = Regularised()
(model.penalty() + model.penalty()).backward()
""",
    ),
    (
        "ring-of-buffers",
        """\
import torch

w = torch.randn(2, 2, requires_grad=True)
ring = [torch.zeros(2) for _ in range(3)]
for t in range(12):
    out = torch.tanh(sum(ring) @ w)
    out.sum().backward()
    ring[t % 3] = out.detach()
""",
    ),
    (
        "moving-average-of-the-loss",
        """\
import torch

w = torch.randn(2, requires_grad=True)
smooth = None
for step in range(30):
    loss = (w * step).pow(2).mean()
    value = loss.item()
    smooth = value if smooth is None else 0.9 * smooth + 0.1 * value
    loss.backward()
    if step % 10 == 9:
        print(f"{step}: {smooth:.4f}")
""",
    ),
    (
        "multi-task-with-shared-gradients",
        """\
import torch
from torch import nn

trunk, heads = nn.Linear(2, 3), nn.ModuleList([nn.Linear(3, 1) for _ in range(8)])
for step in range(10):
    features = torch.relu(trunk(torch.randn(4, 2)))
    losses = [head(features).pow(2).mean() for head in heads]
    for i, loss in enumerate(losses):
        loss.backward(retain_graph=i < len(losses) - 1)
""",
    ),
    (
        "multi-task-freed-too-early",
        """\
import torch
from torch import nn

trunk, heads = nn.Linear(2, 3), nn.ModuleList([nn.Linear(3, 1) for _ in range(8)])
for step in range(10):
    features = torch.relu(trunk(torch.randn(4, 2)))
    losses = [head(features).pow(2).mean() for head in heads]
    for i, loss in enumerate(losses):
        loss.backward(retain_graph=i == 0)
""",
    ),
    (
        "progressive-growing",
        """\
import torch
from torch import nn

blocks = nn.ModuleList([nn.Linear(2, 2)])
for stage in range(4):
    for step in range(3):
        x = torch.randn(4, 2)
        for block in blocks:
            x = torch.tanh(block(x))
        x.pow(2).mean().backward()
    blocks.append(nn.Linear(2, 2))
""",
    ),
    (
        "beam-of-hypotheses",
        """\
import torch
from torch import nn

cell, head = nn.GRUCell(2, 2), nn.Linear(2, 3)
for _ in range(3):
    beams = [(0.0, torch.zeros(1, 2))]
    for t in range(5):
        grown = []
        for score, state in beams:
            state = cell(torch.ones(1, 2), state)
            log_probs = head(state).log_softmax(-1)[0]
            grown += [(score + log_probs[k], state) for k in range(2)]
        beams = sorted(grown, key=lambda beam: float(beam[0].detach()), reverse=True)[:2]
    (-beams[0][0]).backward()
""",
    ),
]

# What `tests.generated` drew and the machine judged otherwise than PyTorch, made short.
SHRUNK: list[tuple[str, str]] = [
    (
        "copy-in-place-keeps-the-old-graph",
        """\
import torch

w = torch.ones(3, requires_grad=True)
state = torch.zeros(3)
for step in range(3):
    loss = (w.exp() * 2 + state).sum()
    loss.backward()
    state.copy_(w.exp())
""",
    ),
    (
        "copy-in-place-of-a-detached-tensor",
        """\
import torch

w = torch.ones(3, requires_grad=True)
state = torch.zeros(3)
for step in range(3):
    out = w.exp() + state
    out.sum().backward()
    state.copy_(out.detach())
""",
    ),
    (
        "filled-in-place-and-differentiated-again",
        """\
import torch

w = torch.ones(3, requires_grad=True)
memory = w.exp()
memory.sum().backward()
memory.fill_(1.0)
(memory + w).sum().backward()
""",
    ),
    (
        "output-of-an-rnn-cell-changed",
        """\
import torch

cell = torch.nn.RNNCell(3, 3)
h = cell(torch.randn(2, 3), torch.randn(2, 3))
h[0] = 0
h.mean().backward()
""",
    ),
    (
        "output-of-a-gru-cell-changed",
        """\
import torch

cell = torch.nn.GRUCell(3, 3)
h = cell(torch.randn(2, 3), torch.randn(2, 3))
h[0] = 0
h.mean().backward()
""",
    ),
    (
        "dropout-of-nothing-is-its-argument",
        """\
import torch
import torch.nn.functional as F

w = torch.ones(3, requires_grad=True)
a = w.tanh()
b = F.dropout(a, 0.0)
b.mul_(2)
b.sum().backward()
""",
    ),
    (
        "view-of-data-changed",
        """\
import torch

net = torch.nn.Linear(3, 3)
x = torch.randn(2, 3)
out = net(x)
turned = x.view(3, 2)
turned *= 0.5
out.sum().backward()
""",
    ),
    (
        "view-of-data-takes-history",
        """\
import torch

w = torch.ones(3, requires_grad=True)
rows = torch.zeros(2, 3)
first = rows[0]
first.add_(w.exp())
rows.sum().backward()
rows.sum().backward()
""",
    ),
    (
        "gradient-of-what-is-not-in-the-graph",
        """\
import torch

w = torch.ones(3, requires_grad=True)
other = torch.ones(3, requires_grad=True)
loss = w.exp().sum()
torch.autograd.grad(loss, other, allow_unused=True)
loss.backward()
""",
    ),
    (
        "gradient-of-what-is-in-the-graph",
        """\
import torch

w = torch.ones(3, requires_grad=True)
other = torch.ones(3, requires_grad=True)
loss = (w.exp() * other).sum()
torch.autograd.grad(loss, other)
loss.backward()
""",
    ),
    (
        "convolution-of-ones-own",
        """\
import torch
from torch import nn


class Causal(nn.Conv1d):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.left = self.dilation[0] * (self.kernel_size[0] - self.stride[0])

    def forward(self, signal):
        padded = nn.functional.pad(signal, (self.left, 0))
        return self._conv_forward(padded, self.weight, self.bias)


conv = Causal(1, 2, 3, dilation=2)
optimizer = torch.optim.SGD(conv.parameters(), lr=0.1)
head = nn.Conv1d(2, 1, 3)
out = conv(torch.randn(1, 1, 9).requires_grad_())
out.mean().backward(retain_graph=True)
head(out).mean().backward(retain_graph=True)
optimizer.step()
head(out).mean().backward()
""",
    ),
    (
        "class-of-a-dict",
        """\
import torch


class Batch(dict):
    pass


class Rows(list):
    def __init__(self, most):
        super().__init__()
        self.most = most


w = torch.ones(3, requires_grad=True)
rows = Rows(4)
for i in range(3):
    batch = Batch(scale=torch.randn(3))
    batch.update(out=w * batch["scale"])
    rows.append({**batch})
    batch["out"].sum().backward()
sum(row["out"].exp().sum() for row in rows).backward()
""",
    ),
    (
        "print-asks-the-class",
        """\
import torch


class Report:
    def __init__(self, loss):
        self.loss = loss

    def __str__(self):
        self.loss.backward()
        return "report"


w = torch.ones(3, requires_grad=True)
reports = [Report((w * w).sum()), Report((w * w).sum())]
print(reports)
print(reports[0])
print(f"{reports[1]}", "%s" % reports[1])
""",
    ),
    (
        "a-repr-inside-a-list",
        """\
import torch


class Report:
    def __init__(self, loss):
        self.loss = loss

    def __repr__(self):
        self.loss.backward()
        return "report"


w = torch.ones(3, requires_grad=True)
reports = {"first": [Report((w * w).sum())]}
print(reports)
"{0[first]}".format(reports)
""",
    ),
    (
        "numbers-and-formats-of-an-object",
        """\
import torch


class Value:
    def __init__(self, loss):
        self.loss = loss

    def __float__(self):
        self.loss.backward()
        return 1.0

    def __format__(self, spec):
        return "value"


w = torch.ones(3, requires_grad=True)
value = Value((w * w).sum())
print(f"{value:.3f}", "%s" % id(value), f"{value!r:>3}"[:1])
print("%.3f" % value)
print(float(value))
""",
    ),
    (
        "sorting-asks-the-class",
        """\
import torch


class Record:
    def __init__(self, loss):
        self.loss = loss

    def __lt__(self, other):
        self.loss.backward()
        return False


w = torch.ones(3, requires_grad=True)
records = [Record((w * w).sum()), Record((w * w).sum())]
sorted(records)
min(records)
""",
    ),
    (
        "the-key-of-an-order",
        """\
import torch


class Record:
    def __init__(self, loss):
        self.loss = loss

    def score(self):
        self.loss.backward()
        return self.loss.item()


w = torch.ones(3, requires_grad=True)
records = [Record((w * w).sum()), Record((w * w).sum())]
print(max(records, key=Record.score).loss.item())
records.sort(key=lambda record: record.score())
""",
    ),
    (
        "hashes-of-objects",
        """\
import torch


class Record:
    def __init__(self, loss):
        self.loss = loss

    def __hash__(self):
        self.loss.backward()
        return 1

    def __eq__(self, other):
        return self is other


w = torch.ones(3, requires_grad=True)
record = Record((w * w).sum())
print(record == record, record in [record])
seen = {record}
seen.add(record)
""",
    ),
    (
        "a-copy-that-the-class-makes",
        """\
import copy

import torch


class Record:
    def __init__(self, loss):
        self.loss = loss

    def __deepcopy__(self, memo):
        return Record(self.loss.detach())


w = torch.ones(3, requires_grad=True)
record = Record((w * w).sum())
copy.deepcopy([record])[0].loss.item()
copied = copy.copy(record)
copied.loss.backward()
record.loss.backward()
""",
    ),
    (
        "a-key-that-is-missing",
        """\
import torch


class Losses(dict):
    def __missing__(self, key):
        loss = (w * w).sum()
        self[key] = loss
        return loss


w = torch.ones(3, requires_grad=True)
losses = Losses()
losses["a"].backward()
losses["b"].backward()
losses["a"].backward()
""",
    ),
    (
        "methods-chosen-by-a-type",
        """\
import functools

import torch


class Report:
    def __init__(self, loss):
        self.loss = loss

    @functools.singledispatchmethod
    def show(self, k):
        return "other"

    @show.register
    def _(self, k: int):
        self.loss.backward()
        return "int"

    @show.register(str)
    def _(self, k):
        return self.loss.item()


w = torch.ones(3, requires_grad=True)
report = Report((w * w).sum())
report.show(None)
report.show("text")
report.show(1)
report.show(2)
""",
    ),
    (
        "a-method-with-given-arguments",
        """\
import functools

import torch


class Trainer:
    def step(self, loss, times):
        for _ in range(times):
            loss.backward()

    twice = functools.partialmethod(step, times=2)


w = torch.ones(3, requires_grad=True)
Trainer().step((w * w).sum(), 1)
Trainer().twice((w * w).sum())
""",
    ),
    (
        "groups-of-neighbours",
        """\
import itertools

import torch

w = torch.ones(3, requires_grad=True)
losses = [(w * w).sum(), (w * w).sum()]
for _, group in itertools.groupby(losses, key=lambda loss: loss.item() > 1):
    for loss in group:
        loss.backward()
losses[0].backward()
""",
    ),
    (
        "some-passes-end-early",
        """\
import torch

w = torch.ones(3, 3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
cell = torch.nn.Linear(3, 3)
trainer = torch.optim.SGD(cell.parameters(), lr=0.1)
h = torch.zeros(1, 3)
step = 0
while step < 9:
    step += 1
    if step == 1:
        continue
    out = cell(torch.tanh(h @ w))
    loss = h.sum() + (w * w).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    trainer.step()
    h = torch.tanh(out)
""",
    ),
]

PROGRAMS: list[tuple[str, str]] = [
    *LOOPS,
    *LONG_LOOPS,
    *BRANCHES,
    *FUNCTIONS,
    *CLASSES,
    *CONTAINERS,
    *GENERATORS,
    *EXCEPTIONS,
    *LANGUAGE,
    *GRAD_MODES,
    *DETACHING,
    *IN_PLACE,
    *MODULES,
    *OPTIMIZERS,
    *AUTOGRAD,
    *DATA,
    *SHRUNK,
]
