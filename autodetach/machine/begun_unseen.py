"""What a loop carries or keeps, and differentiates and begins anew where no run has come to.

`if left == 0: total.backward(); state = state.detach()`: a count that goes down is not seen to end in a few passes. So
nobody has seen whether the graph grows for as long as the loop runs, or for as long as the branch is waited for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.kept import kept
from autodetach.machine.children import nodes_in
from autodetach.machine.graph import trail_of
from autodetach.machine.growth import Growth
from autodetach.machine.program_values import Frame
from autodetach.machine.run import Analysis
from autodetach.machine.spelling import last_word, root_of, spelled
from autodetach.machine.walking import differentiates
from autodetach.node_types import FUNCTIONS


def may_begin_anew(analysis: Analysis, growth: Growth) -> bool:
    """Whether a branch that no run has executed trains with what no pass does, and sets, or asks for, what has it."""
    if growth.dead:
        return False
    home = growth.activation.frame
    for statement, frame in reversed(trail_of(growth.node)):
        function = frame.function if isinstance(frame, Frame) else None
        around = growth.activation.node if frame is home else None if function is None else function.node
        held = _set_by(statement) if growth.stored is None else _called_of(statement)
        if around is not None and held:
            asked = _begun_in if growth.stored is None else _called_in
            if any(not held.isdisjoint(asked(block)) for block in _unseen(analysis, around)):
                return True
        if frame is home:
            return False
    return False


def _unseen(analysis: Analysis, around: ast.AST) -> Iterator[list[ast.stmt]]:
    """The branches that were not taken, and train."""
    for node in nodes_in(around):
        for block in (node.body, node.orelse) if isinstance(node, ast.If) else ():
            if block and not any(block[0] in r.machine.executed for r in analysis.runs) and _trains(analysis, block):
                yield block


def _trains(analysis: Analysis, block: list[ast.stmt]) -> bool:
    """Whether a branch differentiates, or calls a function of the program that does."""
    if any(map(differentiates, block)):
        return True
    calls = (n for statement in block for n in nodes_in(statement) if isinstance(n, ast.Call))
    called = {last_word(call.func) for call in calls}
    return any(not called.isdisjoint(_differentiating(tree)) for tree in analysis.trees)


@kept
def _differentiating(tree: ast.Module) -> frozenset[str]:
    """The names of the functions and methods of a file that differentiate."""
    return frozenset(n.name for n in nodes_in(tree) if isinstance(n, FUNCTIONS) and differentiates(n))


def _begun_in(block: list[ast.stmt]) -> set[str]:
    """What a branch sets to something else than a sum with what it was."""
    begun: set[str] = set()
    for node in (n for statement in block for n in nodes_in(statement)):
        if isinstance(node, ast.Assign):
            sides = (node.value.left, node.value.right) if isinstance(node.value, ast.BinOp) else ()
            begun |= _set_by(node).difference(map(spelled, sides))
    return begun


def _called_in(block: list[ast.stmt]) -> set[str]:
    return {name for statement in block for name in _called_of(statement)}


def _called_of(statement: ast.stmt) -> set[str]:
    """The names of objects, but for that of the method itself, a method of which is called."""
    called = (n.func for n in nodes_in(statement) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
    return {root.id for root in map(root_of, called) if isinstance(root, ast.Name)} - {"self"}


def _set_by(statement: ast.stmt) -> set[str]:
    """The names and attributes that a statement sets."""
    named = (n for n in nodes_in(statement) if isinstance(n, (ast.Name, ast.Attribute)))
    return {spelled(n) for n in named if isinstance(n.ctx, ast.Store)}
