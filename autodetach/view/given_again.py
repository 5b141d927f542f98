"""What callers out of view give to a function that computes with it anew in each pass of a loop."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from autodetach.machine.activations import Activation, Pass
from autodetach.machine.arguments import parameter_names
from autodetach.machine.graph import Differentiation
from autodetach.machine.program_values import Frame
from autodetach.machine.told_of_values import is_scalar
from autodetach.machine.values import Opaque
from autodetach.view.by_call import at_call
from autodetach.view.other_entries import is_called_on_another_path
from autodetach.view.program import Program


def given_again(program: Program, call: ast.Call) -> str | None:
    """The parameter of an entry point with which several passes of a loop there compute what they differentiate.

    If it is given with a graph, each pass walks that again: with `retain_graph` this runs, and without it raises.
    """
    for run in program.runs:
        entries = {name for name in run.entries if not is_called_on_another_path(program, name)}
        seen: dict[tuple[Activation, int], Pass] = {}
        for d in at_call(run, call):
            for within_pass, names in _loops_of_entries(entries, d):
                for value in _operands(d, within_pass):
                    root = _root(value)
                    if root.name not in names:
                        continue
                    first = seen.setdefault((within_pass.activation, id(value)), within_pass)
                    if first is not within_pass:
                        return root.name
    return None


def _loops_of_entries(entries: Container[str], d: Differentiation) -> Iterator[tuple[Pass, frozenset[str]]]:
    """The loops around a differentiation that stand in functions nobody in view calls, with what these are given."""
    for within_pass in d.loops:
        frame = within_pass.activation.frame
        if within_pass.activation.node is None or not isinstance(frame, Frame) or frame.qualname not in entries:
            continue
        if frame.function is not None:
            yield within_pass, parameter_names(frame.function.node.args) - {"self", "cls"}


def _operands(d: Differentiation, within_pass: Pass) -> Iterator[Opaque]:
    """Values of unknown type that a pass computes with, but for factors of a loss, which are numbers."""
    for node in d.walked:
        if node.leaf or within_pass not in node.loops:
            continue
        operands = node.site.operands
        if isinstance(node.site.node, ast.BinOp) and any(is_scalar(value) for _, value in operands):
            continue
        yield from (value for _, value in operands if isinstance(value, Opaque))


def _root(value: Opaque) -> Opaque:
    """What a part was taken from: `batch` of `batch[0]`."""
    while value.owner is not None:
        value = value.owner
    return value
