"""Where a program goes on behind an error, what is repaired there changes what it has done: no repair is safe."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.source import Source

HEAD = """\
import asyncio, contextlib, unittest
from concurrent.futures import ThreadPoolExecutor
import torch
from torch import nn
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
log = []
class Quiet:
    def __enter__(self):
        return self
    def __exit__(self, kind, error, trace):
        return True
@contextlib.contextmanager
def guard():
    try:
        yield
    except Exception as error:
        print(error)
@contextlib.contextmanager
def left():
    try:
        yield
    finally:
        return
@contextlib.contextmanager
def timed():
    try:
        yield
    except Exception:
        print("failed")
        raise
    finally:
        print("over")
def step():
    out = net(torch.randn(3, 4)).exp()
    loss = out.mean()
    optimizer.zero_grad()
    FAULT
    optimizer.step()
"""
FAULTS = {
    "AD201": "loss.backward(); out.var().backward()",
    "AD401": "loss.backward(); log.append(loss.data[0])",
    "AD403": "loss.backward(retain_variables=True)",
}
TOLD_ALL_THE_SAME = frozenset({"AD401", "AD403"})
"""What raises there for a broad handler, too, may as well be a program that is old: told, and unsafe."""
SWALLOWED = {
    "except": "try:\n    step()\nexcept Exception as error:\n    print(error)",
    "context": "with Quiet():\n    step()",
    "generator": "with guard():\n    step()",
    "generator left by finally": "with left():\n    step()",
    "generator in a generator": (
        "@contextlib.contextmanager\ndef outer():\n    with guard():\n        yield\nwith outer():\n    step()"
    ),
    "decorated by a generator": "@guard()\ndef decorated():\n    step()\ndecorated()",
    "suppressed by name": "quiet = contextlib.suppress(Exception)\nwith quiet:\n    step()",
    "stack": "with contextlib.ExitStack() as stack:\n    stack.enter_context(guard())\n    step()",
    "stack of a stack": (
        "with contextlib.ExitStack() as stack:\n    stack.enter_context(Quiet())\n    with timed():\n        step()"
    ),
    "pushed": "with contextlib.ExitStack() as stack:\n    stack.push(lambda kind, error, trace: True)\n    step()",
    "left by finally": "for i in range(3):\n    try:\n        step()\n    finally:\n        continue",
    "future": "with ThreadPoolExecutor(1) as pool:\n    print(pool.submit(step).exception())",
    "future that is tried": (
        "with ThreadPoolExecutor(1) as pool:\n    job = pool.submit(step)\n"
        "    try:\n        job.result()\n    except Exception:\n        print('failed')"
    ),
    "given": (
        "def tried(function, kinds):\n    try:\n        function()\n    except kinds:\n        print('failed')\n"
        "tried(step, (ValueError, Exception))"
    ),
    "expected": "@unittest.expectedFailure\ndef test():\n    step()\ntest()",
    "gathered": (
        "async def later():\n    step()\nasync def main():\n"
        "    print(await asyncio.gather(later(), return_exceptions=True))\nasyncio.run(main())"
    ),
}
HANDED_ON = {
    "plain": "for i in range(3):\n    step()",
    "interrupt": "try:\n    step()\nexcept KeyboardInterrupt:\n    print('stopped')\nfinally:\n    log.clear()",
    "timed": "with timed():\n    step()",
    "mode": "with torch.enable_grad(), contextlib.suppress(KeyError):\n    step()",
    "stack": "with contextlib.ExitStack() as stack:\n    stack.enter_context(timed())\n    step()",
    "pushed": "with contextlib.ExitStack() as stack:\n    stack.push(lambda kind, error, trace: False)\n    step()",
    "loop left in finally": "try:\n    step()\nfinally:\n    for i in range(3):\n        if i:\n            break",
    "result": "with ThreadPoolExecutor(1) as pool:\n    pool.submit(step).result()",
    "beside": "with ThreadPoolExecutor(1) as pool:\n    job = pool.submit(print, 1)\n    step()\n    job.exception()",
    "another error": (
        "def tried(function, kinds):\n    try:\n        function()\n    except kinds:\n        print('failed')\n"
        "tried(step, (ValueError, KeyError))"
    ),
    "gathered": (
        "async def later():\n    step()\nasync def main():\n    await asyncio.gather(later())\nasyncio.run(main())"
    ),
}


@pytest.mark.parametrize("code", FAULTS)
@pytest.mark.parametrize("way", SWALLOWED)
def test_nothing_is_safe_where_the_program_goes_on(code: str, way: str) -> None:
    expected = {code: Applicability.UNSAFE} if code in TOLD_ALL_THE_SAME else {}
    assert _found(code, SWALLOWED[way]) == expected


@pytest.mark.parametrize("code", FAULTS)
@pytest.mark.parametrize("way", HANDED_ON)
def test_what_ends_the_program_is_repaired(code: str, way: str) -> None:
    assert _found(code, HANDED_ON[way]) == {code: Applicability.SAFE}


def _found(code: str, end: str) -> dict[str, Applicability | None]:
    text = HEAD.replace("FAULT", FAULTS[code]) + end + "\n"
    findings = check(Source.from_text(text, "program.py"), CheckOptions()).findings
    return {f.code: None if f.fix is None else f.fix.applicability for f in findings}
