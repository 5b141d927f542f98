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


class BegunUnseen:
    """What the branches of a program that no run has executed, and that train, begin anew and ask for."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._known: dict[ast.AST, tuple[set[str], set[str]]] = {}

    def may_begin_anew(self, growth: Growth) -> bool:
        """Whether such a branch trains with what no pass differentiates, and sets, or asks for, what has it."""
        if growth.dead:
            return False
        home = growth.activation.frame
        for statement, frame in reversed(trail_of(growth.node)):
            function = frame.function if isinstance(frame, Frame) else None
            around = growth.activation.node if frame is home else None if function is None else function.node
            if around is not None:
                begun, called = self._in(around)
                if begun & _set_by(statement) if growth.stored is None else called & _called_of(statement):
                    return True
            if frame is home:
                return False
        return False

    def _in(self, around: ast.AST) -> tuple[set[str], set[str]]:
        """What the branches in a loop or function set to something else, and the objects whose methods they call."""
        known = self._known.get(around)
        if known is None:
            blocks = list(self._unseen(around))
            begun = {name for block in blocks for name in _begun_in(block)}
            called = {name for block in blocks for statement in block for name in _called_of(statement)}
            known = self._known[around] = begun, called
        return known

    def _unseen(self, around: ast.AST) -> Iterator[list[ast.stmt]]:
        executed = [run.machine.executed for run in self._analysis.runs]
        for node in nodes_in(around):
            for block in (node.body, node.orelse) if isinstance(node, ast.If) else ():
                if block and not any(block[0] in one for one in executed) and self._trains(block):
                    yield block

    def _trains(self, block: list[ast.stmt]) -> bool:
        """Whether a branch differentiates, or calls a function of the program that does."""
        if any(map(differentiates, block)):
            return True
        calls = (n for statement in block for n in nodes_in(statement) if isinstance(n, ast.Call))
        called = {last_word(call.func) for call in calls}
        return any(not called.isdisjoint(_differentiating(tree)) for tree in self._analysis.trees)


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


def _called_of(statement: ast.stmt) -> set[str]:
    """The names of objects, but for that of the method itself, a method of which is called."""
    called = (n.func for n in nodes_in(statement) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
    return {root.id for root in map(root_of, called) if isinstance(root, ast.Name)} - {"self"}


def _set_by(statement: ast.stmt) -> set[str]:
    """The names and attributes that a statement sets."""
    named = (n for n in nodes_in(statement) if isinstance(n, (ast.Name, ast.Attribute)))
    return {spelled(n) for n in named if isinstance(n.ctx, ast.Store)}
