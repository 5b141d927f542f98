"""Of an edited program, what the edit touches is looked at first, and by itself."""

from __future__ import annotations

import pytest

from autodetach import remembered
from autodetach.checker import check
from autodetach.checks import CheckOptions, CheckResult
from autodetach.incremental.again import Again
from autodetach.machine import running
from autodetach.source import Source

HEAD = "import torch\nfrom torch import nn\n"
MODEL = "class Net{0}(nn.Linear):\n    def forward(self, x):\n        return super().forward(x) * 1.0\n"
TRAINING = """\
def train_{0}(loader):
    net = Net{0}(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    total = 0.0
    for x in loader:
        loss = net(x).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
    return total
"""
UNUSED = "def unused(x):\n    return x.sum() * 3.0\n"
TEXT = HEAD + "".join(MODEL.format(n) + TRAINING.format(n) for n in (0, 1)) + UNUSED + "train_0(torch.rand(9, 1, 2))\n"
OPTIONS = CheckOptions(fixes=False)


class Editor:
    """Texts that are checked one after the other; what was `told` early of the last one, and what was run for that."""

    def __init__(self, again: Again) -> None:
        self.again = again
        self.told: list[CheckResult] = []
        self.runs: list[list[object]] = []

    def check(self, text: str) -> CheckResult:
        self.told.clear()
        self.runs.clear()
        self.again.told = self.told.append
        result = check(Source.from_text(text, "a.py"), OPTIONS)
        self.again.tidy()
        return result


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch) -> Editor:
    editor = Editor(Again())
    monkeypatch.setattr(remembered, "_again", editor.again)
    run_once = running.run_once

    def noted(*arguments: object, **named: object) -> object:
        run = run_once(*arguments, **named)  # type: ignore[arg-type]
        editor.runs.append([part.of for part in run.parts])
        return run

    monkeypatch.setattr(running, "run_once", noted)
    return editor


def lines(result: CheckResult, text: str) -> list[int]:
    return [text.count("\n", 0, finding.span.start) + 1 for finding in result.findings]


def line(text: str, words: str, number: int = 0) -> int:
    """The line of words in a text, of the first or a later one."""
    return [n for n, one in enumerate(text.split("\n"), 1) if words in one][number]


@pytest.mark.parametrize("number", [0, 1])
def test_only_what_calls_the_edited_function_is_run(editor: Editor, number: int) -> None:
    assert len(editor.check(TEXT).findings) == 2
    place = TEXT.index("total = 0.0", TEXT.index(f"train_{number}"))
    text = TEXT[:place] + "y = 2\n    " + TEXT[place:]
    result = editor.check(text)
    assert lines(result, text) == [line(text, "total += loss", n) for n in (0, 1)]
    early = editor.told[0]
    assert lines(early, text) == [line(text, "total += loss", number)]
    (run,) = editor.runs[:1]
    assert [one for one in run if isinstance(one, str)] == ["train_1"] * number
    assert early.about is not None
    first, last = line(text, f"def train_{number}"), line(text, "return total", number)
    assert (first, last) in early.about
    assert not any(a <= line(text, "return total", 1 - number) <= b for a, b in early.about)


def test_a_method_is_touched_for_all_that_call_it(editor: Editor) -> None:
    editor.check(TEXT)
    text = TEXT.replace("* 1.0", "* 2.0", 1)
    editor.check(text)
    assert lines(editor.told[0], text) == [line(text, "total += loss")]


def test_what_nobody_runs_touches_nothing(editor: Editor) -> None:
    editor.check(TEXT)
    text = TEXT.replace("* 3.0", "* 3.0\n\ndef two():\n    return 2")
    editor.check(text)
    assert editor.told == [] or editor.told[0].about is None  # a function more may be called by anybody
    before = text
    text = text.replace("return x.sum()", "for y in x:\n        x = x + y\n    return x.sum()")
    editor.check(before)
    result = editor.check(text)
    assert result.findings
    assert (editor.told[0].findings, editor.told[0].about) == ((), ())


