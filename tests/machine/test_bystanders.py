"""Which entry points are not run: none that would show anything."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from autodetach.machine import entries, running
from autodetach.machine.bystanders import is_bystander
from autodetach.machine.exploring import analyse
from autodetach.machine.oracle import Policy
from autodetach.machine.run import Run
from autodetach.projects.project import Files
from autodetach.rules import RULES
from autodetach.source import Source
from autodetach.view.program import Program

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = sorted({*(ROOT / "fixtures").rglob("*.py"), *sorted((ROOT / "autodetach").glob("*.py"))[::6]})
HEAD = "import torch\nimport torch.nn as nn\nimport functools\n\n"
LOOP = "    kept = []\n    for x in xs:\n        kept.append(net(x))\n    print(len(kept))\n"
GLOBAL = "def f(xs):\n" + LOOP
WITH_HISTORY = {
    "global": "net = nn.Linear(1, 1)\n" + GLOBAL,
    "class": (
        "class Net(nn.Module):\n    def forward(self, x):\n        return w * x\n"
        "w = nn.Parameter(1)\nnet = Net()\n" + GLOBAL
    ),
    "alias": "net = nn.Linear(1, 1)\nmodel = net\ndel net\ndef f(xs):\n    net = model\n" + LOOP,
    "list": "nets = [nn.Linear(1, 1)]\ndef f(xs):\n    net = nets[0]\n" + LOOP,
    "dict": "nets = {'a': nn.Linear(1, 1)}\ndef f(xs):\n    net = nets['a']\n" + LOOP,
    "object": ("class Box:\n    pass\nbox = Box()\nbox.net = nn.Linear(1, 1)\ndef f(xs):\n    net = box.net\n" + LOOP),
    "class attribute": "class Box:\n    net = nn.Linear(1, 1)\ndef f(xs):\n    net = Box.net\n" + LOOP,
    "default": "def f(xs, net=nn.Linear(1, 1)):\n" + LOOP,
    "default elsewhere": "one = nn.Linear(1, 1)\ndef make(net=one):\n    return net\ndef f(xs):\n    net = make()\n"
    + LOOP,
    "method": "one = nn.Linear(1, 1)\ncall = one.forward\ndef f(xs):\n    net = call\n" + LOOP,
    "partial": "call = functools.partial(nn.Linear(1, 1))\ndef f(xs):\n    net = call\n" + LOOP,
    "lambda": "one = nn.Linear(1, 1)\ncall = lambda x: one(x)\ndef f(xs):\n    net = call\n" + LOOP,
    "closure": (
        "def make(inner):\n    def call(x):\n        return inner(x)\n    return call\n"
        "call = make(nn.Linear(1, 1))\ndef f(xs):\n    net = call\n" + LOOP
    ),
    "helper": "def make():\n    return nn.Linear(1, 1)\ndef f(xs):\n    net = make()\n" + LOOP,
    "helper of a helper": (
        "def make():\n    return nn.Linear(1, 1)\ndef other():\n    return make()\ndef f(xs):\n    net = other()\n"
        + LOOP
    ),
    "constructor": (
        "class Box:\n    def __init__(self):\n        self.net = nn.Linear(1, 1)\ndef f(xs):\n    net = Box().net\n"
        + LOOP
    ),
    "base": (
        "class Base:\n    def __init__(self):\n        self.net = nn.Linear(1, 1)\nclass Box(Base):\n    pass\n"
        "def f(xs):\n    net = Box().net\n" + LOOP
    ),
    "own object": (
        "class Box:\n    def __init__(self):\n        self.net = nn.Linear(1, 1)\n        self.kept = []\n"
        "    def f(self, xs):\n        for x in xs:\n            self.kept.append(self.net(x))\n"
        "    def size(self):\n        return len(self.kept)\n"
    ),
    "object of the file": (
        "class Box:\n    def __init__(self, net):\n        self.net = net\n        self.kept = []\n"
        "    def f(self, xs):\n        for x in xs:\n            self.kept.append(self.net(x))\n"
        "    def size(self):\n        return len(self.kept)\n"
        "one = nn.Linear(1, 1)\nbox = Box(one)\n"
    ),
    "property": (
        "class Box:\n    @property\n    def net(self):\n        return nn.Linear(1, 1)\nbox = Box()\n"
        "def f(xs):\n    net = box.net\n" + LOOP
    ),
    "called object": (
        "class Box:\n    def __call__(self, x):\n        return nn.Linear(1, 1)(x)\nnet = Box()\ndef f(xs):\n" + LOOP
    ),
    "tensor": "w = torch.zeros(1)\nw.requires_grad = True\ndef f(xs):\n    net = lambda x: w * x\n" + LOOP,
    "stored by another": (
        "nets = []\ndef fill(xs):\n    for x in xs:\n        nets.append(nn.Linear(1, 1))\n"
        "def f(xs):\n    net = nets[0]\n" + LOOP
    ),
    "string": "def f(xs):\n    net = getattr(nn, 'Linear')(1, 1)\n" + LOOP,
    "string in a variable": "WORD = 'Linear'\ndef f(xs):\n    net = getattr(nn, WORD)(1, 1)\n" + LOOP,
    "method by a string": (
        "class Box:\n    def make_net(self):\n        return nn.Linear(1, 1)\n    def f(self, xs):\n"
        "        net = getattr(self, 'make' + '_net')()\n        kept = []\n        for x in xs:\n"
        "            kept.append(net(x))\n        print(len(kept))\n"
    ),
    "function in a function": (
        "def f(xs):\n    def make():\n        return nn.Linear(1, 1)\n    net = make()\n" + LOOP
    ),
    "function in a function elsewhere": (
        "def outer():\n    def make():\n        return nn.Linear(1, 1)\n    def other():\n        return make()\n"
        "    return other\nother = outer()\ndef f(xs):\n    net = other()\n" + LOOP
    ),
    "known by what it is asked": "net.eval()\n" + GLOBAL,
    "differentiated": (
        "def f(loss, xs):\n    total = 0\n    for x in xs:\n        y = loss(x)\n        y.backward()\n"
        "        total += y\n    print(total)\n"
    ),
}
WITHOUT = {
    "method of another class with the same name": (
        "class Net:\n    def update(self, x):\n        self.net = nn.Linear(1, 1)(x)\n"
        "def f(meter, xs):\n    for x in xs:\n        meter.update(x)\n"
    ),
    "function in another function with the same name": (
        "def make(x):\n    def update(x):\n        return nn.Linear(1, 1)(x)\n    return update(x)\n"
        "def f(meter, xs):\n    for x in xs:\n        meter.update(x)\n"
    ),
    "attribute by its name": (
        "KIND = 'train'\ndef f(meters):\n    for meter in meters:\n        print(getattr(meter, 'mean', None), KIND)\n"
    ),
    "functions of a file of nn": (
        "from torch_geometric.nn import global_mean_pool\ndef f(xs):\n    return [global_mean_pool(x) for x in xs]\n"
    ),
    "kinds of parameters": (
        "import inspect\ndef f(xs):\n    return [x for x in xs if x.kind is inspect.Parameter.KEYWORD_ONLY]\n"
    ),
    "gradients as before": (
        "import torch\ndef f(xs):\n    return [torch.empty(3, requires_grad=x.requires_grad) for x in xs]\n"
    ),
    "super": (
        "class Base:\n    def load_state_dict(self, state):\n        self.state = state\nclass Meter(Base):\n"
        "    def load_state_dict(self, state):\n        for one in state:\n            super().load_state_dict(one)\n"
    ),
    "loop": "def f(xs):\n    kept = []\n    for x in xs:\n        kept.append(x.y)\n    return kept\n",
    "step": "def f(step, base, warmup):\n    return base * step / max(1, warmup) if step < warmup else base\n",
    "annotation": "def f(net: nn.Module, xs: list) -> nn.Linear:\n    for x in xs:\n        print(x)\n    return net\n",
    "test of a type": "def f(nets):\n    return [net for net in nets if isinstance(net, nn.Linear)]\n",
    "functional": "import torch.nn.functional as F\ndef f(xs):\n    return [F.relu(x) for x in xs]\n",
    "files": "import sys\ndef f(names):\n    for name in names:\n        print(sys.modules[name])\n",
    "class": (
        "class Table:\n    def __init__(self, limit):\n        self.limit = limit\n        self.rows = {}\n"
        "    def put(self, name, row):\n        self.rows.setdefault(name, []).append(row)\n"
        "        while len(self.rows[name]) > self.limit:\n            self.rows[name].pop(0)\n"
    ),
}


def never(*_: object) -> bool:
    return False


def codes(text: str) -> list[str]:
    program = Program(analyse(ast.parse(text)))
    return sorted({suspect.code for rule in RULES for suspect in rule.find(program)})


@pytest.mark.parametrize("name", WITH_HISTORY)
def test_what_finds_history_is_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEAD + WITH_HISTORY[name]
    found = codes(text)
    monkeypatch.setattr(entries, "is_bystander", never)
    assert found == codes(text)
    assert found


@pytest.mark.parametrize("name", WITHOUT)
def test_what_finds_none_is_not_run(name: str) -> None:
    only = analyse(ast.parse(HEAD + "model = nn.Linear(1, 1)\n" + WITHOUT[name])).runs
    assert [one.entries for one in only] == [[]]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_history_is_lost(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point that is not run would begin no history, differentiate nothing and show no fault."""
    left = 0

    def run_all_the_same(*args: object) -> bool:
        nonlocal left
        left += is_bystander(*args)  # type: ignore[arg-type]
        return False

    def run_and_look(one: Run, entry: object) -> None:
        nonlocal left
        machine, is_left, left = one.machine, left, 0
        before = len(machine.nodes), len(machine.differentiations), len(machine.facts), len(machine.leaf_tensors)
        watched(one, entry)  # type: ignore[arg-type]
        if is_left:
            assert [node for node in machine.nodes[before[0] :] if not node.weak] == []
            assert (len(machine.differentiations), len(machine.facts), len(machine.leaf_tensors)) == before[1:]

    watched = running.watched
    monkeypatch.setattr(entries, "is_bystander", run_all_the_same)
    monkeypatch.setattr(running, "watched", run_and_look)
    running.run_once(ast.parse(path.read_bytes()), Policy(), running.FUEL_PER_RUN)


