"""The progress bar."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator

import pytest

from autodetach.progress import tracked


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def bar(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, *, seconds_each: float, count: int = 8) -> str:
    now = 0.0

    def items() -> Iterator[int]:
        nonlocal now
        for number in range(count):
            now += seconds_each
            yield number

    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("time.monotonic", lambda: now)
    assert list(tracked(items(), count)) == list(range(count))
    return stream.getvalue()


def test_a_person_who_waits_sees_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Checking" in bar(monkeypatch, Terminal(), seconds_each=0.5)


def test_nobody_else_does(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bar(monkeypatch, io.StringIO(), seconds_each=0.5) == ""
    assert bar(monkeypatch, Terminal(), seconds_each=0.01) == ""
    assert bar(monkeypatch, Terminal(), seconds_each=9.0, count=1) == ""
