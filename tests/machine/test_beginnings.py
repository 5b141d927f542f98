"""Which paths are left out where the first one shows no history: none that shows any."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from autodetach.machine import beginnings, entries, reach, words
from autodetach.machine.beginnings import Leads, not_passed
from autodetach.machine.run import analyse
from autodetach.rules import RULES
from autodetach.view.program import Program

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = sorted({*(ROOT / "fixtures").rglob("*.py"), *sorted((ROOT / "autodetach").glob("*.py"))[::6]})

LIBRARY = """\
import inspect


def names(f, rows):
    found = []
    for row in rows:
        if row.a:
            found.append(row)
        elif row.b:
            continue
        if row.c:
            break
    return found
"""
LOOP = """
    kept = []
    for x in xs:
        kept.append(net(x))
    print(len(kept))
"""
START = "def f(a, xs):\n    net = len\n"
BEHIND_A_TEST = {
    "branch": START + "    if a:\n        pass\n    else:\n        net = nn.Linear(1, 1)\n" + LOOP,
    "choice": START + "    net = nn.Linear(1, 1) if not a else len\n" + LOOP,
    "operator": START + "    net = a or nn.Linear(1, 1)\n" + LOOP,
    "helper": START + "    if not a:\n        net = make()\n" + LOOP + "def make():\n    return nn.Linear(1, 1)\n",
    "helper of a helper": (
        START + "    if not a:\n        net = other()\n" + LOOP + "def make():\n    return nn.Linear(1, 1)\n"
        "def other():\n    return make()\n"
    ),
    "test of a helper": (
        START + "    if not small(a):\n        net = nn.Linear(1, 1)\n" + LOOP + "def small(a):\n    if a:\n"
        "        return True\n    return False\n"
    ),
    "class": (
        START + "    if not a:\n        net = Made().net\n" + LOOP + "class Made:\n    def __init__(self):\n"
        "        self.net = nn.Linear(1, 1)\n"
    ),
    "string": START + "    if not a:\n        net = getattr(nn, 'Linear')(1, 1)\n" + LOOP,
    "alias": "Made = nn.Linear\n" + START + "    if not a:\n        net = Made(1, 1)\n" + LOOP,
    "import": START + "    if not a:\n        from torch.nn import Linear as L\n        net = L(1, 1)\n" + LOOP,
    "decorator": (
        START + "    if not a:\n        net = make()\n" + LOOP + "import functools\n@functools.cache\n"
        "def make():\n    return nn.Linear(1, 1)\n"
    ),
    "evidence": "def f(a, net, xs):\n    if a:\n        return\n    net.eval()\n" + LOOP,
    "keyword": START + "    w = torch.zeros(1, requires_grad=a.b)\n    net = lambda x: w * x\n" + LOOP,
    "differentiation": (
        "def f(a, loss, xs):\n    total = 0\n    for x in xs:\n        y = loss(x)\n"
        "        if a:\n            continue\n        y.backward()\n        total += y\n    print(total)\n"
    ),
    "file": (
        "import sys\nnet = len\nif len(sys.argv) > 1:\n    pass\nelse:\n    net = nn.Linear(1, 1)\n"
        "kept = []\nfor x in open('a'):\n    kept.append(net(x))\nprint(len(kept))\n"
    ),
}


def codes(text: str) -> list[str]:
    program = Program(analyse(ast.parse(text)))
    return sorted({suspect.code for rule in RULES for suspect in rule.find(program)})


def test_a_library_is_run_along_one_path(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = ast.parse(LIBRARY)
    monkeypatch.setattr(entries, "is_bystander", lambda *_: False)
    assert len(analyse(tree).runs) == 1
    monkeypatch.setattr(Leads, "further", lambda *_: True)
    assert len(analyse(tree).runs) > 4


@pytest.mark.parametrize("name", BEHIND_A_TEST)
def test_history_behind_a_test_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import torch\nimport torch.nn as nn\n\n" + BEHIND_A_TEST[name]
    found = codes(text)
    monkeypatch.setattr(Leads, "further", lambda *_: True)
    assert found == codes(text)
    assert found


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_history_is_lost(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What all paths show, those that are run show too."""
    tree = ast.parse(path.read_bytes())
    some = analyse(tree)
    if some.runs[0].shows_history:
        return
    monkeypatch.setattr(Leads, "further", lambda *_: True)
    every = analyse(ast.parse(path.read_bytes()))
    assert any(one.shows_history for one in some.runs) == any(one.shows_history for one in every.runs)
    assert len(some.runs) <= len(every.runs)


def test_what_is_not_passed() -> None:
    tree = ast.parse("import torch\nx = torch.zeros(1)\ndef f():\n    y.backward()\ndef g():\n    return 1\nz.eval()\n")
    statements = {node for node in ast.walk(tree) if isinstance(node, ast.stmt)}
    assert not_passed(tree, statements) == set()
    assert not_passed(tree, statements - {tree.body[-1]}) == {beginnings.MODULE}
    assert not_passed(tree, set()) == {beginnings.MODULE, "f"}


def test_the_words_are_those_of_the_machine() -> None:
    assert reach.CALLED_BY_TRAINERS in words.DIFFERENTIATIONS
