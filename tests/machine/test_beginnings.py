"""Which paths are left out where the first one shows no history: none that shows any."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from autodetach.machine import beginnings, entries, exploring, reach, running, words
from autodetach.machine.beginnings import Leads, not_passed
from autodetach.machine.exploring import analyse
from autodetach.machine.oracle import Policy
from autodetach.machine.run import Analysis
from autodetach.projects.project import Files
from autodetach.rules import RULES
from autodetach.source import Source
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
    if running.run_once(tree, Policy(), running.FUEL_PER_RUN).shows_history:
        return
    some = analyse(tree)
    monkeypatch.setattr(Leads, "further", lambda *_: True)
    every = analyse(ast.parse(path.read_bytes()))
    assert any(one.shows_history for one in some.runs) == any(one.shows_history for one in every.runs)
    assert sum(one.cost for one in some.runs) <= sum(one.cost for one in every.runs)


def test_what_is_not_passed() -> None:
    tree = ast.parse("import torch\nx = torch.zeros(1)\ndef f():\n    y.backward()\ndef g():\n    return 1\nz.eval()\n")
    statements = {node for node in ast.walk(tree) if isinstance(node, ast.stmt)}
    assert not_passed(tree, statements) == set()
    assert not_passed(tree, statements - {tree.body[-1]}) == {beginnings.MODULE}
    assert not_passed(tree, set()) == {beginnings.MODULE, "f"}


@pytest.mark.parametrize(
    "code",
    [
        "KIND = 'train'\nx = getattr(options, 'kind', KIND)",
        "x = inspect.Parameter.KEYWORD_ONLY",
        "x = torch.empty(3, requires_grad=y.requires_grad)",
        "from torch_geometric.nn import global_mean_pool\nx = global_mean_pool(y, None)",
    ],
)
def test_where_no_history_begins(code: str) -> None:
    assert not_passed(ast.parse(f"import inspect, torch\n{code}\n"), set()) == set()


def test_the_words_are_those_of_the_machine() -> None:
    assert reach.CALLED_BY_TRAINERS in words.DIFFERENTIATIONS


class Folder:
    """Files by their names, as a `Finder` has them."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    def find(self, name: str, importer: str) -> str | None:
        return name.lstrip(".") if name.lstrip(".") in self._texts else None

    def read(self, path: str) -> Source | None:
        return Source.from_text(self._texts[path], path)

    def peek(self, path: str) -> bytes | None:
        return self._texts[path].encode()


def program(texts: dict[str, str]) -> Analysis:
    """The analysis of the file `a`, which may import the others."""
    source = Source.from_text(texts["a"], "a")
    tree = ast.parse(source.text)
    return analyse(tree, project=Files("a", source, tree, Folder(texts)))


NETS = "import torch.nn as nn\n\ndef make():\n    return nn.Linear(1, 1)\n\nclass Net(nn.Module):\n    pass\n"
HANDING_ON = "from nets import make as build\n\ndef idle():\n    return 1\n"
LEFT_OUT = {
    "name": ("", "        from nets import make\n        net = make()\n"),
    "other name": ("", "        from nets import make as build\n        net = build()\n"),
    "class": ("", "        from nets import Net\n        net = Net()\n"),
    "file": ("", "        import nets\n        net = nets.make()\n"),
    "file by another name": ("", "        import nets as n\n        net = n.make()\n"),
    "all names": ("", "        from nets import *\n        net = make()\n"),
    "handed on": ("from more import build\n", "        net = build()\n"),
    "handed on by another name": ("from more import build as made, idle\nidle()\n", "        net = made()\n"),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_no_path_has_loaded_may_begin_a_history(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    above, inner = LEFT_OUT[name]
    text = above + START + "    if a:\n        pass\n    else:\n" + inner + LOOP
    texts = {"a": text, "nets": NETS, "more": HANDING_ON}
    assert any(run.shows_history for run in program(texts).runs)
    monkeypatch.setattr(beginnings, "left_out", lambda _: beginnings.LeftOut())
    assert name == "handed on" or not any(run.shows_history for run in program(texts).runs)


def test_a_file_that_nothing_asks_for_does_not_keep_all_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "is_bystander", lambda *_: False)
    texts = {"a": "from more import idle\n" + LIBRARY, "nets": NETS, "more": HANDING_ON}
    assert len(program(texts).runs) == 1


def test_a_test_in_another_file_is_not_called_as_that_file_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """`more` is mentioned where history may begin, and no function."""
    monkeypatch.setattr(entries, "is_bystander", lambda *_: False)
    more = "import sys\nlimit = 1\nif sys.argv:\n    limit = 2\nelif sys.path:\n    limit = 3\n"
    text = (
        "import more\n\ndef g(net):\n    return [net.more.eval() for _ in net]\n\ndef f():\n    print(more.limit)\n\n"
    )
    assert len(program({"a": text + "f()\n", "more": more}).runs) == 1


ENDS_BY_AN_ERROR = """\
import sys
import torch

if sys.argv:
    print(1)
if sys.path:
    print(2)
net = torch.nn.Linear(1, 1)
settings = {"rate": 1}
for step in range(int(sys.argv[1])):
    if step >= int(sys.argv[2]):
        settings = settings["later"]
    net(torch.ones(1)).sum().backward()
"""


def test_behind_an_error_the_last_test_goes_the_other_way_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is suspected, so that few paths are run."""
    tree = ast.parse(ENDS_BY_AN_ERROR)
    first = analyse(tree, suspected=lambda _: True).runs[0]
    assert (first.stopped_by, first.machine.differentiations) == ("KeyError", [])
    monkeypatch.setattr(exploring, "FUEL_WHERE_QUIET", first.cost)
    found = analyse(tree, suspected=lambda _: False).runs
    assert len(found) == 2
    assert found[1].machine.differentiations


ENDS_BEFORE_HISTORY = """\
import torch

class Vocabulary:
    def __init__(self):
        self.numbers, self.counts = {}, {}

    def add(self, word):
        if word not in self.numbers:
            self.numbers[word], self.counts[word] = len(self.numbers), 1
        else:
            self.counts[word] += 1

    def trim(self, least):
        kept = [word for word, count in self.counts.items() if count >= least]
        self.numbers = {}
        for word in kept:
            self.add(word)

vocabulary = Vocabulary()
words = open("words.txt").read().split()
for word in words:
    vocabulary.add(word)
vocabulary.trim(5)
print(vocabulary.numbers[words[0]])
net = torch.nn.Linear(1, 1)
total = 0.0
for step in range(100):
    loss = net(torch.ones(1)).sum()
    loss.backward()
    total += loss
print(total)
"""


def test_what_an_error_hides_may_begin_a_history_whichever_test_leads_to_it() -> None:
    first = analyse(ast.parse(ENDS_BEFORE_HISTORY)).runs[0]
    assert (first.stopped_by, first.shows_history) == ("KeyError", False)
    assert codes(ENDS_BEFORE_HISTORY) == ["AD101"]
