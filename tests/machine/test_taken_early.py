"""Losses that are taken of a generator which yields a text behind them: nobody knows whether a program comes so far."""

from __future__ import annotations

import textwrap

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

HEAD = """\
import contextlib
import itertools
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.randn(100, 8, 4)
names = [str(number) for number in range(101)]


def losses():
    for x in data:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        yield loss
{end}

def main():
    kept, source = [], losses()
{loop}
    return len(kept)


print(main())
"""
LOOPS = {
    "zip": "for name, loss in zip(names, source):",
    "zip-behind-enumerate": "for i, (name, loss) in enumerate(zip(names, source)):",
    "filter": "for loss in filter(None, source):",
    "takewhile": "for loss in itertools.takewhile(lambda loss: True, source):",
    "filterfalse": "for loss in itertools.filterfalse(lambda loss: False, source):",
    "map": "for loss in map(lambda loss: loss, source):",
    "islice": "for loss in itertools.islice(source, 101):",
    "islice-of-the-rest": "for loss in itertools.islice(source, len(names)):",
    "next": "for _ in names:\n        loss = next(source)",
    "send": "for _ in names:\n        loss = source.send(None)",
}
KEEPING = "    {}\n        kept.append(loss)"
ASKING = "    {}\n        print(loss.item())\n        kept.append(loss)"


def _told(end: str, loop: str) -> list[tuple[str, str | None]]:
    source = Source.from_bytes(HEAD.format(end=end, loop=loop).encode(), "program.py")
    found = check(source, CheckOptions(alternatives=False)).findings
    return [(f.code, f.fix and f.fix.applicability.value) for f in found]


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_a_text_at_the_end_is_asked_for_nothing(loop: str) -> None:
    assert _told('    yield "done"\n', KEEPING.format(loop)) == [("AD102", "unsafe")]


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_losses_alone_are_losses(loop: str) -> None:
    assert _told("", KEEPING.format(loop)) == [("AD102", "safe")]


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_what_the_program_asks_itself_is_a_tensor(loop: str) -> None:
    assert _told('    yield "done"\n', ASKING.format(loop)) == [("AD102", "safe")]


GOING_ON = {
    "for-else": "for x in data:\n    yield step(x)\nelse:\n    yield 'done'",
    "finally": "try:\n    for x in data:\n        yield step(x)\nfinally:\n    yield 'done'",
    "in-else": "if len(data) == 0:\n    return\nelse:\n    for x in data:\n        yield step(x)\n    yield 'done'",
    "behind-if": "if len(data):\n    for x in data:\n        yield step(x)\nyield 'done'",
    "yield-from": "yield from map(step, data)\nyield 'done'",
    "return": """\
batches = iter(data)
while True:
    x = next(batches, None)
    if x is None:
        yield "done"
        return
    yield step(x)""",
    "break": """\
batches = iter(data)
while True:
    try:
        x = next(batches)
    except StopIteration:
        yield "done"
        break
    yield step(x)""",
}
ALIKE = {
    "two-loops": "for x in data[:20]:\n    yield step(x)\nfor y in data[20:]:\n    yield step(y)",
    "branches": "for x in data:\n    if x[0, 0] > 0:\n        yield step(x)\n    else:\n        yield step(-x)",
    "last-batch": "for x in data:\n    if x is data[-1]:\n        yield step(x)\n        return\n    yield step(x)",
}
STEP = """\
def step(x):
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss


def losses():
"""
MAIN = """

def main():
    kept, source = [], losses()
{loop}
    return len(kept)


print(main())
"""


def _told_of(generator: str, loop: str) -> list[tuple[str, str | None]]:
    head = HEAD[: HEAD.index("def losses")]
    text = head + STEP + textwrap.indent(generator, "    ") + "\n" + MAIN.format(loop=loop)
    found = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions(alternatives=False)).findings
    return [(f.code, f.fix and f.fix.applicability.value) for f in found]


@pytest.mark.parametrize("generator", GOING_ON.values(), ids=GOING_ON)
def test_whatever_way_a_generator_goes_on(generator: str) -> None:
    assert _told_of(generator, KEEPING.format(LOOPS["next"])) == [("AD102", "unsafe")]


@pytest.mark.parametrize("generator", ALIKE.values(), ids=ALIKE)
def test_what_is_yielded_behind_may_be_of_the_same_kind(generator: str) -> None:
    assert _told_of(generator, KEEPING.format(LOOPS["next"])) == [("AD102", "safe")]


