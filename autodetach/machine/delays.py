"""How many passes of a loop it takes until what one of its names holds has come to all that is made of it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autodetach.kept import kept
from autodetach.machine.children import children_of
from autodetach.machine.spelling import is_dotted, spelled

MAX_DELAY = 4
"""Passes beyond the usual ones that a loop is given at the most."""
USED = "#used"
"""Stands for what statements use that bind no name."""
BLOCKS = ("body", "orelse", "finalbody", "handlers")
Sources = dict[str, frozenset[str]]
"""For each name, those whose values at the begin of a pass are in what it holds."""


@kept
def delay_of(loop: ast.For | ast.AsyncFor | ast.While) -> int:
    """The passes that the longest way takes from a name that a loop carries to what is made of it, 1 for most loops.

    `out.append(b); a, b = f(x, a), g(a, b)` takes two from `a` to the list.
    """
    return _longest(_within(loop.body, {}))


def _within(block: Iterable[ast.stmt], held: Sources) -> Sources:
    """What names hold behind some statements; those that are not among them hold what they did."""
    for statement in block:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                _assign(target, statement.value, held)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            _assign(statement.target, statement.value, held)
        elif isinstance(statement, ast.AugAssign):
            name = spelled(statement.target)
            held[name] = _read([statement.target, statement.value], held)
        elif isinstance(statement, ast.Expr):
            held[USED] = held.get(USED, frozenset()) | _read([statement.value], held)
        else:
            branches = [branch for name in BLOCKS for branch in [getattr(statement, name, None)] if branch]
            ends = [_within(_statements(branch), dict(held)) for branch in branches]
            for name in {name for end in ends for name, sources in end.items() if sources is not held.get(name)}:
                held[name] = held.get(name, frozenset({name})).union(*(end.get(name, ()) for end in ends))
    return held


def _statements(block: list[ast.AST]) -> Iterator[ast.stmt]:
    for part in block:
        if isinstance(part, ast.ExceptHandler):
            yield from part.body
        elif isinstance(part, ast.stmt):
            yield part


def _assign(target: ast.expr, value: ast.expr, held: Sources) -> None:
    pairs = [(target, value)]
    if isinstance(target, (ast.Tuple, ast.List)):
        same = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
        values = value.elts if same and isinstance(value, (ast.Tuple, ast.List)) else [value] * len(target.elts)
        pairs = list(zip(target.elts, values, strict=True))
    made = [(spelled(place), _read([source], held)) for place, source in pairs]
    for name, sources in made:
        held[name] = sources


def _read(expressions: list[ast.expr], held: Sources) -> frozenset[str]:
    """The names at the begin of the pass whose values are in what some expressions give."""
    found: set[str] = set()
    for expression in expressions:
        for names in _dotted_in(expression):
            known = next((name for name in names if name in held), None)
            if known is not None:
                found |= held[known]
            found.update(names[: None if known is None else names.index(known)])
    return frozenset(found)


@kept
def _dotted_in(expression: ast.expr) -> list[list[str]]:
    """The names and attributes of names in an expression, each with what it is an attribute of behind it."""
    found: list[list[str]] = []
    pending: list[ast.AST] = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Name, ast.Attribute)) and is_dotted(node):
            at: ast.expr = node
            names = [spelled(at)]
            while isinstance(at, ast.Attribute):
                at = at.value
                names.append(spelled(at))
            found.append(names)
        else:
            pending += children_of(node)
    return found


def _longest(held: Sources) -> int:
    """The longest of the shortest ways from name to name, pass by pass."""
    carried = {name for sources in held.values() for name in sources} & held.keys()
    if len(carried) < 2:
        return 1
    nexts = {name: [other for other in held if name in held[other]] for name in held}
    longest = 1
    for start in carried:
        level, seen, passes = {start}, {start}, 0
        while level := {other for name in level for other in nexts[name]} - seen:
            seen |= level
            passes += 1
        longest = max(longest, passes)
    return longest
