"""An old index of a scalar that is repaired: safe where the one spelling serves all that reads it."""

from __future__ import annotations

import textwrap

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

PROGRAM = """\
import json
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
kept, total, start = [torch.ones(())], 0, None
best = torch.tensor(9.0)
for step in range(3):
    loss = model(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
{body}
print(torch.stack(kept))
"""
NUMBER, TENSOR, COPY = ".item()`", ".detach()`", ".detach().clone()`"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("kept.append(loss.data[0])", [(TENSOR, True)]),
        ("print(round(loss.data[0], 3))", [(NUMBER, True)]),
        ("value = loss.data[0]\nkept.append(value)\nprint('%.3f' % value)", [(TENSOR, True)]),
        ("value = loss.data[0]\nbest = torch.min(best, value)\nprint(round(value, 3))", [(TENSOR, False)]),
        ("value = loss.data[0]\nkept.append(value)\nprint(json.dumps([value]))", [(TENSOR, False)]),
        ("value = loss.data[0]\nkept.append(value)\nprint(isinstance(value, float))", [(TENSOR, False)]),
        ("total += loss.data[0]\nkept.append(total)", [(TENSOR, False)]),
        ("start = start or loss.data[0]\nstart += 1\nkept.append(start)", [(COPY, False)]),
        ("kept.append(loss.data[0])\nloss.data.mul_(2)", [(COPY, True)]),
        ("print(loss.data[0].item())\nkept.append(loss.data[0])", [(NUMBER, True), (TENSOR, True)]),
        ("value = loss.data[0]\nprint(value.item(), loss.data[0])", [(TENSOR, True), (NUMBER, True)]),
        ("value = loss.data.numpy()[0]\nprint(value.round(2), loss.data[0])", [(NUMBER, False), (NUMBER, True)]),
    ],
)
def test_a_spelling_is_safe_where_it_serves_all_readers_of_that_value(
    body: str, expected: list[tuple[str, bool]]
) -> None:
    program = PROGRAM.format(body=textwrap.indent(body, "    "))
    result = check(Source.from_text(program, "program.py"), CheckOptions())
    fixes = [f.fix for f in result.findings if f.fix is not None]
    assert len(fixes) == len(expected)
    for fix, (ending, is_safe) in zip(fixes, expected, strict=True):
        assert fix.message.endswith(ending), fix.message
        assert (fix.why_unsafe is None) is is_safe, fix.message
