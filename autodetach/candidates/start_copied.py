"""What every pass is to begin with is copied where it is taken: what a pass writes into it belongs to that pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.reads import Repair
from autodetach.container_methods import CHANGING
from autodetach.machine.children import walk
from autodetach.machine.spelling import last_word
from autodetach.machine.values import Mapping, Sequence, Value
from autodetach.view.crossings import Crossed
from autodetach.view.holders import Replay
from autodetach.view.program import Program, text

PLACES = (ast.Name, ast.Attribute)


def begun_with_copy(program: Program, again: Replay, crossed: list[Crossed]) -> Iterator[Repair]:
    """`self.state = self.start` -> `self.state = self.start.copy()`, where `self.state["h"] = h` follows.

    Both names mean one dict, so that a statement which is to begin the state anew does nothing.
    """
    from autodetach.codemods.append_method import AppendMethod

    makers = {maker for _, _, maker in crossed}
    written = (e.container for e in again.machine.stored if e.how == "key" and e.node in makers)
    tables = [table for table in written if isinstance(table, Mapping) or table.kind == "list"]
    for name, start in dict.fromkeys(_names(again, crossed, tables)):
        for statement in sorted(_taking(again, name, start), key=lambda s: s.lineno):
            if not _is_written(program, start):
                yield f"begin with a copy: `{text(statement)}`", (AppendMethod(statement.value, "copy"),)


def _names(again: Replay, crossed: list[Crossed], tables: list[Mapping | Sequence]) -> Iterator[tuple[str, str]]:
    """Two names of an object, or of a frame, that stand for the same one of these containers."""
    for _, operand, _ in crossed:
        for holder in again.of(operand):
            names: dict[str, Value] = holder.owner.attrs if holder.owner is not None else holder.frame.names
            for table in tables:
                alike = [name for name, value in names.items() if value is table]
                yield from ((a, b) for a in alike for b in alike if a != b)


def _taking(again: Replay, name: str, start: str) -> Iterator[ast.Assign]:
    """The statements that have run and give one of the names what the other one stands for."""
    for statement in again.machine.executed:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
            is_alike = isinstance(target, PLACES) and type(target) is type(value)
            if is_alike and (last_word(target), last_word(value)) == (name, start):
                yield statement


def _is_written(program: Program, name: str) -> bool:
    """Whether the program changes what it begins with under that name: then that is meant to change."""
    for node in (n for tree in program.analysis.trees for n in walk(tree)):
        changed: ast.expr | None = None
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            changed = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
            changed = node.func.value
        if changed is not None and last_word(changed) == name:
            return True
    return False
