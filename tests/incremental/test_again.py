"""What is known of a program holds for one that differs in what no path runs: nothing else may be kept."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from autodetach import remembered
from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.fixing import fix
from autodetach.incremental.again import Again
from autodetach.machine import exploring
from autodetach.machine.run import Analysis
from autodetach.source import Source

FIXTURES = sorted((Path(__file__).parent.parent.parent / "fixtures").glob("*/*.before.py"))
OPTIONS = CheckOptions(alternatives=True)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often the machine has analysed a program."""
    count = [0]
    analyse = exploring.analyse

    def counting(*arguments: object, **named: object) -> Analysis:
        count[0] += 1
        return analyse(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(exploring, "analyse", counting)
    monkeypatch.setattr(remembered, "_again", Again())
    return count


def source(text: str) -> Source:
    return Source.from_text(text, "a.py")


def remarked(text: str, chance: random.Random) -> str:
    """The same program with other blank lines and comments. Strings of several lines are left alone."""
    lines = text.split("\n")
    if '"""' in text or "'''" in text or "\\\n" in text:
        return "\n# a remark\n\n" + text
    for n in sorted(chance.sample(range(len(lines)), len(lines) // 3), reverse=True):
        if chance.random() < 0.5:
            lines.insert(n, chance.choice(("", "    # a remark", "# another")))
        elif lines[n].strip():
            lines[n] += "  # said"
    return "\n".join(lines)


@pytest.mark.parametrize("path", FIXTURES[::4], ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_what_is_known_again_is_what_would_be_found(
    path: Path, counted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(path.stem)
    text = path.read_bytes().decode().replace("\r\n", "\n")
    check(source(text), OPTIONS)
    texts = [remarked(text, chance) for _ in range(2)]
    known = [check(source(one), OPTIONS).findings for one in texts]
    assert counted == [1]
    monkeypatch.setattr(remembered, "_again", None)
    assert known == [check(source(one), OPTIONS).findings for one in texts]


TEXT = """\
import torch
from other import value

net = torch.nn.Linear(1, 1)


def train(x):
    total = 0
    for y in x:
        total += 1.0 * net(y)
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1.0", "1"),
        ("1.0", "2.0"),
        ("total += ", "total -= "),
        ("def train", "async def train"),
        ("x:", "x:\n        y"),
    ],
)
def test_another_program_is_analysed(counted: list[int], old: str, new: str) -> None:
    for text in (TEXT, TEXT.replace(old, new, 1), TEXT):
        check(source(text), OPTIONS)
    assert counted == [3]


UNUSED = "\n\ndef unused(x):\n    return net(x) + 1.0\n"


@pytest.mark.parametrize(
    ("more", "name", "analysed"),
    [
        (UNUSED, "used", 1),
        (UNUSED + "\n\n# see used\n", "used", 2),
        (UNUSED, "value", 2),
        (UNUSED, "__getattr__", 2),
        (UNUSED, "training_step", 2),
        ("\n\nprint(unused)" + UNUSED, "used", 2),
        (UNUSED.replace("    return net(x)", "    for x in x:\n        x = net(x)"), "used", 2),
    ],
)
def test_only_who_is_not_mentioned_may_be_renamed(counted: list[int], more: str, name: str, analysed: int) -> None:
    text = TEXT + more
    renamed = text.replace("def unused", f"def {name}")
    found = [check(source(one), OPTIONS).findings for one in (text, renamed)]
    assert counted == [analysed]
    assert found[0] == found[1]


def test_what_was_renamed_may_be_called(counted: list[int]) -> None:
    text = TEXT + UNUSED
    renamed = text.replace("unused", "used")
    called = renamed.replace("1.0 * net(y)", "used(y)")
    known = [check(source(one), OPTIONS).findings for one in (text, renamed, called)]
    assert counted == [2]
    assert known[2]
    remembered._again = None
    assert known[2] == check(source(called), OPTIONS).findings


def test_nothing_may_be_left_of_a_text(counted: list[int]) -> None:
    found = [check(source(text), OPTIONS) for text in (TEXT, "# nothing\n", "", TEXT)]
    assert [bool(result.findings) for result in found] == [True, False, False, True]


def test_an_import_that_leads_somewhere_now_is_followed(counted: list[int]) -> None:
    class Finder:
        path: str | None = None

        def find(self, name: str, importer: str) -> str | None:
            return self.path if name == "other" else None

        def read(self, path: str) -> Source | None:
            return source("def value(x):\n    return x\n")

        def peek(self, path: str) -> bytes | None:
            return b"def value(x):\n    return x\n"

    finder = Finder()
    for place in (None, "/other.py", None):
        finder.path = place
        check(source(TEXT), OPTIONS, path="/a.py", finder=finder)
    assert counted == [3]


class Project:
    """Two files that can be imported, as `other` and `another`."""

    def __init__(self, text: str = "def value(x):\n    return x\n") -> None:
        self.texts = {"/other.py": text, "/another.py": "def value(x):\n    return 2 * x\n"}

    def find(self, name: str, importer: str) -> str | None:
        path = f"/{name}.py"
        return path if path in self.texts else None

    def read(self, path: str) -> Source | None:
        return Source.from_text(self.texts[path], path)

    def peek(self, path: str) -> bytes | None:
        return self.texts[path].encode()


def test_a_program_of_several_files_is_known_while_all_are_the_same(
    counted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    project, found = Project(), []
    text = TEXT.replace("1.0 * net(y)", "net(value(y)).sum()").replace("    total = 0\n", "    total = 0  # {}\n")
    changed = "def value(x):\n    return x.detach()\n"
    first = project.texts["/other.py"]
    for number, other in enumerate((first, first, changed, changed, first)):
        project.texts["/other.py"] = other
        found.append(check(source(text.format(number)), OPTIONS, path="/a.py", finder=project).findings)
    assert counted == [3]
    monkeypatch.setattr(remembered, "_again", None)
    assert found[0] != ()
    for number in (0, 1, 4):
        assert found[number] == check(source(text.format(number)), OPTIONS, path="/a.py", finder=project).findings


def test_what_imported_files_import_is_followed(counted: list[int]) -> None:
    project = Project("from another import value\n")
    text = TEXT.replace("1.0 * net(y)", "net(value(y)).sum()").replace("    total = 0\n", "    total = 0  # {}\n")
    for number in range(3):
        check(source(text.format(number)), OPTIONS, path="/a.py", finder=project)
    assert counted == [1]
    project.texts["/another.py"] = "def value(x):\n    return 3 * x\n"
    check(source(text.format(3)), OPTIONS, path="/a.py", finder=project)
    assert counted == [2]


def test_a_file_that_is_only_asked_for_its_words_is_followed(counted: list[int]) -> None:
    """`scale` is no entry point as long as nothing it may find has to do with history."""
    project = Project()
    text = "import torch\nfrom other import value\n\n\ndef scale(x):\n    total = 0  # {}\n" + (
        "    for y in x:\n        total += value(y)\n    return float(total)\n\n\nnet = torch.nn.Linear(1, 1)\n"
    )
    found = []
    makes = "import torch\n\n\ndef value(x):\n    return torch.nn.Linear(1, 1)(x).sum()\n"
    for number, other in enumerate((project.texts["/other.py"], makes, makes)):
        project.texts["/other.py"] = other
        found.append(check(source(text.format(number)), OPTIONS, path="/a.py", finder=project).findings)
    assert counted == [2]
    assert [len(findings) for findings in found] == [0, 1, 1]


@pytest.mark.parametrize(
    ("old", "new", "analysed"),
    [
        ("        total += 1.0 * net(y)", "        # a remark\n        total += 1.0 * net(y)  # another", 1),
        ("        total += 1.0 * net(y)", "        total += (\n            1.0 * net(y)\n        )", 1),
        ("        total += 1.0 * net(y)", "        total += 1.0 * net(y)\n        total += 1", 2),
        ("        total += 1.0 * net(y)\n", "        total += 1.0 * net(y)\n\n\ndef more():\n    return 1\n", 2),
    ],
)
def test_within_a_function_that_is_run(
    counted: list[int], monkeypatch: pytest.MonkeyPatch, old: str, new: str, analysed: int
) -> None:
    texts = [TEXT, TEXT.replace(old, new, 1)]
    assert texts[0] != texts[1]
    known = [check(source(one), OPTIONS).findings for one in texts]
    assert counted == [analysed]
    monkeypatch.setattr(remembered, "_again", None)
    assert known == [check(source(one), OPTIONS).findings for one in texts]


def test_a_step_that_a_trainer_calls_keeps_its_place(counted: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    text = """\
import lightning as L
import torch


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(3, 3)
        self.total = torch.zeros(())

    def training_step(self, batch, number):
        loss = torch.nn.functional.mse_loss(self.net(batch), batch)
        self.total = self.total + loss
        return loss
"""
    texts = [text, "# a remark\n" + text, text]
    found = [check(source(one), OPTIONS).findings for one in texts]
    monkeypatch.setattr(remembered, "_again", None)
    assert found == [check(source(one), OPTIONS).findings for one in texts]


UNUSED = """\
import torch


def rate(step):
    return 0.1 * step


def helper(x):
    return rate(x)


class Meter:
    def __init__(self):
        self.total = 0

    def show(self):
        return f"{self.total}"


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, g):
        return 2 * g


def train(model, loader):
    total = 0
    for x in loader:
        loss = Twice.apply(model(x)).mean()
        loss.backward()
        total += loss
    return total
"""


@pytest.mark.parametrize(
    ("old", "new", "analysed"),
    [
        ('f"{self.total}"', "str(self.total)", 1),
        ('f"{self.total}"', 'self.total\n\n    # said\n    unit = "s"', 3),  # the class has another attribute
        ('        return f"{self.total}"', '        if self.total:\n            return "some"\n        return ""', 1),
        ("return rate(x)", "y = rate(x)\n    return y", 1),
        ("return 0.1 * step", "for k in step:\n        print(k)", 1),  # what it is given has no history
        ("return 0.1 * step", "for k in step:\n        print(torch.nn.Linear(k, 1))", 3),  # it becomes an entry point
        ("return rate(x)", "return train(rate, x)", 3),
        ("return rate(x)", "return Twice", 3),
        ('return f"{self.total}"', "yield self.total", 3),
        ("        return 2 * x", "        ctx.save_for_backward(x)\n        return 2 * x", 3),
        ("total += loss", "total += loss.item()", 3),
    ],
)
def test_a_function_that_no_path_runs_may_be_another_one(
    counted: list[int], monkeypatch: pytest.MonkeyPatch, old: str, new: str, analysed: int
) -> None:
    texts = [UNUSED, UNUSED.replace(old, new, 1), "# a remark\n" + UNUSED.replace(old, new, 1), UNUSED]
    assert texts[0] != texts[1]
    known = [check(source(one), OPTIONS).findings for one in texts]
    first = list(counted)
    monkeypatch.setattr(remembered, "_again", None)
    assert known == [check(source(one), OPTIONS).findings for one in texts]
    assert first == [analysed]


def test_an_edited_function_is_repaired_as_it_is_now(counted: list[int]) -> None:
    edited = UNUSED.replace('f"{self.total}"', "str(self.total)\n        # more")
    check(source(UNUSED), OPTIONS)
    found = fix(source(edited), OPTIONS, unsafe=True)
    assert counted == [2]  # once for both texts, and once for the repaired one
    assert found.source.text == edited.replace("total += loss", "total += loss.detach()")


def test_a_function_that_a_path_left_out_would_run_may_begin_a_history(counted: list[int]) -> None:
    """As long as it begins none, the path that leads to it is not run: that it was not run says nothing of the next."""
    before = (
        "import torch\nimport torch.nn as nn\n\n\ndef make():\n    return len\n\n\ndef f(a, xs, flags=nn):\n"
        "    net = len\n    if a:\n        pass\n    else:\n        net = make()\n    kept = []\n"
        "    for x in xs:\n        kept.append(net(x))\n    print(len(kept))\n"
    )
    after = before.replace("return len", "return nn.Linear(1, 1)")
    assert check(source(before), OPTIONS).findings == ()
    found = check(source(after), OPTIONS).findings
    assert [finding.code for finding in found] == ["AD102"]


def test_what_is_kept_with_nodes_can_be_forgotten() -> None:
    """What is found out about a node is not true any more where what stands in it is edited; see `kept.forget`."""
    texts = (path.read_text() for path in Path(remembered.__file__).parent.rglob("*.py"))
    assert [name for text in texts for name in re.findall(r'setattr\(\w+, "(_\w+)"', text)] == []
