"""A list is emptied once its pass has read it; who else may read it later speaks against that."""

from __future__ import annotations

from pathlib import Path

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

FIXTURES = Path(__file__).parent.parent / "fixtures" / "stored-history"
LATER = "what reads the list may be called again, where no run has come to"


def why_unsafe(fixture: str, old: str, new: str) -> str | None:
    text = (FIXTURES / fixture).read_text(encoding="utf-8")
    assert old in text
    (found,) = check(Source.from_text(text.replace(old, new, 1), "a.py"), CheckOptions()).findings
    assert found.fix is not None
    assert found.fix.message.startswith("empty")
    return found.fix.why_unsafe


END = "        return loss.item()"
TWO = "list_of_hooks_two_readers.before.py"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (END, END, None),
        (END, f"        if x is None:\n            self.outputs.last()\n{END}", LATER),
        ("trainer = Trainer()", "trainer = Trainer()\natexit.register(lambda: trainer.outputs.last())", LATER),
        ("trainer = Trainer()", "def show(trainer):\n    print(trainer.outputs.last())\n\ntrainer = Trainer()", LATER),
        ("trainer = Trainer()", "trainer = Trainer()\nlast = 3", None),
    ],
)
def test_who_reads_a_list_may_be_called_again(old: str, new: str, why: str | None) -> None:
    assert why_unsafe(TWO, old, new) == why


def test_another_name_may_be_bound_too_late() -> None:
    assert why_unsafe(TWO, END, f"        taps = self.outputs\n{END}") is None
