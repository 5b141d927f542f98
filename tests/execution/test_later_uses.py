"""What a safe repair makes a number, or detaches, is still good for all that follows: PyTorch runs both programs."""

from __future__ import annotations

import contextlib
import io
import warnings
from itertools import product

import pytest

from autodetach.checks import CheckOptions
from autodetach.fixing import fix
from autodetach.source import Source

PROGRAM = """
import copy, json, math, statistics
from collections import defaultdict, deque
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
{begin}
for step in range(6):
    x = torch.randn(8, 4)
    loss = model(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    {taken}
def show(v):
    return v.item()
{use}
"""
SUMS = {
    "name": ("t = 0", "t += loss", "t"),
    "tensor": ("t = torch.tensor(0.0)", "t = t + loss", "t"),
    "dict": ("d = defaultdict(float)", "d['loss'] += loss", "d['loss']"),
    "average": ("e = None", "e = loss if e is None else 0.9 * e + 0.1 * loss", "e"),
    "lerp": ("e = torch.zeros(())", "e = torch.lerp(e, loss, 0.1)", "e"),
    "meter": (
        "class M:\n    t = 0.0\n    def update(self, v, n):\n        self.t += v * n\nm = M()",
        "m.update(loss, 4)",
        "m.t",
    ),
}
USES_OF_SUMS = """
V.item()
'%.3f' % V
float(V)
V.cpu().item()
V.detach().numpy()
V.shape
(V / 12).item()
(V > 0).item()
(V != V).any().item()
(-V).item()
abs(V).item()
math.sqrt(V)
V.exp().item()
V.reshape(1).tolist()
V.expand(2).tolist()
torch.sqrt(V).item()
torch.isnan(V).item()
torch.any(V > 0).item()
torch.where(V > 1, V, torch.zeros(())).item()
torch.stack([V, V]).tolist()
torch.stack((torch.ones(()), V)).tolist()
torch.cat([V.view(1), torch.ones(1)]).tolist()
torch.maximum(V, torch.ones(())).item()
torch.maximum(torch.ones(()), V).item()
torch.einsum(',->', V, V).item()
torch.tensor(V).item()
torch.is_tensor(V) or V
torch.ones(2).add(V).tolist()
torch.ones(2).fill_(V).tolist()
torch.full((2,), float(V)).tolist()
max(V, torch.tensor(1.0)).item()
min([V, torch.ones(())]).item()
sum([V, V]).item()
nn.ReLU()(V).item()
nn.functional.relu(V).item()
nn.functional.mse_loss(torch.ones(()), V).item()
getattr(V, 'item')()
[v.item() if hasattr(v, 'item') else v for v in [V]]
{k: v.item() for k, v in {'loss': V}.items()}
list(map(show, [V]))
(lambda v: v.item())(V)
json.dumps({'loss': float(V)})
np.mean([V.item()])
show(copy.copy(V))
""".strip().splitlines()
STORES = {
    "list": ("L = []", "L.append(loss)", "L"),
    "deque": ("L = deque(maxlen=100)", "L.append(loss)", "L"),
    "dict": ("h = defaultdict(list)", "h['loss'].append(loss)", "h['loss']"),
    "object": ("class H:\n    def __init__(self):\n        self.seen = []\nh = H()", "h.seen += [loss * 2]", "h.seen"),
    "display": ("L = []", "L = [*L, loss]", "L"),
}
USES_OF_STORES = """
[v.item() for v in V]
torch.stack(list(V)).mean().item()
torch.cat([v.view(1) for v in V]).tolist()
torch.tensor(list(V)).tolist()
torch.stack(list(V)).numel()
sum(V).item()
(sum(V) / len(V)).item()
max(V).item()
[float(v) for v in V]
V[-1].item()
(V[-1] - V[0]).item()
V[0].shape
'%.3f' % V[0]
sorted(V, key=show)[0].item()
list(map(torch.Tensor.item, V))
any(torch.isnan(v) for v in V)
[v.detach().numpy() for v in V][0]
statistics.mean(float(v) for v in V)
np.array([v.detach().numpy() for v in V]).mean()
torch.histc(torch.stack(list(V)), bins=3).tolist()
[show(v) * i for i, v in enumerate(V)]
len(V)
""".strip().splitlines()
CASES = [
    *((f"sum in a {kind}: {use}", *how, use) for (kind, how), use in product(SUMS.items(), USES_OF_SUMS)),
    *((f"stored in a {kind}: {use}", *how, use) for (kind, how), use in product(STORES.items(), USES_OF_STORES)),
]


def output_of(text: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, "train.py", "exec"), {"__name__": "__main__"})
    return printed.getvalue()


@pytest.mark.parametrize(("begin", "taken", "name", "use"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_it_runs(begin: str, taken: str, name: str, use: str) -> None:
    text = PROGRAM.format(begin=begin, taken=taken, use=f"print({use.replace('V', name)})")
    before = output_of(text)
    result = fix(Source.from_text(text, "train.py"), CheckOptions(), unsafe=False)
    assert result.applied
    after = output_of(result.source.text)
    assert len(before.splitlines()) == len(after.splitlines())


@pytest.mark.parametrize("use", ["V.is_leaf", "V.requires_grad", "V.grad_fn is None"])
@pytest.mark.parametrize("kind", SUMS)
def test_the_answer_stays(kind: str, use: str) -> None:
    """Where the program asks what a repair changes, there is no safe repair of that."""
    begin, taken, name = SUMS[kind]
    text = PROGRAM.format(begin=begin, taken=taken, use=f"print({use.replace('V', name)})")
    result = fix(Source.from_text(text, "train.py"), CheckOptions(), unsafe=False)
    assert output_of(result.source.text) == output_of(text)
