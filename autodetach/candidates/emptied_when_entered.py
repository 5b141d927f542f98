"""What an object collects while a `with` block runs, it forgets when the next one begins."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from autodetach.candidates.emptied import is_filled
from autodetach.candidates.emptying import behind_docstring
from autodetach.candidates.grown_alike import is_list
from autodetach.candidates.set_back_too import FORGOTTEN, attribute_of, begin_of
from autodetach.machine.activations import Activation
from autodetach.machine.program_values import Frame, Instance
from autodetach.node_types import LOOPS
from autodetach.suspect import Candidate
from autodetach.view.holders import Holder, Replay
from autodetach.view.meant import method_of, object_of
from autodetach.view.moments import Moment, begun_at
from autodetach.view.program import Program


def emptied_when_entered(
    program: Program, again: Replay, d: Moment, activation: Activation, held: Collection[Holder]
) -> Iterator[Candidate]:
    """`self.terms = []` in `__enter__` of a recorder that each pass enters once, as the constructor says."""
    from autodetach.codemods.insert_statement import InsertStatement

    begins: dict[ast.stmt, dict[str, None]] = {}
    for holder in held:
        owner = holder.owner
        entering = _entering(owner) if owner is not None else None
        if owner is None or entering is None or not is_list(holder.value) or not is_filled(again, holder.value):
            return
        begin = begin_of(owner, attribute_of(holder), entering.args.args[0].arg)
        if begin is None or not _is_entered_once(program, again, d, activation, owner):
            return
        begins.setdefault(behind_docstring(entering)[0], {})[begin] = None
    if begins:
        codemods = tuple(InsertStatement(first, "\n".join(lines), "before") for first, lines in begins.items())
        shown = ", ".join(f"`{line}`" for lines in begins.values() for line in lines)
        yield Candidate(f"begin anew in `__enter__`: {shown}", codemods, FORGOTTEN)


def _entering(owner: Instance) -> ast.FunctionDef | None:
    found = method_of(owner, "__enter__")
    node = found.node if found is not None else None
    return node if isinstance(node, ast.FunctionDef) and node.args.args and behind_docstring(node) else None


def _is_entered_once(program: Program, again: Replay, d: Moment, activation: Activation, owner: Instance) -> bool:
    """Whether the pass has one `with` statement for an object, in the functions that run it, and in no loop of it."""
    loop, begun = activation.node, begun_at(program, d, activation.node)
    inside = d.trail if begun is None else d.trail[begun + 1 :]
    frames = {program.scope(s): f for s, f in inside if isinstance(f, Frame)}
    found = [
        s
        for s in again.machine.executed
        if isinstance(s, ast.With) and (frame := frames.get(program.scope(s))) is not None
        for item in s.items
        if object_of(item.context_expr, frame) is owner and (begun is None or _is_in(program, s, loop))
    ]
    around = [at for s in found for at in program.enclosing(s) if isinstance(at, LOOPS) and at is not loop]
    return len(found) == 1 and (loop is None or set(around) <= set(program.enclosing(loop)))


def _is_in(program: Program, statement: ast.stmt, loop: ast.AST | None) -> bool:
    """Whether a statement stands in a loop, or in another function than that."""
    return loop is None or program.scope(statement) is not program.scope(loop) or loop in program.enclosing(statement)