GUARDED = {
    "branch": "if isinstance(loss, torch.Tensor):\n    print(loss.item())\n    kept.append(loss)",
    "is-tensor": "if torch.is_tensor(loss):\n    kept.append(loss)",
    "jump": "if not isinstance(loss, torch.Tensor):\n    break\nkept.append(loss)",
    "handler-that-jumps": "try:\n    print(loss.item())\nexcept AttributeError:\n    break\nkept.append(loss)",
    "other-handler": "try:\n    print(loss.item())\nexcept ValueError:\n    pass\nkept.append(loss)",
    "assert": "assert isinstance(loss, torch.Tensor)\nkept.append(loss)",
}
DOUBTED = {
    "behind": "if isinstance(loss, torch.Tensor):\n    print(loss.item())\nkept.append(loss)",
    "behind-is-tensor": "if torch.is_tensor(loss):\n    print(loss.item())\nkept.append(loss)",
    "behind-type": "if type(loss) is torch.Tensor:\n    print(loss.item())\nkept.append(loss)",
    "behind-choice": "print(loss.item() if isinstance(loss, torch.Tensor) else loss)\nkept.append(loss)",
    "text-as-well": "if isinstance(loss, (torch.Tensor, str)):\n    kept.append(loss)",
    "handler": "try:\n    print(loss.item())\nexcept AttributeError:\n    print(loss)\nkept.append(loss)",
    "handler-of-all": "try:\n    print(loss.item())\nexcept Exception:\n    pass\nkept.append(loss)",
    "suppressed": "with contextlib.suppress(AttributeError):\n    print(loss.item())\nkept.append(loss)",
    "no-jump": "if not isinstance(loss, torch.Tensor):\n    print(loss)\nkept.append(loss)",
}


def _told_behind_test(body: str, end: str) -> list[tuple[str, str | None]]:
    loop = "    for name, loss in zip(names, source):\n" + textwrap.indent(body, " " * 8)
    return _told(end, loop)


@pytest.mark.parametrize("body", GUARDED.values(), ids=GUARDED)
def test_what_a_test_of_the_type_guards_is_a_tensor(body: str) -> None:
    assert _told_behind_test(body, '    yield "done"\n') == [("AD102", "safe")]


@pytest.mark.parametrize("body", DOUBTED.values(), ids=DOUBTED)
def test_a_test_of_the_type_says_nothing_of_what_stands_behind_it(body: str) -> None:
    assert _told_behind_test(body, '    yield "done"\n') == [("AD102", "unsafe")]


WRAPPERS = {
    "yield-from": "def wrapped():\n    yield from losses()",
    "loop": "def wrapped():\n    for loss in losses():\n        yield loss",
    "pairs": "def wrapped():\n    for number, loss in enumerate(losses()):\n        yield loss",
    "given": "def each(of):\n    for loss in of:\n        yield loss\n\ndef wrapped():\n    return each(losses())",
    "twice": "def inner():\n    yield from losses()\n\ndef wrapped():\n    yield from inner()",
    "object": "class Run:\n    def __iter__(self):\n        yield from losses()\n\nwrapped = Run",
}
SIFTED = """\
def wrapped():
    for loss in losses():
        if isinstance(loss, torch.Tensor):
            yield loss"""


def _told_behind(wrapper: str, end: str) -> list[tuple[str, str | None]]:
    text = HEAD.replace("losses()\n{loop}", "iter(wrapped())\n{loop}").replace("def main", wrapper + "\n\ndef main")
    source = Source.from_bytes(text.format(end=end, loop=KEEPING.format(LOOPS["next"])).encode(), "program.py")
    found = check(source, CheckOptions(alternatives=False)).findings
    return [(f.code, f.fix and f.fix.applicability.value) for f in found]


@pytest.mark.parametrize("wrapper", WRAPPERS.values(), ids=WRAPPERS)
def test_who_hands_on_what_a_generator_yields_hands_on_its_text(wrapper: str) -> None:
    assert _told_behind(wrapper, '    yield "done"\n') == [("AD102", "unsafe")]
    assert _told_behind(wrapper, "") == [("AD102", "safe")]


def test_who_hands_on_tensors_alone_hands_on_no_text() -> None:
    assert _told_behind(SIFTED, '    yield "done"\n') == [("AD102", "safe")]
