"""The long runs, short."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from . import soak_runs, soak_server, world
from .promises import kept

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.skipif(sys.platform != "linux", reason="memory and processes are read off /proc")
def test_the_server_works_for_a_while() -> None:
    report = soak_server.soak(edits=120, seed=3)
    assert report.wrong == []
    assert report.opens > 5
    assert report.questions > 5


def test_runs_at_the_same_time_share_a_cache() -> None:
    report = soak_runs.soak(runs=8, seed=3)
    assert report.wrong == []
    assert report.runs == 8


@pytest.mark.skipif(sys.platform != "linux", reason="each file is a process that the system ends")
def test_the_world_holds(capsys: pytest.CaptureFixture[str]) -> None:
    assert world.main(["--stdlib", "--files", "12", "--seed", "5", "--forced"]) == 0
    out = capsys.readouterr().out
    assert "12 files, " in out
    assert "0 broken promises" in out


@pytest.mark.skipif(sys.platform != "linux", reason="each file is a process that the system ends")
def test_the_world_shows_what_breaks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A fault is no less told than a finding."""
    before = ROOT / "fixtures/accumulated-loss/textbook_nested.before.py"
    (tmp_path / "a.py").write_bytes(before.read_bytes())
    assert world.main([str(tmp_path)]) == 0
    assert "found  0-" in capsys.readouterr().out
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(world, "look", lambda *_, **__: sys.exit("no"))
        assert world.main([str(tmp_path)]) == 1
    assert "WRONG  " in capsys.readouterr().out


def test_promises_are_held_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A repair that does not parse, or that is not what is shown, would be noticed."""
    raw = (ROOT / "fixtures/accumulated-loss/textbook_nested.before.py").read_bytes()
    assert not kept("a.py", raw).wrong
    monkeypatch.setattr("autodetach.source.Source.stored_with", lambda self, edits: b"(")
    assert "what is written is not what was proven" in kept("a.py", raw).wrong
