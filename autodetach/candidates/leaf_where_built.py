"""What is built outside of a loop, and `torch.autograd.grad` is asked for, is made a leaf where it is built."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.clipped_together import may_be_clipped
from autodetach.candidates.detached_where_built import places_where_built
from autodetach.machine.children import targets_of
from autodetach.machine.graph import Node, ancestors
from autodetach.machine.held import graph_in
from autodetach.machine.run import Run
from autodetach.suspect import Candidate
from autodetach.view.alike import inputs_of
from autodetach.view.crossings import Entry
from autodetach.view.program import Program, listed

TOLD = frozenset("grad grad_fn is_leaf retains_grad".split())
"""Attributes by which a leaf differs from what is computed."""
READ = "the program asks for gradient that tensors have, or whether they are leaves, which may become another for it"


def leaf_where_built(
    program: Program, run: Run, entries: list[Entry], doubt: str | None, *, because: str
) -> Iterator[Candidate]:
    """`t = (raw ** 2).detach().requires_grad_()`, with derivatives by `t`, of which nothing goes on to `raw` then."""
    from autodetach.codemods.append_method import AppendMethod

    asked = _asked_for(run)
    doubt = doubt or (READ if asked and any(_asks_about_leaf(program, n) for n in program.parents) else None)
    for level in places_where_built(program, entries):
        leaves = [place for place, made in level.items() if made in asked]
        if not leaves:
            continue
        methods = {place: "detach().requires_grad_" if place in leaves else "detach" for place in level}
        codemods = tuple(AppendMethod(place, method) for place, method in methods.items())
        others = [place for place in level if place not in leaves]
        message = f"make {listed(leaves)} a leaf"
        message = f"detach {listed(others)}, and {message}" if others else message
        named = [name for place in leaves for name in (*asked[level[place]], *_bound_to(program, place))]
        is_clipped = doubt is None and may_be_clipped(program, named)
        yield Candidate(f"{message}{because}", codemods, READ if is_clipped else doubt)


def _asked_for(run: Run) -> dict[Node, list[ast.expr]]:
    """What has made the tensors that `torch.autograd.grad` is asked for, and are no leaves, and how it is asked.

    And what those are computed from, as `noise` where `noise[:n]` is asked for: without it, they have no history.
    """
    found: dict[Node, list[ast.expr]] = {}
    for d in run.machine.differentiations:
        given = inputs_of(d.call) if d.kind == "grad" else None
        for written, value in d.site.operands:
            if given is not None and written is given:
                makers = [each.node for each in graph_in(value) if each.node is not None]
                for node in ancestors(makers):
                    if not node.leaf:
                        found.setdefault(node, []).append(given)
    return found


def _bound_to(program: Program, place: ast.expr) -> list[ast.expr]:
    statement = program.statement(place)
    return targets_of(statement) if statement is not None else []


def _asks_about_leaf(program: Program, node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return node.value in TOLD if isinstance(node.value, str) else False
    if not isinstance(node, ast.Attribute) or node.attr not in TOLD:
        return False
    around = program.parents.get(node)
    return not (isinstance(around, ast.Call) and around.func is node)  # `torch.autograd.grad(...)`
