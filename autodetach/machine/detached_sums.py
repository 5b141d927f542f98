"""A running sum that is detached once it is done is a tensor, and as likely as not it has history.

Of what an unknown callable gives beside a loss, nobody knows whether it is one: an accuracy may be a number. No number
has a `detach()`, and of a tensor without history nobody wants it. That tells of the terms if the sum began as a number,
if one place adds to it, once for each of the callable's results, and if the program is not ready for a number there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from autodetach.machine.exceptions import is_ready_for
from autodetach.machine.graph import Node
from autodetach.machine.program_values import Frame
from autodetach.machine.values import Opaque

MAX_TERMS = 64
ASKS = frozenset(
    """
    isinstance issubclass is_tensor hasattr getattr type callable isscalar suppress AttributeError Number __class__
    """.split()
)
"""What is named where a program asks whether something is a tensor."""
HARMLESS = frozenset({"len", "range"})


def note_detached(node: Node, trail: Sequence[tuple[ast.stmt, Frame]]) -> bool:
    """A sum is detached: whether its terms, which stood beside what was differentiated, have history, too."""
    pending, sums = [node], dict.fromkeys([node])
    while pending and len(sums) < MAX_TERMS:
        for parent in pending.pop().parents:
            if parent.op == "add" and parent not in sums:
                sums[parent] = None
                pending.append(parent)
    terms = {n for s in sums for n in s.parents if _is_beside(n, s)}
    if not terms or len({s.site.node for s in sums}) > 1 or not all(_is_of(s, {*sums, *terms}) for s in sums):
        return False
    if _is_ready_for_a_number(trail):
        return False
    for n in (*sums, *terms):
        n.weak = False
    return True


def _is_beside(term: Node, total: Node) -> bool:
    """Whether a term is a part of what was differentiated in part, in the same pass of all loops as it is added."""
    return term.op == "part" and any(p.walked_by and p.loops == total.loops for p in term.parents)


def _is_of(total: Node, known: set[Node]) -> bool:
    """Whether a sum is one of two operands: a number, and what is known of it."""
    operands = [value for _, value in total.site.operands]
    return len(operands) == 2 and all(
        value.node in known if isinstance(value, Opaque) else isinstance(value, (int, float)) for value in operands
    )


def _is_ready_for_a_number(trail: Sequence[tuple[ast.stmt, Frame]]) -> bool:
    """Whether something asks what is detached for its type, or may do so, or catches what a number raises there."""
    if not trail or is_ready_for(trail, "AttributeError"):
        return True
    function = trail[-1][1].function
    return (function is not None and _asks(ast.walk(function.node))) or any(_is_asking(s) for s, _ in trail)


def _is_asking(statement: ast.stmt) -> bool:
    """Whether an open statement asks: of one that has others inside, its head."""
    if isinstance(statement, ast.Match):
        return True
    heads = [n for n in ast.iter_child_nodes(statement) if isinstance(n, (ast.expr, ast.withitem))]
    tested = isinstance(statement, (ast.If, ast.While)) and _calls(statement.test)
    return tested or any(_asks(ast.walk(head)) for head in heads)


def _asks(nodes: Iterable[ast.AST]) -> bool:
    for n in nodes:
        if (isinstance(n, ast.Name) and n.id in ASKS) or (isinstance(n, ast.Attribute) and n.attr in ASKS):
            return True
        tests: list[ast.expr] = []
        if isinstance(n, (ast.If, ast.IfExp, ast.While)):
            tests = [n.test]
        elif isinstance(n, ast.BoolOp):
            tests = n.values
        elif isinstance(n, ast.comprehension):
            tests = n.ifs
        if isinstance(n, ast.Match) or any(_calls(test) for test in tests):
            return True
    return False


def _calls(test: ast.expr) -> bool:
    """Whether a test calls anything that might ask for a type."""
    called = (n.func for n in ast.walk(test) if isinstance(n, ast.Call))
    return any(not (isinstance(callee, ast.Name) and callee.id in HARMLESS) for callee in called)
