"""Which names of a function, or of a file, end in what trains, and what a branch sets that is read behind it.

They go into what is differentiated, `loss = error + beta * penalty`, say how often or in which order it is, as in
`for k in order`, or are weights that are loaded again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autodetach.kept import kept
from autodetach.machine.children import children_of, nodes_in, targets_of, walk
from autodetach.machine.spelling import arguments_of, last_word, spelled
from autodetach.machine.steering_branches import NAMES, TESTS, Test, in_branches, read_in, returned_by, shows
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import FUNCTIONS, LOOPS

TAKING_ALL = frozenset({"backward", "grad", "load_state_dict"})
"""Calls that differentiate what they are given, or make it the weights."""
TRAINING = frozenset({"backward", "step"})
MOVING = frozenset({"insert", "pop", "remove", "reverse", "rotate", "sort"})
"""Methods that change what a list has, or in which order."""
HOLDERS = (ast.ExceptHandler, ast.match_case)


class Access(NamedTuple):
    """A statement, without those that stand in it, and the names that it reads and binds."""

    statement: ast.stmt
    reads: frozenset[str]
    binds: frozenset[str]


@kept
def names_that_train(block: ast.AST) -> frozenset[str]:
    """The names in a function or a file that go on to what trains, by way of others, too."""
    parts = _parts_of(block)
    found = {name for part in parts for name in _taken_by_training(part)}
    edges = [edge for part in parts for edge in _edges(part)]
    if isinstance(block, FUNCTIONS):
        del edges[0]  # what it gives itself
    while edges:
        left = [(targets, read) for targets, read in edges if targets.isdisjoint(found)]
        if len(left) == len(edges):
            break
        for targets, read in edges:
            if not targets.isdisjoint(found):
                found |= read
        edges = left
    return frozenset(found)


@kept
def _taken_by_training(part: ast.AST) -> frozenset[str]:
    taken: list[ast.expr] = []
    for n in walk(part):
        if isinstance(n, ast.Call) and last_word(n.func) in TAKING_ALL:
            owner = [n.func.value] if isinstance(n.func, ast.Attribute) and n.func.attr == "backward" else []
            taken += (*owner, *arguments_of(n))
        elif isinstance(n, (ast.For, ast.AsyncFor)) and repeats_training(n):
            taken.append(n.iter)
    return read_in(taken)


@kept
def repeats_training(loop: ast.For | ast.AsyncFor) -> bool:
    """Whether what stands in a loop differentiates, or steps."""
    calls = (n for statement in loop.body for n in walk(statement) if isinstance(n, ast.Call))
    return any(last_word(n.func) in TRAINING and not shows(n.func) for n in calls)


@kept
def _edges(part: ast.AST) -> list[tuple[frozenset[str], frozenset[str]]]:
    """Names that are bound together, and what they are made of; a function gives what it returns."""
    found: list[tuple[frozenset[str], frozenset[str]]] = []
    for n in walk(part):
        if isinstance(n, FUNCTIONS):
            found.append((frozenset({n.name, f"self.{n.name}"}), returned_by(n)))
        elif isinstance(n, (ast.For, ast.AsyncFor)):
            found.append((_bound_in([n.target]), read_in([n.iter])))
        elif isinstance(n, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and n.value is not None:
            found.append((_bound_in(targets_of(n)), read_in([n.value])))
    return found


def _bound_in(targets: list[ast.expr]) -> frozenset[str]:
    """What some targets bind; by `rates[0] = rate`, `rates` is another one, too."""
    names: set[str] = set()
    for n in (n for target in targets for n in walk(target)):
        if isinstance(n, NAMES) and isinstance(n.ctx, ast.Store):
            names.add(spelled(n))
            if isinstance(n, ast.Subscript):
                names.add(spelled(n.value))
    return frozenset(names)


def classes_in(file: ast.AST) -> list[ast.ClassDef]:
    found = (n for part in _parts_of(file) for n in (part, *_classes_inside(part)))
    return [n for n in found if isinstance(n, ast.ClassDef)]


@kept
def _classes_inside(part: ast.AST) -> list[ast.ClassDef]:
    return [n for n in walk(part) if isinstance(n, ast.ClassDef) and n is not part]


def _parts_of(block: ast.AST) -> Sequence[ast.AST]:
    """What is looked at by itself, since an edited file has most of it in common: the statements of a file."""
    return block.body if isinstance(block, ast.Module) else [block]


@kept
def set_by(statement: ast.stmt) -> frozenset[str]:
    """What a statement, or its branches, bind; and the lists whose order it changes."""
    if isinstance(statement, TESTS):
        inside = [n for n in in_branches(statement) if isinstance(n, ast.stmt)]
    else:
        inside = [statement]
    moved = (spelled(owner) for n in inside if isinstance(n, ast.Expr) for owner in _moved_by(n))
    return frozenset(name for n in inside for name in _bound_in(targets_of(n))).union(moved)


def _moved_by(statement: ast.Expr) -> Iterator[ast.expr]:
    callees = (n.func for n in walk(statement) if isinstance(n, ast.Call))
    return (callee.value for callee in callees if isinstance(callee, ast.Attribute) and callee.attr in MOVING)


def read_on(block: ast.AST, statement: ast.stmt) -> frozenset[str]:
    """What a statement, or its branches, bind that is read in `block` before it is bound anew.

    In a loop that is what the next pass reads, and of an object what the next call of the method does.
    """
    return frozenset(name for name in set_by(statement) if _is_read_on(block, statement, name))


def _is_read_on(block: ast.AST, statement: ast.stmt, name: str) -> bool:
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    accesses = [a for a in _accesses(block) if name in a.reads or name in a.binds]
    behind = next((a for a in accesses if a.statement.lineno > last), None)
    if behind is not None and name in behind.reads:
        return True
    around = [n for n in walk(block) if isinstance(n, LOOPS) and n.lineno <= first and last <= (n.end_lineno or last)]
    start = max((n.lineno for n in around), default=0 if "." in name else first + 1)
    again = next((a for a in accesses if start <= a.statement.lineno <= first), None)
    return again is not None and name in again.reads


@kept
def _accesses(block: ast.AST) -> list[Access]:
    """What stands in a block, in order, without the block itself, which keeps this."""
    inside = (n for n in walk(block) if isinstance(n, ast.stmt) and n is not block)
    return [_access(n) for n in sorted(inside, key=lambda n: (n.lineno, n.col_offset))]


def _access(statement: ast.stmt) -> Access:
    own = [n for n in children_of(statement) if not isinstance(n, (ast.stmt, *HOLDERS))]
    nodes = [n for part in own for n in nodes_in(part) if isinstance(n, NAMES)]
    reads = {spelled(n) for n in nodes if isinstance(n.ctx, ast.Load)}
    if isinstance(statement, ast.AugAssign):
        reads.add(spelled(statement.target))
    return Access(statement, frozenset(reads), frozenset(spelled(n) for n in nodes if isinstance(n.ctx, ast.Store)))


@kept
def asked_at_its_head(statement: ast.stmt) -> frozenset[str]:
    """What the head of a loop or test reads: how often, or whether, the block behind it runs."""
    guards = [case.guard for case in getattr(statement, "cases", ()) if case.guard is not None]
    fields = (getattr(statement, field, None) for field in ("iter", "test", "subject"))
    return read_in([*(head for head in fields if isinstance(head, ast.expr)), *guards])


def saves_what_is_loaded(block: ast.AST, file: ast.AST, test: Test) -> bool:
    """Whether a branch writes a file that is loaded behind it, in the same function, or by its name in another one."""
    paths = {spelled(path) for n in in_branches(test) for path in _paths(n, "save", 1)}
    if not paths:
        return False
    last = test.end_lineno or test.lineno
    here = [path for load, path in _loaded_in(block) if load.lineno > last]
    inside = {load for load, _ in _loaded_in(block)}
    elsewhere = [path for load, path in _loaded_in(file) if load not in inside and isinstance(path, ast.Constant)]
    return any(spelled(path) in paths for path in (*here, *elsewhere))


def _loaded_in(block: ast.AST) -> list[tuple[ast.Call, ast.expr]]:
    """Calls that load files, with the path of each."""
    return [loaded for part in _parts_of(block) for loaded in _loaded_by(part)]


@kept
def _loaded_by(part: ast.AST) -> list[tuple[ast.Call, ast.expr]]:
    calls = (n for n in walk(part) if isinstance(n, ast.Call))
    return [(call, path) for call in calls for path in _paths(call, "load", 0)]


def _paths(n: ast.AST, name: str, place: int) -> list[ast.expr]:
    """The file that `torch.save(weights, path)` writes, or that `torch.load(path)` reads."""
    if not (isinstance(n, ast.Call) and last_word(n.func) == name):
        return []
    return [*n.args[place : place + 1], *(k.value for k in n.keywords if k.arg == "f")]
