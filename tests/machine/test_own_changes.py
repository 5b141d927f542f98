"""Whether a program may change parameters itself: by whatever word, and by whatever way they come to hand."""

from __future__ import annotations

import ast

import pytest
from calls import calls_of

from autodetach.machine.own_changes import may_change_parameters

NETWORKS = """
import copy, operator
import numpy as np
import torch
from torch import nn

teacher, student = nn.Linear(3, 3), nn.Linear(3, 3)
optimizer = torch.optim.SGD([*teacher.parameters(), *student.parameters()], lr=0.1)
losses, history, total, batch = [], {}, 0.0, torch.randn(4, 3)
"""

CHANGES = (
    "for p, q in zip(student.parameters(), teacher.parameters()): q.data = 0.9 * q.data + 0.1 * p.data",
    "for p in teacher.parameters(): p.data *= 0.9",
    "for p in teacher.parameters(): p.data.clamp_(-1, 1)",
    "for p in teacher.parameters(): p.detach().numpy()[...] = 0",
    "for p in teacher.parameters(): np.multiply(p.detach().numpy(), 0.9, out=p.detach().numpy())",
    "for p in teacher.parameters(): np.copyto(p.detach().numpy(), 0)",
    "for p in teacher.parameters(): p.detach().numpy().fill(0)",
    "views = [p.detach().numpy() for p in teacher.parameters()]\nfor v in views: v *= 0.9",
    "views = []\nfor p in teacher.parameters(): views.append(p.detach().numpy())\nfor v in views: v[:] = 0",
    "def blend(a, b):\n    a[:] = b\nfor p in teacher.parameters(): blend(p.data, torch.zeros(3))",
    "def shrink(p):\n    p[:] = 0.9 * p\nlist(map(shrink, teacher.parameters()))",
    "def weights(net):\n    yield net.weight.detach()\nfor w in weights(teacher): w[:] = 0",
    "class Average:\n    def __init__(self, rows):\n        self.rows = rows\n    def update(self):\n"
    "        for row in self.rows: row[:] = 0\nAverage(list(teacher.parameters())).update()",
    "teacher.apply(lambda layer: operator.imul(layer.weight, 0.9))",
    "teacher._apply(lambda p: 0.9 * p)",
    "teacher.load_state_dict(student.state_dict())",
    "for name, value in teacher.state_dict().items(): value[:] = 0",
    "torch._foreach_mul_(list(teacher.parameters()), 0.9)",
    "torch.utils.swap_tensors(teacher.weight, student.weight)",
    "nn.utils.vector_to_parameters(torch.zeros(12), teacher.parameters())",
    "while True: teacher.weight = nn.Parameter(student.weight.detach().clone())",
    "def renew():\n    teacher._parameters['weight'] = student.weight\nwhile True: renew()",
    "for _ in range(3): teacher = copy.deepcopy(student)",
    "for _ in range(3): teacher.to(torch.bfloat16)",
    "for _ in range(3):\n    nn.init.normal_(teacher.weight)\n    student(batch).sum().backward()",
    "def draw(layer):\n    nn.init.normal_(layer.weight)\n"
    "while True:\n    teacher.apply(draw)\n    student(batch).sum().backward()",
    "class Noise(nn.Module):\n    def forward(self, x):\n"
    "        nn.init.normal_(self.scale)\n        return x * self.scale\n"
    "class Head(nn.Module):\n    def forward(self, x):\n        return self.layer(x)\n"
    "for x in batch: Head()(x).sum().backward()",
    "def learn():\n    student(batch).sum().backward()\n"
    "def step():\n    teacher.reset_parameters()\n    learn()\nfor _ in range(3): step()",
    "kept = torch.zeros(3)\nteacher.scale = nn.Parameter(kept)\nkept[0] = 1",
)

NO_CHANGES = (
    "for layer in (teacher, student): layer.reset_parameters()\nfor x in batch: student(x).sum().backward()",
    "for layer in (teacher, student): nn.init.normal_(layer.weight)",
    "losses.append(student(batch).sum().item())",
    "history['loss'] = student(batch).sum().item()",
    "total += student(batch).sum().item()",
    "batch[batch < 0] = 0",
    "batch.clamp_(0, 1)",
    "nn.utils.clip_grad_norm_(teacher.parameters(), 1.0)",
    "size = sum(p.numel() for p in teacher.parameters())",
    "class Head(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.scale = nn.Parameter(torch.ones(3))\n    def forward(self, x):\n        return self.scale * x",
    "def prepare(net):\n    net.to('cpu')\n    return copy.deepcopy(net)\nteacher = prepare(student)",
    "torch.save(teacher.state_dict(), 'teacher.pt')",
)


@pytest.mark.parametrize("text", CHANGES)
def test_what_changes_parameters(text: str) -> None:
    assert may_change_parameters(ast.parse(NETWORKS + text))


@pytest.mark.parametrize("text", NO_CHANGES)
def test_what_changes_none(text: str) -> None:
    assert not may_change_parameters(ast.parse(NETWORKS + text))


def test_calls_grow_with_length() -> None:
    """Each function has a loop, and mentions the next one: all of them are reached from each loop."""

    def calls(count: int) -> int:
        ring = (f"def f{k}(a):\n    for i in a: f{(k + 1) % count}(a[i] + {k})\n" for k in range(count))
        tree = ast.parse("".join(ring) + "for x in batch: student(x).sum().backward()")
        return calls_of(lambda: may_change_parameters(tree))

    assert calls(80) < 2.2 * calls(40)
