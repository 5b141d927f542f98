"""What an optimizer gets, and an operation has made, becomes a leaf; or it gets the leaf that was computed with."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from autodetach.machine.graph import Node, ancestors
from autodetach.machine.non_leaves import HANDING_ON
from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.torch_names import FACTORIES
from autodetach.machine.values import Opaque, Tensor
from autodetach.suspect import Candidate
from autodetach.view.program import Program, text

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

OF_LEAF = "the leaf that it is computed from may be what was meant to be trained"
BEGUN = "what it is computed by holds for its first value only"
ONE = "each of the elements that shared one value is trained by itself then"
CUT = "it is a tensor without a name of its own among the parameters of a module then"
GIVEN = "the leaf may be given to an optimizer already, or be meant in another shape"
OF_MODULE = "it may be one of the parameters of a module then, which others are given, too"
COPIED = "it is computed from the leaf, which may be what was meant to stay as it is"
VIEWS = HANDING_ON | frozenset("view view_as reshape unsqueeze squeeze transpose permute t T".split())
"""Operations that give the same values in another form."""
SPREAD = frozenset({"expand"})
BEGINNING = VIEWS | frozenset("add sub mul div true_divide neg clone".split())
"""Operations by which first values are made of others."""

History = tuple[Node, ...]


def as_leaves(program: Program, optimizer: ast.AST, made: Sequence[History]) -> Iterator[Candidate]:
    """The repairs for what an optimizer is given: `made` tells what has made each, down to a leaf."""
    places = {history[0].site.node: history for history in made}
    inside = [place for place in places if any(at is optimizer for at in program.enclosing(place))]
    if inside:
        if len(inside) == len(places):
            yield from _given_itself(places)
        return
    codemods: list[Codemod] = []
    doubts: list[str] = []
    is_cut = True
    for place, history in places.items():
        if not isinstance(place, ast.expr):
            return
        own = _as_leaf(program, place, history)
        is_cut = is_cut and own is None
        codemods += _cut_off(program, place, history) if own is None else own
        doubts += _doubts(program, place, history)
    shown = ", ".join(f"`{text(place)}`" for place in places)
    message = f"make {shown} the leaf"
    yield Candidate(message, tuple(codemods), next(iter(doubts), None), adds=True)
    if is_cut:
        return
    cut = tuple(one for place, history in places.items() for one in _cut_off(program, place, history))
    yield Candidate(message, cut, next(iter(doubts), CUT), adds=True, last_resort=True)


def _given_itself(places: dict[ast.AST, History]) -> Iterator[Candidate]:
    """`Adam([w.view(-1)])` -> `Adam([w])`."""
    from autodetach.codemods.replace_expression import ReplaceExpression

    codemods: list[Codemod] = []
    names: list[str] = []
    for place, history in places.items():
        leaf = _leaf_in(place, history)
        if leaf is None or not isinstance(place, ast.expr):
            return
        names.append(f"`{spelled(leaf)}`")
        codemods.append(ReplaceExpression(place, spelled(leaf)))
    is_same = all(node.op in VIEWS for history in places.values() for node in history[:-1])
    doubt = GIVEN if is_same else COPIED
    yield Candidate(f"optimize {', '.join(names)}", tuple(codemods), doubt, adds=True)


def _leaf_in(place: ast.AST, history: History) -> ast.expr | None:
    """The name of the leaf in what is computed of it at a place."""
    inner = set(ast.walk(place))
    operands = history[-2].site.operands if len(history) > 1 else ()
    for at, value in operands:
        if at in inner and isinstance(value, Tensor) and value.node is history[-1]:
            return at if isinstance(at, (ast.Name, ast.Attribute, ast.Subscript)) else None
    return None


def _as_leaf(program: Program, place: ast.expr, history: History) -> tuple[Codemod, ...] | None:
    """What is computed of the leaves that stand in an expression becomes one itself; None if they stand elsewhere."""
    from autodetach.codemods.append_method import AppendMethod
    from autodetach.codemods.lift_call import LiftCall
    from autodetach.codemods.set_keyword import SetKeyword

    if any(node.op in SPREAD for node in history):
        return None
    calls = _inline(place, history)
    is_asked = _is_asked_for(program, place)
    if calls is not None and all(_requires_grad(call) for call in calls):
        dropped = tuple(SetKeyword(call, "requires_grad", None) for call in calls)
        return dropped if is_asked else (*dropped, AppendMethod(place, "requires_grad_"))
    if calls is not None and len(calls) == 1 and last_word(calls[0].func) == "Parameter" and not is_asked:
        return (LiftCall(calls[0], place),)
    return None


def _cut_off(program: Program, place: ast.AST, history: History) -> tuple[Codemod, ...]:
    """`.detach().requires_grad_()` behind what is computed; a copy of what has elements that share memory."""
    from autodetach.codemods.append_method import AppendMethod

    if not isinstance(place, ast.expr):
        return ()
    cut = "detach().clone()" if any(node.op in SPREAD for node in history) else "detach()"
    asking = "" if _is_asked_for(program, place) else ".requires_grad_()"
    return (AppendMethod(place, (cut + asking).removesuffix("()")),)


def _is_asked_for(program: Program, place: ast.expr) -> bool:
    """Whether `.requires_grad_()` stands behind it already."""
    behind = program.parents.get(place)
    return isinstance(behind, ast.Attribute) and behind.attr == "requires_grad_"


def _inline(place: ast.expr, history: History) -> list[ast.Call] | None:
    """The calls that make all leaves of what is computed at a place, if they stand in it."""
    inner = set(ast.walk(place))
    if any(isinstance(node, ast.NamedExpr) for node in inner):
        return None  # the leaf has a name
    leaves = [node.site.node for node in ancestors(history[:1]) if node.leaf]
    calls = [leaf for leaf in dict.fromkeys(leaves) if isinstance(leaf, ast.Call) and leaf in inner]
    return calls if len(calls) == len(set(leaves)) else None


def _requires_grad(call: ast.Call) -> bool:
    """Whether a call makes a leaf by its keyword."""
    is_factory = last_word(call.func) in FACTORIES
    return is_factory and any(k.arg == "requires_grad" and isinstance(k.value, ast.Constant) for k in call.keywords)


def _doubts(program: Program, place: ast.expr, history: History) -> Iterator[str]:
    """Why something else than a leaf of these values may be meant."""
    calls = _inline(place, history)
    made = [node for node in ancestors(history[:1]) if not node.leaf]
    if calls is None or any(_is_handed_on(program, place, call) for call in calls):
        yield OF_LEAF
    elif isinstance(program.statement(place), ast.Assign) and not _is_bound_to_name(program, place):
        yield OF_MODULE
    elif any(node.op in SPREAD for node in made):
        yield ONE
    elif len(calls) > 1 or any(node.op not in BEGINNING or _has_other_tensors(node) for node in made):
        yield BEGUN


def _is_handed_on(program: Program, place: ast.expr, leaf: ast.Call) -> bool:
    """Whether a leaf is an argument of a call on the way to what is computed of it, which may keep it."""
    way: list[ast.AST] = [leaf]
    for at in program.enclosing(leaf):
        if isinstance(at, ast.Call) and way[-1] is not at.func:
            return True
        if at is place:
            return False
        way.append(at)
    return False


def _is_bound_to_name(program: Program, place: ast.expr) -> bool:
    statement = program.statement(place)
    return isinstance(statement, ast.Assign) and all(isinstance(target, ast.Name) for target in statement.targets)


def _has_other_tensors(node: Node) -> bool:
    """Whether an operation has more than one tensor: a mask, a shape that it is spread to, itself transposed."""
    return sum(isinstance(value, (Tensor, Opaque)) for value in node.operands) > 1
