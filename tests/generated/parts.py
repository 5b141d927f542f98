"""What programs are made of: modules, helpers, states, accumulators and operations, as text."""

from __future__ import annotations

from dataclasses import dataclass

HEADER = """\
from collections import deque
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
"""


@dataclass(frozen=True, slots=True)
class Model:
    """`call` is "plain" (x to tensor), "embed", "cell" (x and state to state), or a statement for two results."""

    make: str
    call: str = "plain"
    definition: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """How a state is made, read, written, and cut off from its history."""

    make: str
    read: str
    write: str
    cut: str
    definition: str = ""


@dataclass(frozen=True, slots=True)
class Accumulator:
    """How it is made, how something is added, what is shown at the end, and a total that may be differentiated."""

    make: str
    add: str
    show: str
    total: str = ""
    definition: str = ""


MODELS: dict[str, Model] = {
    "linear": Model("nn.Linear(3, 3)"),
    "sequential": Model("nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Dropout(0.0), nn.Linear(3, 3))"),
    "net": Model(
        "Net()",
        definition="""\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])
        self.norm = nn.LayerNorm(3)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.norm(x)
""",
    ),
    "gru": Model("nn.GRUCell(3, 3)", "cell"),
    "rnn": Model("nn.RNNCell(3, 3)", "cell"),
    "cell": Model(
        "Cell()",
        "cell",
        """\
class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.eye(3))
        self.u = nn.Linear(3, 3, bias=False)

    def forward(self, x, h):
        return torch.tanh(x @ self.w + self.u(h))
""",
    ),
    "pair": Model(
        "Pair()",
        "{0}, {1} = {2}({3}, {4})",
        """\
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 3)
        self.out = nn.Linear(3, 3)

    def forward(self, x, h):
        h = self.cell(x, h)
        return self.out(h), h
""",
    ),
    "lstm": Model("nn.LSTMCell(3, 3)", "{0}, {1} = {2}({3}, ({4}, {4}))"),
    "heads": Model(
        "Heads()",
        "{1} = {2}({3} + {4})\n{0} = {1}['a']\n{1} = {1}['b']",
        """\
class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(3, 3)
        self.a = nn.Linear(3, 3)
        self.b = nn.Linear(3, 3)

    def forward(self, x):
        z = torch.tanh(self.trunk(x))
        return {"a": self.a(z), "b": self.b(z)}
""",
    ),
    "keeper": Model(
        "Keeper()",
        definition="""\
class Keeper(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.RNNCell(3, 3)
        self.h = None

    def forward(self, x):
        if self.h is None:
            self.h = torch.zeros(2, 3)
        h = self.cell(x, self.h)
        self.h = h.detach()
        return h
""",
    ),
    "forgetful": Model(
        "Forgetful()",
        definition="""\
class Forgetful(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 3)
        self.h = torch.zeros(2, 3)

    def forward(self, x):
        self.h = self.cell(x, self.h)
        return self.h
""",
    ),
    "embedding": Model("nn.Embedding(5, 3)", "embed"),
}

HELPERS: dict[str, str] = {
    "batches": """\
def batches(n):
    for _ in range(n):
        yield torch.randn(2, 3), torch.randn(2, 3)
""",
    "double": """\
def double(t):
    return t * 2
""",
    "compute": """\
def compute(out, target):
    error = out - target
    return (error * error).mean()
""",
    "regularised": """\
def regularised(out, target, weight=0.1):
    loss = F.mse_loss(out, target)
    penalty = out.abs().mean()
    return loss + weight * penalty
""",
    "learn": """\
def learn(loss, optimizers):
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
""",
    "repackage": """\
def repackage(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage(v) for v in h)
""",
}

ZEROS = "torch.zeros(2, 3)"