def test_edits_add_up_until_an_analysis_ends(editor: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
    class StoppedError(BaseException):
        pass

    def stop() -> None:
        raise StoppedError

    editor.check(TEXT)
    text = TEXT.replace("total = 0.0", "total = 1.0", 1)
    with monkeypatch.context() as stopping:
        stopping.setattr(remembered, "_pausing", stop)
        with pytest.raises(StoppedError):
            editor.check(text)
    assert lines(editor.told[0], text) == [line(text, "total += loss")]
    text = text.replace("total = 0.0", "total = 2.0")
    editor.check(text)
    assert not editor.told or editor.told[0].about is None  # both are touched now


def test_a_statement_is_run_with_those_that_give_it_names(editor: Editor) -> None:
    text = HEAD + (
        "def made(n):\n    return nn.Linear(n, 1)\n"
        "def rate(n):\n    return n / 10.0\n"
        "def train(net, loader):\n    total = 0.0\n    for x in loader:\n        total += net(x).sum()\n"
        + "".join(MODEL.format(n) + TRAINING.format(n) for n in (0, 1, 2))
        + "net = made(2)\nspeed = rate(1)\nprint(train(net, torch.rand(9, 1, 2)))\n"
    )
    editor.check(text)
    text = text.replace("    total = 0.0", "    total = 1.0", 1)
    editor.check(text)
    assert lines(editor.told[0], text) == [line(text, "total += net")]
    assert [one.lineno for one in editor.runs[0] if hasattr(one, "lineno")] == [
        line(text, "net = made"),
        line(text, "print(train"),
    ]
    text = text.replace("nn.Linear(n, 1)", "nn.Linear(n, 3)")
    editor.check(text)  # what is made is used by the others
    assert lines(editor.told[0], text) == [line(text, "total += net")]


def test_what_is_imported_is_there_for_a_part(editor: Editor) -> None:
    class Finder:
        def find(self, name: str, importer: str) -> str | None:
            return "/other.py" if name == "other" else None

        def read(self, path: str) -> Source | None:
            return Source.from_text("def score(net, x):\n    return net(x).sum()\n", path)

        def peek(self, path: str) -> bytes | None:
            return b"def score(net, x):\n    return net(x).sum()\n"

    text = "from other import score\n" + TEXT.replace("net(x).sum()", "score(net, x)", 1)
    for one in (text, text.replace("total = 0.0", "total = 1.0", 1)):
        editor.told.clear()
        editor.again.told = editor.told.append
        result = check(Source.from_text(one, "/a.py"), OPTIONS, path="/a.py", finder=Finder())
        editor.again.tidy()
        assert len(result.findings) == 2
    assert len(editor.told[0].findings) == 1
    assert "/other.py" in editor.told[0].sources


def test_what_statements_of_the_module_may_change_is_changed_for_a_part(editor: Editor) -> None:
    text = HEAD + (
        "def fill(kept):\n    kept.append(nn.Linear(2, 1))\n"
        "def train(kept, loader):\n    total = 0.0\n    for x in loader:\n        total += kept[0](x).sum()\n"
        "    return total\n"
        + "".join(MODEL.format(n) + TRAINING.format(n) for n in (0, 1, 2))
        + "kept = []\nfill(kept)\ntrain_0(torch.rand(9, 1, 2))\nprint(train(kept, torch.rand(9, 1, 2)))\n"
    )
    editor.check(text)
    text = text.replace("    total = 0.0", "    total = 1.0", 1)
    editor.check(text)
    assert lines(editor.told[0], text) == [line(text, "total += kept")]
    assert [one.lineno for one in editor.runs[0] if hasattr(one, "lineno")] == [
        line(text, "fill(kept)", 1),
        line(text, "print(train"),
    ]
