"""An error of PyTorch that old programs meet: `loss.data[0]`, an element of a tensor that has no dimension."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from autodetach.doctor.diagnosis import Diagnosis, Kind, Step
from autodetach.doctor.frames import Site, Territory, function_of
from autodetach.doctor.holders import Binding
from autodetach.doctor.reading import statement_at
from autodetach.machine.spelling import spelled

WORDS = "invalid index of a 0-dim tensor"


def indexed_scalar(error: BaseException, territory: Territory) -> Diagnosis | None:
    """Which name of the line that raised is such a tensor; None for another error, or where that is not to be seen."""
    if not isinstance(error, IndexError) or WORDS not in str(error):
        return None
    trace, innermost = error.__traceback__, None
    while trace is not None:
        if territory.owns(trace.tb_frame.f_code):
            innermost = trace
        trace = trace.tb_next
    if innermost is None:
        return None
    frame = innermost.tb_frame
    at = Site(frame.f_code.co_filename, innermost.tb_lineno, function_of(frame.f_code))
    variables = {**frame.f_globals, **frame.f_locals}
    for node in _subscripts(statement_at(at)):
        path = _path(node.value)
        if path is not None and getattr(_value(path, variables), "shape", None) == ():
            site = Site(at.path, node.lineno, at.function)
            binding = Binding(path, path.partition(".")[0], at.path, at.function)
            text = f"takes an element of `{path}`, a tensor of no dimension: PyTorch raises"
            message = f"`{path}` has no dimension, and `{spelled(node)}` no element: its value is `{path}.item()`"
            return Diagnosis(Kind.SCALAR, message, site, binding, (Step(site, text),))
    return None


def _subscripts(statement: ast.stmt | None) -> Iterator[ast.Subscript]:
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.Subscript):
            yield node


def _path(node: ast.expr) -> str | None:
    """The name of what is indexed, without `.data`; None for what is no name and no attribute of one."""
    if isinstance(node, ast.Attribute) and node.attr == "data":
        node = node.value
    inner = node
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    return spelled(node) if isinstance(inner, ast.Name) else None


def _value(path: str, variables: Mapping[str, Any]) -> Any:
    """What the name leads to, without running code of the program."""
    root, *rest = path.split(".")
    value = variables.get(root)
    for name in rest:
        fields = getattr(value, "__dict__", {})
        value = fields.get(name) if isinstance(fields, dict) else None
    return value
