"""What lies in `programs` on PyTorch and on the machine: the same first error, on the same line."""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import random
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from autodetach.machine.exploring import analyse
from autodetach.machine.graph import Differentiation
from autodetach.machine.run import Analysis, Run

FILES = sorted((Path(__file__).parent / "programs").glob("*/*.py"))
SOURCES = {path.stem: path.read_text() for path in FILES}
MESSAGES = {
    "second": "backward through the graph a second time",
    "version": "modified by an inplace operation",
}
ENGINE = "_engine_run_backward"
"""The function of PyTorch behind which frames of the program, if any, run inside of the differentiation."""

Verdict = tuple[str, int] | None
"""The kind of the first error and the line of the call that raises it, or None where there is no error."""

DISAGREE: dict[str, str] = {}
"""Programs that the machine judges otherwise than PyTorch does, and what the machine does not model."""


def programs() -> Iterator[Any]:
    """All programs as parameters; those that are judged otherwise are expected failures."""
    for name in SOURCES:
        if name in DISAGREE:
            fault = pytest.mark.xfail(strict=True, raises=AssertionError, reason=DISAGREE[name])
            yield pytest.param(name, id=name, marks=fault)
        else:
            yield pytest.param(name, id=name)


# ---- PyTorch


@functools.cache
def verdict_of_torch(name: str) -> Verdict:
    """Run a program as `__main__` in a namespace of its own; any other error than the two is a fault of the program."""
    code = compile(SOURCES[name], f"<{name}>", "exec", dont_inherit=True)
    torch.manual_seed(0)
    random.seed(0)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            exec(code, {"__name__": "__main__"})
        except RuntimeError as error:
            kind = next((kind for kind, text in MESSAGES.items() if text in str(error)), None)
            if kind is None:
                raise
            return kind, line_of(traceback.extract_tb(error.__traceback__), code.co_filename)
        finally:
            torch.set_grad_enabled(True)
    return None


def line_of(frames: traceback.StackSummary, filename: str) -> int:
    """The line of the innermost frame of the program that stands outside of the engine."""
    line = 0
    for frame in frames:
        if frame.name == ENGINE:
            break
        if frame.filename == filename:
            line = frame.lineno or 0
    return line


# ---- the machine


@functools.cache
def analysed(name: str) -> Analysis:
    return analyse(ast.parse(SOURCES[name]))


def verdict_of_machine(run: Run) -> Verdict:
    """The first differentiation of a path in which PyTorch would raise."""
    found: list[tuple[Differentiation, str]] = [(e.second, "second") for e in run.machine.second_walks]
    found += [(e.by, "version") for e in run.machine.stale]
    if not found:
        return None
    first, kind = min(found, key=lambda pair: pair[0].number)
    return kind, first.call.lineno


# ---- what must hold


def test_names_are_unique() -> None:
    assert len(SOURCES) == len(FILES)


def test_about_half_of_the_programs_raise() -> None:
    """Otherwise a machine that always says the same would do well."""
    verdicts = [verdict_of_torch(name) for name in SOURCES]
    kinds = [None if verdict is None else verdict[0] for verdict in verdicts]
    assert 0.4 < kinds.count(None) / len(kinds) < 0.6
    assert kinds.count("second") > 100
    assert kinds.count("version") > 25


@pytest.mark.parametrize("name", list(programs()))
def test_same_verdict(name: str) -> None:
    """On the first path. What runs to its end may on no path be one that raises, stops or uses a wrong type."""
    expected = verdict_of_torch(name)
    analysis = analysed(name)
    assert analysis.complete
    assert verdict_of_machine(analysis.runs[0]) == expected
    if expected is None:
        for run in analysis.runs:
            assert verdict_of_machine(run) is None, run.policy
            assert run.stopped_by == "", run.policy
            assert run.machine.type_faults == [], run.policy
