"""`async` as an ordinary name, as before Python 3.7."""

from __future__ import annotations

import ast

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.old_names import MESSAGE, first_line, parsed, readable
from autodetach.source import Source

TRAINS = """\
import torch
from torch import nn

net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0.0
for x in torch.randn(3, 2, 4):
    x = x.cuda(async=True)  # async: beside what is computed
    loss = net(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.data[0]
print("async=", total)
"""


def test_a_keyword_argument_is_read_and_said_to_be_old() -> None:
    result = check(Source.from_text(TRAINS, "program.py"), CheckOptions())
    (finding,) = result.findings
    assert finding.code == "AD401"
    assert finding.fix is not None
    (problem,) = result.problems
    assert (problem.message, problem.line, problem.partial) == (MESSAGE, 8, True)


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("f(async=True)\n", "f(other=True)\n"),
        ("x = [async.get() for async in given]\n", "x = [other.get() for other in given]\n"),
        ("def f(async):\n    return async\n", "def f(other):\n    return other\n"),
        ("m.async = 'async'\r\nm . async\r\n", "m.other = 'async'\r\nm . other\r\n"),
        ("def f():\n    global async\n    async = 1\n", "def f():\n    global other\n    other = 1\n"),
        ('f(\n    """\x0c\n""", async=1)\n', 'f(\n    """\x0c\n""", other=1)\n'),
    ],
)
def test_the_tree_is_that_of_another_name(text: str, new: str) -> None:
    tree = ast.parse(new)
    assert ast.dump(parsed(text)) == ast.dump(tree).replace("other", "async")
    assert len(readable(text)) == len(text)
    assert first_line(parsed(text)) is not None


@pytest.mark.parametrize(
    "text",
    [
        "async def f():\n    async with a:\n        pass\n    async for x in y:\n        pass\n",
        "s = 'x.cuda(async=True)'  # async=True\n",
    ],
)
def test_what_python_reads_is_left_alone(text: str) -> None:
    assert readable(text) == text
    assert ast.dump(parsed(text)) == ast.dump(ast.parse(text))
    assert first_line(parsed(text)) is None


@pytest.mark.parametrize("text", ["f(async=)\n", "print 'x', f(async=True)\n", "f(async=True\n", "'''async=1\n"])
def test_any_other_error_is_told_as_it_is(text: str) -> None:
    with pytest.raises(SyntaxError) as expected:
        ast.parse(text)
    with pytest.raises(SyntaxError) as told:
        parsed(text)
    assert told.value.args == expected.value.args