STATES: dict[str, State] = {
    "name": State(ZEROS, "{0}", "{0} = {1}", "{0} = {0}.detach()"),
    "list": State(f"[{ZEROS}, {ZEROS}]", "{0}[0]", "{0}[0] = {1}", "{0} = [t.detach() for t in {0}]"),
    "dict": State(f'{{"h": {ZEROS}}}', '{0}["h"]', '{0}["h"] = {1}', "{0} = {{k: v.detach() for k, v in {0}.items()}}"),
    "tuple": State(f"({ZEROS}, {ZEROS})", "{0}[0]", "{0} = ({1}, {0}[0])", "{0} = tuple(t.detach() for t in {0})"),
    "dataclass": State(
        f"Memory({ZEROS})",
        "{0}.h",
        "{0}.h = {1}",
        "{0}.h = {0}.h.detach()",
        """\
@dataclass
class Memory:
    h: torch.Tensor
    n: int = 0
""",
    ),
    "window": State(f"deque([{ZEROS}], maxlen=2)", "{0}[-1]", "{0}.append({1})", "{0}[-1] = {0}[-1].detach()"),
    "buffer": State(ZEROS, "{0}", "{0}.copy_({1})", "{0} = {0}.detach()"),
    "rows": State(ZEROS, "{0}", "{0} = {0}.clone()\n{0}[0] = ({1})[0]", "{0} = {0}.data"),
    "undone": State(ZEROS, "{0}", "{0} = {1}", "{0}.detach_()"),
}

ACCUMULATORS: dict[str, Accumulator] = {
    "number": Accumulator("0.0", "{0} += {1}", "float({0})", "{0}"),
    "sum": Accumulator("0.0", "{0} = {0} + {1}", "{0}", "{0} * 2"),
    "tensor": Accumulator("torch.zeros(())", "{0} = {0} + {1}", "{0}.item()", "{0}"),
    "in-place": Accumulator("torch.zeros(())", "{0} += {1}", "{0}.item()", "{0}"),
    "list": Accumulator("[]", "{0}.append({1})", "len({0})", "sum({0})"),
    "listed": Accumulator("[]", "{0} += [{1}]", "sum({0}) / max(len({0}), 1)"),
    "rows": Accumulator("[]", "{0}.append((step, {1}))", "[v for _, v in {0}][-1:]"),
    "dict": Accumulator('{"loss": 0.0}', '{0}["loss"] += {1}', '{0}["loss"]', '{0}["loss"]'),
    "history": Accumulator('{"loss": []}', '{0}["loss"].append({1})', 'len({0}["loss"])', 'sum({0}["loss"])'),
    "slots": Accumulator("{}", "{0}[step] = {1}", "len({0})"),
    "recent": Accumulator("deque(maxlen=2)", "{0}.append({1})", "len({0})"),
    "moving": Accumulator("None", "{0} = {1} if {0} is None else 0.9 * {0} + 0.1 * {1}", "{0}"),
    "best": Accumulator("[]", "{0}.append({1})\ndel {0}[:-2]", "len({0})"),
    "last": Accumulator("None", "{0} = {1}", "{0}"),
    "meter": Accumulator(
        "Meter()",
        "{0}.update({1})",
        "{0}.total / max({0}.n, 1)",
        "{0}.total",
        """\
class Meter:
    def __init__(self):
        self.total = 0.0
        self.n = 0

    def update(self, value):
        self.total = self.total + value
        self.n += 1
""",
    ),
}

MIXES: dict[str, str] = {
    "tanh": "torch.tanh({0})",
    "add": "{0} + {1}",
    "scale": "{0} * 0.5",
    "mul": "{0} * {1}",
    "relu": "torch.relu({0})",
    "sigmoid": "{0}.sigmoid()",
    "detach": "{0}.detach()",
    "sub-detached": "{0} - {1}.detach()",
    "clone": "{0}.clone()",
    "view": "{0}.reshape(3, 2).t()",
    "cat": "torch.cat([{0}[:1], {1}[1:]])",
    "stack": "torch.stack([{0}, {1}]).mean(0)",
    "where": "torch.where({0} > 0, {0}, {1})",
    "chunk": "{0}.chunk(2)[0].repeat(2, 1)",
    "index": "{0}[:, [2, 1, 0]]",
    "dropout": "F.dropout({0}, 0.0)",
    "softmax": "F.softmax({0}, dim=1)",
    "lambda": "(lambda t: t * 3)({0})",
    "double": "double({0})",
    "comprehension": "torch.stack([row + 1 for row in {0}])",
    "closure": "sum(t * 0.5 for t in ({0}, {1}))",
}

LOSSES: dict[str, str] = {
    "mse": "F.mse_loss({0}, y)",
    "square": "({0} ** 2).mean()",
    "sum": "{0}.sum()",
    "mean": "{0}.mean()",
    "abs": "({0} - y).abs().mean()",
    "smooth": "F.smooth_l1_loss({0}, y)",
    "compute": "compute({0}, y)",
    "regularised": "regularised({0}, y)",
    "criterion": "nn.MSELoss()({0}, y)",
    "logsumexp": "torch.logsumexp({0}, 1).mean()",
}