METER = "from c import scaled\n\n\nclass Meter:\n    def put(self, x):\n        self.last = scaled(x)\n"
USES = (
    "import torch\nfrom b import Meter\n\n\ndef f(xs):\n    meter = Meter()\n    for x in xs:\n        meter.put(x)\n"
)
MAKES = "from torch import nn\n\n\ndef scaled(x):\n    return nn.Linear(1, 1)(x)\n"


class Finder:
    """Files that stand side by side, by their names."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    def find(self, name: str, importer: str) -> str | None:
        return f"/{name}.py" if name in self.texts else None

    def read(self, path: str) -> Source | None:
        return Source.from_text(self.texts[path[1:-3]], path)

    def peek(self, path: str) -> bytes | None:
        return self.texts[path[1:-3]].encode()


@pytest.mark.parametrize(
    ("others", "entered"),
    [
        ({}, []),
        ({"c": "def scaled(x):\n    return 2 * x\n"}, []),
        ({"c": "from d import scaled\n", "d": "def scaled(x):\n    return 2 * x\n"}, []),
        ({"c": MAKES}, ["f"]),
        ({"c": "from d import scaled\n", "d": MAKES}, ["f"]),
    ],
)
def test_what_an_imported_file_imports_is_asked_for_its_words(others: dict[str, str], entered: list[str]) -> None:
    finder, tree = Finder({"b": METER, **others}), ast.parse(USES)
    files = Files("/a.py", Source.from_text(USES, "/a.py"), tree, finder)
    assert analyse(tree, files).runs[0].entries == entered
    loaded = ["/b.py", "/c.py", "/d.py"][: 1 + len(others)] if entered else []
    assert [module.path for module in files.modules[1:]] == loaded


INSIDE = {
    "name": "    from c import scaled\n",
    "other name": "    from c import scaled as by_two\n    scaled = by_two\n",
    "file": "    import c\n    scaled = c.scaled\n",
    "file by another name": "    import sys, c as d\n    scaled = d.scaled\n",
}


@pytest.mark.parametrize("name", INSIDE)
@pytest.mark.parametrize(("other", "entered"), [(MAKES, ["f"]), ("def scaled(x):\n    return 2 * x\n", [])])
def test_what_a_function_imports_by_itself_is_asked_for_its_words(name: str, other: str, entered: list[str]) -> None:
    text = f"import torch\n\n\ndef f(xs):\n{INSIDE[name]}    return [scaled(x) for x in xs]\n"
    files = Files("/a.py", Source.from_text(text, "/a.py"), ast.parse(text), Finder({"c": other}))
    assert analyse(files.root.tree, files).runs[0].entries == entered
