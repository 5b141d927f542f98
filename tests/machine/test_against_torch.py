"""The programs of `programs.py` on the installed PyTorch and on the machine: the same first error, on the same line."""

from __future__ import annotations

import ast
import functools
import traceback
import warnings
from types import CodeType

import torch
from programs import PROGRAMS

from autodetach.machine.graph import Differentiation
from autodetach.machine.run import Analysis, Run, analyse

SOURCES = dict(PROGRAMS)
NAMES = [name for name, _ in PROGRAMS]
MESSAGES = {
    "second": "backward through the graph a second time",
    "version": "modified by an inplace operation",
}

Verdict = tuple[str, int] | None
"""The kind of the first error and the line of the innermost frame of the program, or None where there is no error."""

DISAGREE: dict[str, str] = {}
"""Programs that the machine judges otherwise than PyTorch does, and why."""

ACCUSED: dict[str, str] = {}
"""Healthy programs that the machine believes to stop or to fail on some path, and why."""


# ---- PyTorch


@functools.cache
def verdict_of_torch(name: str) -> Verdict:
    """Run a program as `__main__` in a namespace of its own; any other error than the two is the program's fault."""
    code = compile(SOURCES[name], f"<{name}>", "exec")
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run_code(code)
        except RuntimeError as error:
            kind = next((kind for kind, text in MESSAGES.items() if text in str(error)), None)
            if kind is None:
                raise
            frames = traceback.extract_tb(error.__traceback__)
            lines = [f.lineno for f in frames if f.filename == code.co_filename and f.lineno is not None]
            return kind, lines[-1]
        finally:
            torch.set_grad_enabled(True)
    return None


def run_code(code: CodeType) -> None:
    exec(code, {"__name__": "__main__"})


# ---- the machine


@functools.cache
def analysed(name: str) -> Analysis:
    return analyse(ast.parse(SOURCES[name]))


def verdict_of_machine(run: Run) -> Verdict:
    """The first differentiation of a path in which PyTorch would raise."""
    machine = run.machine
    found: list[tuple[Differentiation, str]] = [(e.second, "second") for e in machine.second_walks]
    found += [(e.by, "version") for e in machine.stale]
    if not found:
        return None
    first, kind = min(found, key=lambda pair: pair[0].number)
    return kind, first.call.lineno
