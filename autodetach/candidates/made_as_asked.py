"""Losses that are all computed before the loop that differentiates them one by one: each when the loop asks for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.activations import Activation
from autodetach.machine.children import walk
from autodetach.suspect import Candidate
from autodetach.view.program import Program

STEPPED = "each of them is then computed with the parameters that the passes before it have stepped"
HANDS_ON = frozenset({"zip", "enumerate"})
"""What asks for an element only when it is asked for one itself."""


def made_as_asked(program: Program, activation: Activation) -> Iterator[Candidate]:
    """`losses = [f(x) for f in fs]` before `for o, loss in zip(optimizers, losses)`, and nowhere else."""
    from autodetach.codemods.as_generator import AsGenerator

    loop = activation.node
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return
    for name in _asked_one_by_one(loop.iter):
        made = _made_before(program, loop, name)
        if made is not None:
            yield Candidate(f"compute each of `{name.id}` when the loop asks for it", (AsGenerator(made),), STEPPED)


def _asked_one_by_one(over: ast.expr) -> Iterator[ast.Name]:
    """The names whose elements the passes of a loop get one by one."""
    if isinstance(over, ast.Name):
        yield over
    elif isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id in HANDS_ON:
        for given in over.args:
            yield from _asked_one_by_one(given)


def _made_before(program: Program, loop: ast.For | ast.AsyncFor, name: ast.Name) -> ast.ListComp | None:
    """The comprehension that the name stands for, if the loop alone reads it, and changes nothing it is made of."""
    scope = program.scope(loop)
    block = program.block(loop)
    mentions = [n for n in walk(scope) if isinstance(n, ast.Name) and n.id == name.id]
    before = block[: block.index(loop)] if loop in block else []
    bound = next((i for i, s in enumerate(before) if _value_of(s, name.id) is not None), None)
    made = _value_of(before[bound], name.id) if bound is not None else None
    if bound is None or made is None or len(mentions) != 2:
        return None
    read = {n.id for n in ast.walk(made) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    later = [*before[bound + 1 :], loop]
    return made if read.isdisjoint(b for s in later for b in program.names_bound(s)) else None


def _value_of(statement: ast.stmt, name: str) -> ast.ListComp | None:
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if not (isinstance(target, ast.Name) and target.id == name and isinstance(value, ast.ListComp)):
        return None
    (first, *others) = value.generators
    is_plain = not others and not first.ifs and not first.is_async
    return value if is_plain and isinstance(first.iter, (ast.Name, ast.Attribute)) else None
