"""Where the history of updates `w = w - lr * w.grad` may be wanted, which a new leaf, or `no_grad`, cuts off."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autodetach.machine.graph import Differentiation, Node
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Tensor
from autodetach.suspect import OF_UPDATES
from autodetach.view.program import Program


def doubt_of_cut(program: Program, updates: Sequence[ast.Assign]) -> str | None:
    """Why it is unsafe to cut updates off, if it is: their graph is kept, or another tensor may be trained by them."""
    kept = any(d.retain or d.create_graph for run in program.runs for d in _taken(run, updates))
    return OF_UPDATES if kept or _depends_on_others(program, updates) else None


def _taken(run: Run, updates: Sequence[ast.Assign]) -> Iterator[Differentiation]:
    """What gave the gradient that is computed with in updates."""
    places = _inside(updates)
    for site in run.machine.of_gradient:
        if site.node in places:
            yield from (d for _, value in site.operands if isinstance(value, Tensor) for d in value.from_grad)


def _depends_on_others(program: Program, updates: Sequence[ast.Assign]) -> bool:
    """Whether the history of an update has more in it than what it updates: a learned rate, a network."""
    return any(_has_others(run, update) for run in program.runs for update in updates)


def _has_others(run: Run, update: ast.Assign) -> bool:
    places = _inside((update,))
    made = [n for n in run.machine.nodes if n.site.node in places and not n.leaf and not n.weak]
    value = update.value.elt if isinstance(update.value, ast.ListComp) else update.value
    known = set(made).union(_updated(update, made))
    results = [node for node in made if node.site.node is value]
    return any(parent not in known for node in _behind(results or made, set(made)) for parent in node.parents)


def _behind(results: Sequence[Node], made: set[Node]) -> set[Node]:
    """What some nodes are made of, among those that were made in the update: `detach()` and `item()` lead nowhere."""
    found: set[Node] = set()
    left = list(results)
    while left:
        node = left.pop()
        if node not in found:
            found.add(node)
            left += (parent for parent in node.parents if parent in made)
    return found


def _updated(update: ast.Assign, made: Sequence[Node]) -> Iterator[Node]:
    """The nodes of what is updated: `w` of `w = w - lr * w.grad`, or of `[w - lr * w.grad for w in ws]`."""
    value = update.value.elt if isinstance(update.value, ast.ListComp) else update.value
    own = spelled(value.left) if isinstance(value, ast.BinOp) else spelled(update.targets[0])
    for node in made:
        for expression, operand in node.site.operands:
            if isinstance(operand, Tensor) and operand.node is not None and spelled(expression) == own:
                yield operand.node


def _inside(updates: Sequence[ast.Assign]) -> set[ast.AST]:
    return {node for update in updates for node in ast.walk(update.value)}
