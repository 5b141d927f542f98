"""A table of states, as `hidden[layer]`, is cut as a whole where a pass differentiates."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile

from autodetach.candidates.detaching import structural
from autodetach.candidates.reads import Repair
from autodetach.machine.activations import Activation
from autodetach.machine.children import walk
from autodetach.machine.held import contents
from autodetach.machine.program_values import Frame, Instance
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Mapping, Sequence, Value
from autodetach.node_types import FUNCTIONS
from autodetach.view.crossings import Crossed
from autodetach.view.holders import Holder, Replay
from autodetach.view.moments import Moment, behind_step, placed
from autodetach.view.program import Program, text

Table = Mapping | Sequence


def whole_tables(
    program: Program, again: Replay, d: Moment, activation: Activation, crossed: list[Crossed]
) -> Iterator[Repair]:
    """Where one entry is cut, or in the function to which the table is handed."""
    tables = _tables(again, crossed)
    if tables:
        yield from _cut_for_all(program, again, d, activation, tables)
        yield from _cut_where_handed(program, again, d, activation, tables)


def _cut_for_all(
    program: Program, again: Replay, d: Moment, activation: Activation, tables: list[Table]
) -> Iterator[Repair]:
    """`hidden[last] = hidden[last].detach()` is done for every entry: beside it, the program forgets the others."""
    from autodetach.codemods.replace_statement import ReplaceStatement

    for frame in _frames(d, activation):
        for statement in _statements(frame):
            target = statement.targets[0]
            if statement not in again.machine.executed or not isinstance(target, ast.Subscript):
                continue
            table = next((t for t in tables if t is _value(frame, target.value)), None)
            cut = _cut(program, statement, spelled(target.value), table)
            if cut and _is_cut(statement, target) and not _is_chosen(program, statement, target.slice):
                unused = _only_for(program, statement, target.slice)
                dropped = () if unused is None else (ReplaceStatement(unused, ""),)
                message = f"detach all of `{text(target.value)}`, and not `{text(target)}` alone"
                yield message, (*dropped, ReplaceStatement(statement, cut))


def _cut_where_handed(
    program: Program, again: Replay, d: Moment, activation: Activation, tables: list[Table]
) -> Iterator[Repair]:
    """In the function that differentiates in some passes alone, where the table is one of its arguments.

    In the loop that calls it, each pass would cut, and nothing be learned of what goes from one pass to the next.
    """
    from autodetach.codemods.insert_statement import InsertStatement

    inner = takewhile(lambda f: f is not activation.frame, _frames(d, activation))
    given = ((f, name, t) for f in inner for name, value in f.names.items() for t in tables if value is t)
    frame, name, table = next(given, (None, "", None))
    statement = placed(program, d, frame, activation.node) if frame is not None else None
    if frame is None or statement is None or not _is_guarded(program, statement):
        return
    cut = _cut(program, statement, name, table)
    if cut:
        anchor = behind_step(program, again.machine, d, statement, frame)
        yield f"detach all of `{name}` behind the step", (InsertStatement(anchor, cut),)


def _is_guarded(program: Program, statement: ast.stmt) -> bool:
    """Whether a function may do without a statement: in an `if`, or behind one that leaves the function."""
    for at in (statement, *program.enclosing(statement)):
        if isinstance(at, FUNCTIONS) or not isinstance(at, ast.stmt):
            return False
        block = program.block(at)
        before = block[: block.index(at)] if at in block else []
        leaves = (isinstance(n, ast.Return) for s in before if isinstance(s, ast.If) for n in ast.walk(s))
        if isinstance(at, ast.If) or any(leaves):
            return True
    return False


def _tables(again: Replay, crossed: list[Crossed]) -> list[Table]:
    """The containers that may be changed, each of which holds all of the states."""
    held = [{id(t): t for h in again.of(operand) if (t := _table(h)) is not None} for _, operand, _ in crossed]
    return [t for key, t in held[0].items() if all(key in others for others in held)] if held else []


def _table(holder: Holder) -> Table | None:
    """What a name, or an attribute of an object, holds on the way to a tensor, if it is a dict or a list."""
    found = holder.frame.names.get(holder.name)
    if holder.owner is not None:
        found = holder.owner.attrs.get(holder.rest[1:].partition("[")[0])
    is_table = isinstance(found, Mapping) or (isinstance(found, Sequence) and found.kind == "list")
    return found if is_table and isinstance(found, (Mapping, Sequence)) and len(found.items) > 1 else None


def _frames(d: Moment, activation: Activation) -> list[Frame]:
    """The calls that were open in the loop when `d` ran, the innermost first."""
    begun = next((n for n, (s, _) in enumerate(d.trail) if s is activation.node), len(d.trail))
    return list({id(f): f for _, f in reversed(d.trail[begun:]) if isinstance(f, Frame)}.values())


def _statements(frame: Frame) -> list[ast.Assign]:
    function = frame.function.node if frame.function is not None else None
    found = [n for n in walk(function) if isinstance(n, ast.Assign)] if function is not None else []
    return sorted((n for n in found if len(n.targets) == 1), key=lambda n: n.lineno)


def _value(frame: Frame, expression: ast.expr) -> Value:
    """What a name, or an attribute, stands for in a frame."""
    if isinstance(expression, ast.Name):
        return frame.names.get(expression.id)
    of = _value(frame, expression.value) if isinstance(expression, ast.Attribute) else None
    return of.attrs.get(expression.attr) if isinstance(of, Instance) and isinstance(expression, ast.Attribute) else None


def _is_cut(statement: ast.Assign, target: ast.Subscript) -> bool:
    """Whether a statement does nothing but to detach an entry: `t[k] = t[k].detach()`, `t[k] = tuple(...)`."""
    value = statement.value
    detaches = any(isinstance(n, ast.Attribute) and n.attr == "detach" for n in ast.walk(value))
    reads = [spelled(n) for n in ast.walk(value) if isinstance(n, ast.Subscript)]
    return detaches and reads == [spelled(target)]


def _is_chosen(program: Program, statement: ast.stmt, key: ast.expr) -> bool:
    """Whether a key is written out, or is one of those that a loop goes through: then some may be meant to stay."""
    loops = [at for at in program.enclosing(statement) if isinstance(at, (ast.For, ast.AsyncFor))]
    counted = {n.id for loop in loops for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    return isinstance(key, ast.Constant) or any(isinstance(n, ast.Name) and n.id in counted for n in ast.walk(key))


def _cut(program: Program, statement: ast.stmt, table: str, value: Table | None) -> str | None:
    """The loop that detaches every entry; None where they are not all of a kind, or the name of a key is taken."""
    if value is None:
        return None
    scope = program.scope(statement)
    taken = program.names_read(scope) | program.names_bound(scope)
    if isinstance(value, Sequence):
        name, over = "i", f"range(len({table}))"
    else:
        name, over = "name" if all(isinstance(k, str) for k, _ in value.items.values()) else "key", table
    first, *others = (structural(f"{table}[{name}]", held) for held in contents(value))
    if name in taken or first is None or any(other != first for other in others):
        return None
    return f"for {name} in {over}:\n    {table}[{name}] = {first}"


def _only_for(program: Program, statement: ast.stmt, key: ast.expr) -> ast.Assign | None:
    """The statement that binds a name for the key of another one, and for nothing else."""
    block, scope = program.block(statement), program.scope(statement)
    above = block[block.index(statement) - 1] if statement in block[1:] else None
    if not isinstance(above, ast.Assign) or not isinstance(key, ast.Name) or spelled(above.targets[0]) != key.id:
        return None
    inside = {*ast.walk(above), *ast.walk(statement)}
    used = any(isinstance(n, ast.Name) and n.id == key.id and n not in inside for n in walk(scope))
    is_plain = all(isinstance(n, (ast.Name, ast.Attribute, ast.expr_context)) for n in ast.walk(above.value))
    return above if is_plain and not used and len(above.targets) == 1 else None
