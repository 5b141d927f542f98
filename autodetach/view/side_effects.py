"""What statements do besides what they return, each time that they run: they draw random numbers, or keep a state."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from autodetach.container_methods import CHANGING
from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import targets_of, walk
from autodetach.machine.graph import Chain, Node, Site, ancestors, calls_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.node_types import FunctionNode
from autodetach.view.assigned import assigned
from autodetach.view.imported import imported_as
from autodetach.view.program import Program, parts_of
from autodetach.view.read_by import local_names, read_by

MADE = frozenset("dict list OrderedDict defaultdict zeros ones empty full zeros_like ones_like empty_like".split())
"""Functions that make a new container or tensor."""

TAKING_AWAY = frozenset("get_nowait pop popitem popleft readline recv".split())
"""Methods that take something out of what they are called on."""

CONSTRUCTORS = ("__init__", "__post_init__")



def draws_random_numbers(run: Run, statements: list[ast.stmt]) -> bool:
    """Whether statements, or what they call, draw random numbers."""
    return _stand_in(statements, run.machine.random_nodes)


def _stand_in(statements: list[ast.stmt], happened: list[tuple[Site, Chain]]) -> bool:
    """Whether anything of what happened did so in some statements, or in what these call."""
    lines = {n for s in statements for n in range(s.lineno, (s.end_lineno or s.lineno) + 1)}
    return any(site.line in lines or any(call.line in lines for call in calls_of(chain)) for site, chain in happened)


def makes_leaves(program: Program, run: Run, statements: list[ast.stmt], outer: list[Node]) -> bool:
    """Whether what is computed from is made there too: inside of the loop it would begin anew in every pass.

    Weights that only a run has shown have been there before.
    """
    shown = {t.leaf_node for t in run.machine.hidden}
    leaves = (n for n in ancestors(outer) if n.leaf and n not in shown)
    places = {place for n in leaves for place in (n.site.node, *(site.node for site in calls_of(n.chain)))}
    return any(program.statement(place) in statements for place in places)


def keeps_state(program: Program, run: Run, statements: list[ast.stmt]) -> bool:
    """Whether a function that statements call changes what it has not made: an attribute, an element, a global name.

    So do layers that follow statistics of what they are given. A constructor makes its object, and what it sets on it.
    """
    return _stand_in(statements, run.machine.stateful) or any(
        _changes_others(program, function, node)
        for function in read_by(program, run, statements).functions
        for node in walk(function)
    )


def takes_away(program: Program, run: Run, statements: Sequence[ast.stmt | ast.expr]) -> bool:
    """Whether these, or functions that they call, take something away that is not there again: `next(batches)`."""
    return bool(taken_from(n for s in statements for n in ast.walk(s))) or takes_inside(
        read_by(program, run, statements).functions
    )


def takes_inside(functions: Iterable[FunctionNode]) -> bool:
    """Whether functions take something away from what they have neither made nor been given."""
    for function in functions:
        local = {n.id for n in walk(function) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        local |= all_parameter_names(function.args) if function.name != "__next__" else set()
        if any(not (isinstance(at, ast.Name) and at.id in local) for at in taken_from(walk(function))):
            return True
    return False


def taken_from(nodes: Iterable[ast.AST]) -> list[ast.expr]:
    """What calls among some nodes take away from: `batches` of `next(batches)`, `queue` of `queue.pop()`."""
    places = (_taken_from(n) for n in nodes if isinstance(n, ast.Call))
    return [at for at in places if isinstance(at, (ast.Name, ast.Attribute, ast.Subscript))]


def _taken_from(call: ast.Call) -> ast.expr | None:
    if isinstance(call.func, ast.Name):
        return call.args[0] if call.func.id in ("next", "anext") and call.args else None
    return call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr in TAKING_AWAY else None


def _changes_others(program: Program, function: FunctionNode, node: ast.AST) -> bool:
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
        return _grows_others(program, function, node, node.func.value)
    if not isinstance(node, ast.stmt):
        return False
    given = node.targets if isinstance(node, ast.Delete) else targets_of(node)
    targets = [t for t in _parts(given) if isinstance(t, (ast.Attribute, ast.Subscript))]
    if isinstance(node, ast.AugAssign):  # what it adds to may be a list of the class
        return any(not _is_of_own(function, t) or not _is_begun(function, _part_of_new(function, t)) for t in targets)
    return any(not _is_of_own(function, target) for target in targets)


def _parts(targets: list[ast.expr]) -> list[ast.expr]:
    """What is bound, each by itself: `self.h` and `self.c` of `self.h, self.c = ...`."""
    return [part for t in targets for part in (_parts(parts_of(t)) if isinstance(t, (ast.List, ast.Tuple)) else [t])]


def _grows_others(program: Program, function: FunctionNode, call: ast.Call, owner: ast.expr) -> bool:
    """Whether `owner.append(...)` and its like change what the function has not made."""
    while isinstance(owner, ast.Subscript):
        owner = owner.value
    if isinstance(owner, ast.Attribute):
        kept = _part_of_new(function, owner)
        return kept is None or not _is_begun(function, kept)
    if not isinstance(owner, ast.Name):
        return False
    if owner.id in _lasting(function):
        return True
    is_alone = isinstance(program.parents.get(call), ast.Expr)  # `x.add(y)` of tensors is no change
    is_own = owner.id in local_names(function) and owner.id not in all_parameter_names(function.args)
    return is_alone and not is_own and owner.id != _new_object(function) and not imported_as(program, call)


def _new_object(function: FunctionNode) -> str:
    """The name by which a constructor knows what it makes."""
    return function.args.args[0].arg if function.name in CONSTRUCTORS and function.args.args else ""


def _part_of_new(function: FunctionNode, target: ast.expr) -> ast.Attribute | None:
    """The `self.x` of a constructor in which something stands, or that it is."""
    while isinstance(target, (ast.Attribute, ast.Subscript)):
        if isinstance(target, ast.Attribute) and spelled(target.value) == _new_object(function):
            return None if target.attr.startswith("__") else target
        target = target.value
    return None


def _is_begun(function: FunctionNode, kept: ast.Attribute | None) -> bool:
    """Whether a constructor has made what it keeps so."""
    if kept is None:
        return True
    begun = (s for s in walk(function) if isinstance(s, (ast.Assign, ast.AnnAssign)))
    pairs = [pair for s in begun for pair in (assigned(s) if isinstance(s, ast.Assign) else [(s.target, s.value)])]
    values = [v if at is t else None for t, v in pairs for at in _parts([t]) if spelled(at) == spelled(kept)]
    return bool(values) and all(isinstance(v, ast.Constant) or _is_new(v) or _is_made(v) for v in values)


def _is_made(value: ast.expr | None) -> bool:
    """A call of a class, by its name."""
    return isinstance(value, ast.Call) and spelled(value.func).rpartition(".")[2][:1].isupper()


def _lasting(function: FunctionNode) -> set[str]:
    """The parameters of a function whose default is a container, the same in every call."""
    spec = function.args
    given = [*spec.posonlyargs, *spec.args]
    pairs = [*zip(given[len(given) - len(spec.defaults) :], spec.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None]
    return {a.arg for a, default in pairs if _is_new(default)}


def _is_of_own(function: FunctionNode, target: ast.expr) -> bool:
    """Whether something is an element of a container that a function makes each time that it runs, or of its object."""
    kept = _part_of_new(function, target)
    if kept is not None:
        return kept is target or _is_begun(function, kept)
    while isinstance(target, ast.Subscript):
        target = target.value
    if not isinstance(target, ast.Name):
        return False
    bound = [s for s in walk(function) if isinstance(s, ast.stmt) and target.id in map(spelled, targets_of(s))]
    return bool(bound) and all(isinstance(s, (ast.Assign, ast.AnnAssign)) and _is_new(s.value) for s in bound)


def _is_new(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call):
        return spelled(value.func).rpartition(".")[2] in MADE
    return isinstance(value, (ast.Dict, ast.List, ast.DictComp, ast.ListComp))
