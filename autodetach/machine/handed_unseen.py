"""Functions that train, in no loop that was run, and that a program hands on: no name tells what calls them.

`{4: train}.get(steps, wait)(window)`, `TABLE[steps](window)`, `map(train, [window] * (steps == 4))`. They may have been
run alone: what nobody calls by its name is an entry of its file.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from autodetach.machine.bound_names import NAMED, names_of
from autodetach.machine.children import nodes_in, targets_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import arguments_of, last_word
from autodetach.node_types import CallableNode

CHOSEN = (ast.Subscript, ast.IfExp, ast.BoolOp, ast.Lambda, ast.NamedExpr)
CHOOSING = frozenset("choice get getattr methodcaller next partial pop setdefault".split())
"""What gives a function that is chosen, as `TABLE.get(steps, wait)`; most calls give an object."""


class Handed:
    """Those of a program, and which of its calls may lead to one of them."""

    def __init__(
        self,
        trees: Iterable[ast.Module],
        functions: dict[str, list[CallableNode]],
        runs: list[Run],
        trains: Callable[[ast.AST], bool],
    ) -> None:
        nodes = [node for tree in trees for node in nodes_in(tree)]
        called = {node.func for node in nodes if isinstance(node, ast.Call)}
        read = {last_word(node) for node in nodes if isinstance(node, NAMED) and node not in called}
        every = [one for name in read for one in functions.get(name, ())]
        every += [node for node in nodes if isinstance(node, ast.Lambda) and node not in called]
        self.functions = [one for one in dict.fromkeys(every) if trains(one) and not _is_seen(one, runs)]
        self._names = {name for name in read for one in functions.get(name, ()) if one in self.functions}
        self._chosen = {
            name
            for node in nodes
            if self.functions and isinstance(node, (ast.Assign, ast.AnnAssign)) and _is_chosen(node.value)
            for target in targets_of(node)
            for name in names_of(target)
        }

    def called_by(self, call: ast.Call) -> list[CallableNode]:
        """Those that a call may lead to: of what was chosen somehow, or of what is given one of them."""
        chosen = _is_chosen(call.func) or not self._chosen.isdisjoint(names_of(call.func))
        given = any(isinstance(one, NAMED) and last_word(one) in self._names for one in arguments_of(call))
        return self.functions if chosen or given else []


def _is_chosen(value: ast.expr | None) -> bool:
    return isinstance(value, CHOSEN) or (isinstance(value, ast.Call) and last_word(value.func) in CHOOSING)


def _is_seen(function: CallableNode, runs: list[Run]) -> bool:
    """Whether it has trained, or was called, in a pass of a loop, be it one of its own that goes over nothing given."""
    if isinstance(function, ast.Lambda):
        return any(function.body in run.machine.chosen for run in runs)
    inside = set(nodes_in(function))
    given = {one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}

    def goes_over_given(loop: ast.AST) -> bool:
        head: ast.AST = getattr(loop, "iter", getattr(loop, "test", loop))
        return loop in inside and not given.isdisjoint(n.id for n in nodes_in(head) if isinstance(n, ast.Name))

    return any(
        any(statement in inside for statement, _ in d.trail)
        and any(p.activation.node is not None and not goes_over_given(p.activation.node) for p in d.loops)
        for run in runs
        for d in run.machine.differentiations
    )
