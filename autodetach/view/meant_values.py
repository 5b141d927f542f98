"""Terms of a loss that may be made of values on purpose: their gradient is given in another way, or not wanted."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile

from autodetach.machine.children import walk
from autodetach.machine.events import HistoryLost
from autodetach.machine.graph import COPIES, Lost, Node
from autodetach.machine.idle_steps import leaves_nothing_open
from autodetach.machine.spelling import called_name, spelled
from autodetach.node_types import CALLABLES
from autodetach.view.program import Program

DECAY = "weight_decay"
DECAYING = frozenset({"AdamW", "LAMB", "Lamb", "Lion"})
"""Optimizers that shrink weights without being asked to."""
BY_HAND = frozenset({"grad", "param_groups", "register_hook", "register_post_accumulate_grad_hook"})
"""Attributes by which programs give parameters what no differentiation gives."""
HARMLESS = frozenset("clip_grad_norm_ clip_grad_value_ detach_ requires_grad_ share_memory_".split())
"""Methods that change no values, though their names end as the names of those do which change them."""


def is_meant_as_value(program: Program, fact: HistoryLost) -> bool:
    """Whether what is only added to a loss may be shown in it, or be trained otherwise."""
    if not fact.added or fact.beside is None:
        return False
    computed = [one.node for one in fact.lost if not one.node.leaf]
    if _counts_nothing(fact.beside.site.node) or _is_differentiated(program, computed, fact.asked):
        return True
    if fact.asked and _is_asked_on_purpose(program, fact, fact.beside):
        return True
    leaves = {one.node for one in fact.lost if one.node.leaf}
    if not leaves:
        return False
    places = [one.place for one in fact.lost if one.node.leaf]
    if not all(isinstance(place, ast.Attribute) and place.attr == "data" for place in places):
        return True  # `detach()` says that the value is meant, where `.data` is an old habit
    chosen = (at for place in places for at in program.enclosing(place))
    if any(isinstance(at, (ast.IfExp, ast.Lambda)) for at in chosen) or _has_other_gradient(program, fact):
        return True
    return any(_is_by_hand(node) for tree in program.analysis.trees for node in walk(tree))


def is_frozen(program: Program, fact: HistoryLost) -> bool:
    """Whether a trained leaf may be copied since it is not to be trained there, though nothing else trains it in view.

    A test may decide so, or the program may change it by hand: an annealed temperature, the weights of a teacher. It
    may be left as it is by its rate, and what is made at the same place may be trained elsewhere.
    """
    from autodetach.machine.learning_rates import may_stand_still

    copies = [one for one in fact.lost if one.node.leaf and one.how in COPIES]
    if fact.raises or not copies:
        return False
    choosing = (ast.If, ast.IfExp, ast.BoolOp, ast.Match)
    places = [*(one.place for one in copies), *(statement for statement, _ in fact.trail)]
    around = (at for place in places for at in _within(program, place))
    is_chosen = any(isinstance(at, choosing) and "__name__" not in spelled(at) for at in around)
    if is_chosen or any(_is_picked(program, one.place) for one in copies) or _is_trained_too(program, copies):
        return True
    return any(map(may_stand_still, program.analysis.trees)) or not leaves_nothing_open(program.analysis)


def _is_picked(program: Program, copy: ast.AST) -> bool:
    """Whether something else than a copy may be made there: by another function, or another part of a collection."""
    from autodetach.view.kept import is_of

    if not isinstance(copy, ast.Call) or not (called_name(copy) == "new_tensor" or is_of(program, copy, ("torch",))):
        return True
    for at in program.enclosing(copy):
        if isinstance(at, (ast.Lambda, ast.Dict)):
            return True
        if isinstance(at, (ast.List, ast.Tuple)):
            call = program.parents.get(at)
            return not isinstance(call, ast.Call) or not is_of(program, call, ("torch",))
        if isinstance(at, ast.stmt):
            break
    return False


def _is_trained_too(program: Program, copies: list[Lost]) -> bool:
    """Whether anything gives a gradient to what is made at the place of a parameter, as in another network."""
    made = {one.node.site.node for one in copies}
    walked = (n for run in program.runs for d in run.machine.differentiations for n in d.walked)
    return any(n.leaf and n.site.node in made for n in walked)


def _counts_nothing(place: ast.AST) -> bool:
    """Whether something in a sum is multiplied by zero, as what only has to be mentioned."""
    products = (n for n in ast.walk(place) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult))
    factors = (side for product in products for side in (product.left, product.right))
    return any(isinstance(side, ast.Constant) and not side.value for side in factors)


def _is_asked_on_purpose(program: Program, fact: HistoryLost, total: Node) -> bool:
    """Whether the values of a term may be wanted for what they are: a test asks for them, or somebody reads the sum."""
    from autodetach.view.only_differentiated import is_only_differentiated

    if any(isinstance(at, (ast.If, ast.IfExp)) for one in fact.lost for at in _within(program, one.place)):
        return True
    return not is_only_differentiated(program, total.site.node, fact.site.node)


def _within(program: Program, place: ast.AST) -> Iterator[ast.AST]:
    """What is around a place in its function."""
    return takewhile(lambda at: not isinstance(at, (*CALLABLES, ast.Module)), program.enclosing(place))


def _is_differentiated(program: Program, computed: list[Node], asked: bool) -> bool:
    """Whether something differentiates what the same expressions make in another pass, or on another path.

    If values were `asked` for, where the same calls make it: what a function computes for one term, it may for others.
    """
    made = {_made(node, asked) for node in computed}
    walked = (n for run in program.runs for d in run.machine.differentiations for n in d.walked)
    return bool(made) and any(_made(node, asked) in made for node in walked)


def _made(node: Node, asked: bool) -> tuple[ast.AST, ast.AST | None]:
    """The expression that makes a node, and if that is asked, the call of its function."""
    return node.site.node, node.chain[0].node if asked and node.chain is not None else None


def _has_other_gradient(program: Program, fact: HistoryLost) -> bool:
    """Whether another call differentiates the same parameters: by a term that is walked for itself."""
    leaves = {one.node for one in fact.lost if one.node.leaf}
    return any(
        d.call is not fact.site.node and not leaves.isdisjoint(d.walked)
        for run in program.runs
        for d in run.machine.differentiations
    )


def _is_by_hand(node: ast.AST) -> bool:
    """Whether a program may change parameters, or their gradients, in another way than by an optimizer alone."""
    if isinstance(node, ast.keyword):
        return node.arg == DECAY and not (isinstance(node.value, ast.Constant) and not node.value.value)
    if isinstance(node, ast.Constant):
        return node.value == DECAY
    if isinstance(node, ast.Name):
        return node.id == DECAY or node.id in DECAYING
    if not isinstance(node, ast.Attribute):
        return False
    if node.attr == "data":
        return not isinstance(node.ctx, ast.Load)
    if node.attr == "grad":
        return spelled(node.value) not in ("torch.autograd", "autograd")
    if node.attr == DECAY or node.attr in DECAYING or node.attr in BY_HAND:
        return True
    changes = node.attr.endswith("_") and not node.attr.endswith("__") and node.attr not in HARMLESS
    return changes and spelled(node.value).rpartition(".")[2] != "init"
