"""Tensors made by an expression that reads `.grad` of what it made in the pass before."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.children import targets_of, walk
from autodetach.machine.events import NonLeafGrad, UnreachedGrad
from autodetach.machine.spelling import spelled
from autodetach.named_tuples import NamedTuple
from autodetach.once import once
from autodetach.view.program import Program, parts_of


class OwnUpdate(NamedTuple):
    """`p - lr * p.grad` as it is written anywhere, and the `p.grad` in it that is None from the second pass on."""

    made: ast.expr
    reader: ast.Attribute


class EntryUpdate(NamedTuple):
    """`params[key] = p - lr * p.grad` in a loop over the entries, and the `p.grad` that is None in the next pass."""

    statement: ast.Assign
    loop: ast.For
    reader: ast.Attribute


def reads_of_none(program: Program) -> Iterator[tuple[NonLeafGrad, ast.Attribute]]:
    """Reads of `.grad` that gave None, on tensors that an operation of the program made."""
    for run in program.runs:
        for fact in run.machine.facts:
            if isinstance(fact, NonLeafGrad) and isinstance(fact.site.node, ast.Attribute):
                yield fact, fact.site.node


def computed_with_none(program: Program) -> Iterator[ast.Attribute]:
    """Reads of `.grad` of leaves that no differentiation has reached, where None cannot stand."""
    for run in program.runs:
        for fact in run.machine.facts:
            reader = fact.site.node if isinstance(fact, UnreachedGrad) else None
            if isinstance(reader, ast.Attribute) and _is_computed_with(program, reader):
                yield reader


def own_updates(program: Program) -> Iterator[list[OwnUpdate]]:
    """The updates that compute with None in the next pass, by the statements in which they stand."""
    found: dict[ast.stmt, dict[ast.expr, OwnUpdate]] = {}
    for fact, reader in reads_of_none(program):
        statement = program.statement(reader)
        made = _made_by(program, fact, statement)
        if made is None or statement is None or _may_become_parameter(program, statement):
            continue
        if _is_computed_with(program, reader):
            found.setdefault(statement, {}).setdefault(made, OwnUpdate(made, reader))
    for statement, updates in found.items():
        for one in _in_tuple(statement):
            updates.setdefault(one.made, one)
        yield sorted(updates.values(), key=lambda one: (one.made.lineno, one.made.col_offset))


@once
def statements_of_own_updates(program: Program) -> frozenset[ast.stmt]:
    """The statements in which such updates stand."""
    found = (program.statement(one.made) for updates in own_updates(program) for one in updates)
    return frozenset(s for s in found if s is not None)


def _made_by(program: Program, fact: NonLeafGrad, statement: ast.stmt | None) -> ast.expr | None:
    """The expression around the read that has made the very tensor whose gradient is read."""
    node = fact.tensor.node
    if node is None:  # made where nothing is recorded: only the names tell
        pairs = _in_tuple(statement) if statement is not None else ()
        return next((pair.made for pair in pairs if pair.reader is fact.site.node), None)
    made = node.site.node
    if node.leaf or node.weak or not isinstance(made, ast.expr):
        return None
    return made if made in program.enclosing(fact.site.node) else None


def _may_become_parameter(program: Program, statement: ast.stmt) -> bool:
    """Whether an entry is set of what may be a `ParameterList` or the like, which makes leaves of what it gets."""
    parts = [part for target in targets_of(statement) for part in parts_of(target)]
    return any(isinstance(t, ast.Subscript) and not _is_plain_container(program, t.value) for t in parts)


def _is_plain_container(program: Program, container: ast.expr) -> bool:
    """Whether the program only ever binds a name to lists and dicts."""
    bound = [
        other.value
        for other in walk(program.file_of(container))
        if isinstance(other, ast.Assign) and any(spelled(t) == spelled(container) for t in other.targets)
    ]
    return bool(bound) and all(
        isinstance(value, (ast.List, ast.ListComp, ast.Dict, ast.DictComp))
        or (isinstance(value, ast.Call) and spelled(value.func) in ("list", "dict"))
        for value in bound
    )


def entry_updates(program: Program) -> Iterator[EntryUpdate]:
    """The updates of entries by the name that a loop over their container has for them, where nothing is recorded."""
    for fact, reader in reads_of_none(program):
        if fact.tensor.node is None and _is_computed_with(program, reader):
            loops = (at for at in program.enclosing(reader) if isinstance(at, ast.For))
            loop = next((at for at in loops if spelled(reader.value) in map(spelled, parts_of(at.target))), None)
            if loop is not None:
                yield from (EntryUpdate(s, loop, reader) for s in _entries_set(program, loop, spelled(reader.value)))


def _entries_set(program: Program, loop: ast.For, name: str) -> Iterator[ast.Assign]:
    """`params[key] = p - ...` in `for key, p in params.items()`, or in `for key, p in enumerate(params)`."""
    over, names = loop.iter, [spelled(part) for part in parts_of(loop.target)]
    if not isinstance(over, ast.Call) or len(names) != 2 or names[1] != name:
        return
    if isinstance(over.func, ast.Attribute) and over.func.attr == "items":
        container = over.func.value
    elif spelled(over.func) == "enumerate" and len(over.args) == 1 and not over.keywords:
        container = over.args[0]
    else:
        return
    for node in walk(loop):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
            entry, value = node.targets[0], node.value
            is_same = spelled(entry.value) == spelled(container) and spelled(entry.slice) == names[0]
            if not (is_same and isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub))):
                continue
            if spelled(value.left) == name and _is_plain_container(program, container):
                yield node


def _is_computed_with(program: Program, reader: ast.Attribute) -> bool:
    """Whether None cannot stand where it is read: an operand, or what an attribute is asked of."""
    return isinstance(program.parents.get(reader), (ast.BinOp, ast.UnaryOp, ast.Attribute))


def _in_tuple(statement: ast.stmt) -> Iterator[OwnUpdate]:
    """The updates of `w, b = w - lr * w.grad, b - lr * b.grad`."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    targets, values = statement.targets[0], statement.value
    if not isinstance(targets, (ast.Tuple, ast.List)) or not isinstance(values, (ast.Tuple, ast.List)):
        return
    for target, value in zip(parts_of(targets), parts_of(values), strict=False):
        if isinstance(value, ast.BinOp) and spelled(value.left) == spelled(target):
            reader = next(gradients_of(spelled(target), value), None)
            if reader is not None:
                yield OwnUpdate(value, reader)


def gradients_of(name: str, around: ast.AST) -> Iterator[ast.Attribute]:
    """Where `.grad` of a name is written in a piece of the program."""
    for node in walk(around):
        if isinstance(node, ast.Attribute) and node.attr == "grad" and spelled(node.value) == name:
            yield node
