"""What Python calls by itself may train with what is summed, or walk again: where no path shows it, nothing is told."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

BEGIN = """
import copy, pickle
import torch
network = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(network.parameters(), lr=0.1)

def train(loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

def again(loss):
    (0.5 * loss).backward()

{classes}
{begin}
"""
SUMMED = (
    BEGIN
    + """
total = shown = 0.0
for step in range(9):
    total = total + network(torch.randn(3, 4)).pow(2).mean()
    if step % 3 == 2:
        shown += total
        loss = total
        {step}
        total = 0.0
print(float(shown))
"""
)
RETAINED = (
    BEGIN
    + """
for step in range(4):
    loss = network(torch.randn(3, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    {step}
    optimizer.step()
"""
)
WAYS = {
    "descriptor": ("class D:\n def __set__(s, o, x): {f}(x)\nclass A:\n a = D()", "a = A()", "a.a = loss"),
    "descriptor deleted": (
        "class D:\n def __delete__(s, o): {f}(o.b)\nclass A:\n a = D()", "a = A()", "a.b = loss; del a.a",
    ),
    "attribute deleted": ("class A:\n def __delattr__(s, k): {f}(s.__dict__[k])", "a = A()", "a.a = loss; del a.a"),
    "item deleted": ("class A(dict):\n def __delitem__(s, k): {f}(s[k])", "a = A()", "a[0] = loss; del a[0]"),
    "property deleted": (
        "class A:\n @property\n def a(s): return 0\n @a.deleter\n def a(s): {f}(s.b)", "a = A()", "a.b = loss; del a.a",
    ),
    "property of a call": (
        "class A:\n def give(s): {f}(s.b)\n a = property(None, None, give)", "a = A()", "a.b = loss; del a.a",
    ),
    "every attribute": (
        "class A:\n def __getattribute__(s, k):\n  if k == 'go': {f}(object.__getattribute__(s, '__dict__')['a'])",
        "a = A()", "a.a = loss; a.go",
    ),
    "made": ("class A:\n def __new__(c, x):\n  {f}(x)\n  return object.__new__(c)", "", "A(loss)"),
    "derived": ("class A:\n def __init_subclass__(c, loss=None): {f}(loss)", "", "type('B', (A,), {{}}, loss=loss)"),
    "class with an item": ("class A:\n def __class_getitem__(c, x): {f}(x)", "", "A[loss]"),
    "metaclass": ("class M(type):\n def __call__(c, x): {f}(x)\nclass A(metaclass=M): pass", "", "A(loss)"),
    "attribute of a class": (
        "class M(type):\n def __setattr__(c, k, x): {f}(x)\nclass A(metaclass=M): pass", "", "A.a = loss",
    ),
    "property of a class": (
        "class M(type):\n a = property(None, lambda c, x: {f}(x))\nclass A(metaclass=M): pass", "", "A.a = loss",
    ),
    "asked for its class": (
        "class M(type):\n def __instancecheck__(c, x): {f}(x)\nclass A(metaclass=M): pass", "", "isinstance(loss, A)",
    ),
    "united": ("class A:\n def __ior__(s, x):\n  {f}(x)\n  return s", "a = A()", "a |= loss"),
    "multiplied": ("class A:\n def __rmatmul__(s, x): {f}(x)", "a = A()", "loss @ a"),
    "state": ("class A:\n def __getstate__(s):\n  {f}(s.a)\n  return {{}}", "a = A()", "a.a = loss; copy.copy(a)"),
    "reduced": (
        "class A:\n def __reduce_ex__(s, n):\n  {f}(s.a)\n  return (int, ())", "a = A()", "a.a = loss; pickle.dumps(a)",
    ),
    "keys": (
        "class A:\n def keys(s):\n  {f}(s.a)\n  return []\n def __getitem__(s, k): return 0",
        "a = A()", "a.a = loss; dict(**a)",
    ),
}  # fmt: skip


def told(program: str, way: str, function: str) -> list[str]:
    classes, begin, step = WAYS[way]
    text = program.format(classes=classes.format(f=function), begin=begin, step=step.format())
    findings = check(Source.from_text(text, "called.py"), CheckOptions()).findings
    return [f"{finding.code} {finding.message}" for finding in findings]


@pytest.mark.parametrize("way", list(WAYS))
def test_what_is_summed_may_be_trained_with_there(way: str) -> None:
    assert not [one for one in told(SUMMED, way, "train") if not one.startswith("AD101 `shown` ")]


@pytest.mark.parametrize("way", list(WAYS))
def test_what_is_retained_may_be_walked_there(way: str) -> None:
    assert not told(RETAINED, way, "again")


@pytest.mark.parametrize("way", list(WAYS))
def test_what_leads_to_no_training_is_as_good_as_nothing(way: str) -> None:
    assert any(one.startswith("AD101 `total` ") for one in told(SUMMED, way, "print"))
    assert any(one.startswith("AD103") for one in told(RETAINED, way, "print"))


def test_what_a_path_has_gone_through_is_seen() -> None:
    classes = "class Mode:\n def __enter__(s): network.train(False)\n def __exit__(s, *e): network.train()"
    text = SUMMED.format(classes=classes, begin="", step="with Mode(): print(network(torch.ones(1, 4)))")
    assert "AD101" in [f.code for f in check(Source.from_text(text, "called.py"), CheckOptions()).findings]
