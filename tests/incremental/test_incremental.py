"""After every edit of a long series, what is found with all that is remembered is what is found without."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from test_follow import edited

from autodetach import remembered
from autodetach.checker import check
from autodetach.checks import CheckOptions, CheckResult
from autodetach.incremental.again import Again
from autodetach.source import Source

FIXTURES = sorted((Path(__file__).parent.parent.parent / "fixtures").glob("*/*.before.py"))
STEPS = int(os.environ.get("AUTODETACH_EDITS", "12"))
OPTIONS = CheckOptions(fixes=False)
USUAL = (
    (".item()", ""),
    (".detach()", ""),
    ("total += loss", "total += loss.item()"),
    ("retain_graph=True", ""),
    ("loss.backward()", "loss.backward(retain_graph=True)"),
    ("optimizer.zero_grad()", "pass"),
    ("def train", "def training_step"),
    ("def forward", "def forwards"),
)


def found(text: str) -> CheckResult:
    """All but the sources, which are only equal to themselves, and what it took."""
    return check(Source.from_text(text, "a.py"), OPTIONS)._replace(sources={}, uses={}, cost=0)


def changed(text: str, chance: random.Random) -> str:
    """A change as people make them, or a blind one."""
    if chance.random() < 0.4:
        old, new = chance.choice(USUAL)
        return text.replace(old, new, 1) if chance.random() < 0.7 else text.replace(new or old, old, 1)
    return edited(text, chance)


@pytest.mark.parametrize("path", FIXTURES[::3], ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_what_is_found_while_a_text_is_edited(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(f"incremental {path.stem}")
    again = Again()
    start = text = path.read_bytes().decode().replace("\r\n", "\n")
    for number in range(STEPS):
        monkeypatch.setattr(remembered, "_again", again)
        first: list[CheckResult] = []
        again.told = first.append
        known = found(text)
        again.tidy()
        monkeypatch.setattr(remembered, "_again", None)
        assert known == found(text), f"edit {number} of {path}:\n{text}"
        text = start if chance.random() < 0.1 else changed(text, chance)


def test_work_that_is_stopped_leaves_nothing_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    class StoppedError(BaseException):
        pass

    def stop() -> None:
        if chance.random() < 0.3:
            raise StoppedError

    chance = random.Random("stopped")
    path = next(p for p in FIXTURES if p.stem.startswith("while_with_early_stop"))
    start = text = path.read_text(encoding="utf-8")
    again = Again()
    stopped = 0
    for _ in range(4 * STEPS):
        monkeypatch.setattr(remembered, "_again", again)
        monkeypatch.setattr(remembered, "_pausing", stop)
        try:
            known = found(text)
        except StoppedError:
            stopped += 1
        else:
            monkeypatch.setattr(remembered, "_again", None)
            monkeypatch.setattr(remembered, "_pausing", None)
            assert known == found(text)
        again.tidy()
        text = start if chance.random() < 0.2 else changed(text, chance)
    assert 0 < stopped < 4 * STEPS


SCRIPT = """\
import torch

net = torch.nn.Linear(1, 1)


def train(x, options):
    total = 0
    for y in x:
        loss = net(y).mean()
        if options.twice:
            loss = loss * 2
        loss.backward()
        total += loss
    return total
"""


def test_the_first_path_is_told_before_the_others_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    again = Again()
    monkeypatch.setattr(remembered, "_again", again)
    told: list[CheckResult] = []
    again.told = told.append
    last = found(SCRIPT)
    assert len(told) == 1
    assert told[0].findings == last.findings != ()
    found(SCRIPT.replace("if options.twice:\n            loss = loss * 2\n        ", ""))
    assert len(told) == 1  # there is no other path
    found(SCRIPT + "# said\n")
    assert len(told) == 2
    found(SCRIPT + "# said\n\n# more\n")
    assert len(told) == 2  # nothing is run
