"""As the folder `programs`: records and weak references. (name, source), judged by running them."""

from __future__ import annotations

RECORDS: list[tuple[str, str]] = []

HEAD = """\
import dataclasses
import weakref
from collections import namedtuple
from dataclasses import dataclass, field, fields
from typing import ClassVar, NamedTuple

import torch
from torch import nn

w = torch.randn(2, 2, requires_grad=True)


@dataclass(frozen=True)
class State:
    h: torch.Tensor
    c: torch.Tensor


Pair = namedtuple("Pair", "h c")


"""


def program(name: str, source: str) -> None:
    RECORDS.append((name, HEAD + source.lstrip("\n")))


# ---- dataclasses

LOOP = """
state = State(torch.ones(2), torch.ones(2))
for _ in range(3):
    state = State(torch.tanh(state.h @ w), torch.sigmoid(state.c @ w))
    (state.h * state.c).sum().backward()
    state = {}
"""

for case, expression in (
    (
        "all-fields-replaced",
        "dataclasses.replace(state, **{f.name: getattr(state, f.name).detach() for f in fields(state)})",
    ),
    (
        "one-of-the-fields-replaced",
        "dataclasses.replace(state, **{f.name: getattr(state, f.name).detach() for f in fields(state)[1:]})",
    ),
    ("fields-of-the-class", "State(*[getattr(state, f.name).detach() for f in dataclasses.fields(State)])"),
    ("fields-that-stay", "State(*[getattr(state, f.name) for f in dataclasses.fields(State)])"),
    ("all-attributes", "State(**{k: v.detach() for k, v in vars(state).items()})"),
    ("all-attributes-that-stay", "State(**vars(state))"),
):
    program(f"record-{case}", LOOP.format(expression))

program(
    "many-fields-are-each-cut",
    """
Wide = dataclasses.make_dataclass("Wide", [f"f{i}" for i in range(12)])
state = Wide(*[torch.ones(2) for _ in range(12)])
for _ in range(2):
    state = Wide(*[torch.tanh(getattr(state, f.name) @ w) for f in dataclasses.fields(state)])
    sum(getattr(state, f.name).sum() for f in dataclasses.fields(state)).backward()
    for f in dataclasses.fields(state):
        setattr(state, f.name, getattr(state, f.name).detach())
""",
)
program(
    "a-dict-of-a-record-copies-its-leaves",
    """
@dataclass
class Pack:
    inner: State
    tensors: list


pack = Pack(State(w, w * 1), [torch.ones(2)])
pack = dataclasses.replace(pack, inner=State(w, torch.ones(2)))
for _ in range(2):
    copied = dataclasses.asdict(pack)
    (copied["inner"]["h"] * copied["tensors"][0]).sum().backward()
loss = (pack.inner.h * 2).exp().sum()
for _ in range(2):
    loss.backward()
""",
)
program(
    "what-the-constructor-is-given-and-what-it-makes",
    """
@dataclass
class Cell:
    kind: ClassVar[str] = "cell"
    scale: dataclasses.InitVar[float]
    weight: torch.Tensor
    seen: list = field(default_factory=list, init=False)
    scaled: torch.Tensor = field(init=False)

    def __post_init__(self, scale):
        self.scaled = (self.weight * scale).exp()


cell = Cell(2.0, w)
cell.scaled.sum().backward()
cell = dataclasses.replace(cell, scale=3.0)
cell.scaled.sum().backward()
cell.scaled.sum().backward()
""",
)
program(
    "made-anew-where-a-field-is-replaced",
    """
@dataclass
class Kernel:
    raw: torch.Tensor
    kernel: torch.Tensor = field(init=False)

    def __post_init__(self):
        self.kernel = torch.softmax(self.raw, 0)


kernel = Kernel(w)
for step in range(3):
    kernel = dataclasses.replace(kernel)
    kernel.kernel[0].sum().backward()
""",
)
program(
    "constructor-of-a-base",
    """
class Named(State):
    def cut(self):
        return type(self)(self.h.detach(), c=self.c.detach())


state = Named(torch.ones(2), torch.ones(2))
for step in range(3):
    state = Named(torch.tanh(state.h @ w), torch.sigmoid(state.c @ w))
    (state.h * state.c).sum().backward()
    state = state.cut() if step == 0 else state
""",
)
program(
    "fields-by-name-only",
    """
@dataclass
class Opts:
    a: torch.Tensor
    _: dataclasses.KW_ONLY
    b: torch.Tensor = None
    c: float = 1.0


opts = Opts(w * 2, b=(w * 3).exp(), c=2.0)
assert opts.c == 2.0
opts.a.sum().backward()
opts.b.sum().backward()
opts.a.sum().backward()
""",
)

# ---- named tuples

NAMED = """
state = Pair(torch.ones(2), torch.ones(2))
for _ in range(3):
    state = Pair(torch.tanh(state.h @ w), torch.sigmoid(state.c @ w))
    (state.h * state.c).sum().backward()
    state = {}
"""

for case, expression in (
    ("made-of-cut-parts", "Pair._make(t.detach() for t in state)"),
    ("made-of-its-parts", "Pair._make(state)"),
    ("replaced-by-name", "state._replace(**{k: v.detach() for k, v in state._asdict().items()})"),
    ("replaced-in-one-name", 'state._replace(**{k: v.detach() for k, v in state._asdict().items() if k == "h"})'),
    ("made-of-its-names", "Pair(**{name: getattr(state, name).detach() for name in Pair._fields})"),
    ("made-of-its-names-that-stay", "Pair(**{name: getattr(state, name) for name in state._fields})"),
):
    program(f"named-tuple-{case}", NAMED.format(expression))

# ---- weak references

CACHE = """
class Cached(nn.Module):
    def __init__(self):
        super().__init__()
        self.raw = nn.Parameter(torch.ones(2))
        self.made = {{}}

    def weight(self):
        if "w" not in self.made:
            self.made["w"] = torch.exp(self.raw)
        return self.made["w"]

    def forget(self):
        self.made.clear()


net = Cached()
{}
for _ in range(3):
    (net.weight() * 2).sum().backward()
    {}
"""

for case, before, behind in (
    ("called", "ref = weakref.ref(net)", "ref() is None or ref().made.clear()"),
    ("only-looked-at", "ref = weakref.ref(net)", "ref() is None and net.forget()"),
    ("proxy", "ref = weakref.proxy(net)", "ref.forget()"),
    ("of-a-method", "ref = weakref.WeakMethod(net.forget)", "ref()()"),
    ("in-a-set", "nets = weakref.WeakSet([net])", "[n.forget() for n in nets]"),
    ("in-an-empty-set", "nets = weakref.WeakSet()", "[n.forget() for n in nets]"),
    ("under-a-name", 'nets = weakref.WeakValueDictionary({"net": net})', 'nets["net"].forget()'),
    ("as-a-key", "nets = weakref.WeakKeyDictionary()\nnets[net] = net.made", "nets[net].clear()"),
    ("as-a-key-of-a-state", "nets = weakref.WeakKeyDictionary()", 'nets[net] = net.made["w"]'),
):
    program(f"weak-{case}", CACHE.format(before, behind))

program(
    "state-under-a-weak-key",
    """
cell = nn.Linear(2, 2)
states = weakref.WeakKeyDictionary()
states[cell] = torch.ones(2)
for _ in range(2):
    states[cell] = torch.tanh(cell(states[cell]))
    states[cell].sum().backward()
""",
)
