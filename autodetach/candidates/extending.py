"""Many values that a container takes at once: a tensor of rows, a list, what a comprehension makes, or `zip` joins."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.detaching import element_candidates, leaves_of_display, narrowed_to
from autodetach.machine.events import Stored
from autodetach.machine.held import graph_in
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Sequence, Value
from autodetach.suspect import Candidate
from autodetach.view.program import Program, listed, text

MAKING = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
TAKING = frozenset({"list", "tuple", "dict", "iter", "reversed", "sorted"})
DETACHED = "[t.detach() for t in {}]"
DETACHED_DICT = "{k: v.detach() if torch.is_tensor(v) else v for k, v in {}.items()}"


def extending(program: Program, stored: Stored, *, number: bool) -> Iterator[Candidate]:
    """Each value goes in without its graph, where it is made if the program says that."""
    from autodetach.codemods.append_method import AppendMethod
    from autodetach.codemods.replace_expression import ReplaceExpression

    element = stored.element
    if element is None:
        return
    made = _made_of_each(element)
    targets = [(narrowed_to(e, v), v) for e, v in leaves_of_display(made, stored.value)] if made is not None else []
    found = list(element_candidates(program, targets, number=number, what="store")) if targets else []
    yield from (candidate for candidate in found if not candidate.last_resort)
    joined = list(joining(element, stored.value))
    if joined:
        yield from joined
        return
    yield Candidate(
        f"store the values without their graph: `.detach()` on `{text(element)}`", (AppendMethod(element, "detach"),)
    )
    around = program.parents.get(element)
    is_taken = isinstance(around, ast.Call) and spelled(around.func) in ("list", "tuple")
    yield Candidate(
        f"store the values of `{text(element)}` without their graph",
        (ReplaceExpression(element, DETACHED[1:-1] if is_taken else DETACHED),),
        "some of what is taken may be no tensor" if is_taken else None,
    )
    yield from (candidate for candidate in found if candidate.last_resort)


def _made_of_each(element: ast.expr) -> ast.expr | None:
    """`fit(x)` of `[fit(x) for x in data]`."""
    taken = _taken(element)
    return taken.elt if isinstance(taken, MAKING) else None


def _taken(element: ast.expr) -> ast.expr:
    """What `list(...)` and its like take all elements of."""
    while isinstance(element, ast.Call) and spelled(element.func) in TAKING and len(element.args) == 1:
        element = element.args[0]
    return element


def joining(element: ast.expr, value: Value) -> Iterator[Candidate]:
    """Of `zip(names, losses)` and `enumerate(losses)`, which give tuples such as `value`, those with a graph."""
    from autodetach.codemods.append_method import AppendMethod
    from autodetach.codemods.replace_expression import ReplaceExpression

    taken = _taken(element)
    if not isinstance(taken, ast.Call) or not isinstance(value, Sequence):
        return
    name, given = spelled(taken.func), taken.args
    parts = value.items[1:2] if name == "enumerate" else value.items if name == "zip" else []
    joined = [e for e, part in zip(given, parts, strict=False) if any(graph_in(part))]
    if joined and not any(isinstance(e, ast.Starred) for e in given):
        message = f"store the values of {listed(joined)} without their graph"
        yield Candidate(message, tuple(AppendMethod(e, "detach") for e in joined))
        yield Candidate(message, tuple(ReplaceExpression(e, DETACHED) for e in joined))


def merging(program: Program, stored: Stored) -> Iterator[Candidate]:
    """Of what `log.update(metrics)` and `log |= metrics` merge, all values go in without their graph."""
    from autodetach.codemods.replace_expression import ReplaceExpression

    element = stored.element
    if element is None or not _is_merged(program, element):
        return
    yield from joining(element, Sequence("tuple", [None, stored.value], 0))
    if isinstance(element, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) and program.imports_torch(element):
        copied = ReplaceExpression(element, DETACHED_DICT)
        yield Candidate(f"store a detached copy of `{text(element)}`", (copied,))


def _is_merged(program: Program, element: ast.expr) -> bool:
    """Whether a dict takes all of what an expression stands for."""
    around = program.parents.get(element)
    if isinstance(around, ast.Call):
        return isinstance(around.func, ast.Attribute) and around.func.attr == "update" and element in around.args
    return isinstance(around, (ast.BinOp, ast.AugAssign)) and isinstance(around.op, ast.BitOr)
