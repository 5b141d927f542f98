"""What the first pass computes of what it is given, and all others read, is kept as a value: `if not self.inited:`.

So is the scale of a quantizer, or what a layer normalises its activations by, which the first batch decides.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.anew import places_of
from autodetach.candidates.cache_guards import guards, is_flag
from autodetach.candidates.detaching import has_graph
from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.graph import Node, ancestors, calls_of, trail_of
from autodetach.machine.spelling import arguments_of
from autodetach.node_types import FUNCTIONS
from autodetach.suspect import Candidate
from autodetach.view.crossings import Crossed
from autodetach.view.program import Program, line, listed, parts_of

FIRST = "the pass that begins it trains nothing through it then; to compute it anew in every pass may be what was meant"


def kept_at_first(program: Program, crossed: list[Crossed], *, flagged: bool = False) -> Iterator[Candidate]:
    """Give the statement below the guard, which begins what is kept, its arguments without their graph.

    Where that is not enough, or there are none, it is run under `no_grad`. Where a flag of its own says that it has
    been done, and it is made of what the function is given, it is meant to be done once: `flagged` asks for that alone.
    """
    from autodetach.codemods.append_method import AppendMethod
    from autodetach.codemods.under_no_grad import UnderNoGrad

    begun = {maker: _guarded(program, maker) for maker in dict.fromkeys(maker for _, _, maker in crossed)}
    found = [pair for pair in begun.values() if pair is not None]
    if not found or len(found) < len(begun):
        return
    statements = sorted({statement: None for statement, _ in found}, key=line)
    pairs = [(maker, pair[0]) for maker, pair in begun.items() if pair is not None]
    given = sorted({e: None for maker, statement in pairs for e in _bringing(program, maker, statement)}, key=line)
    if flagged and not (given and all(is_flag(guard.test) for _, guard in found)):
        return
    if flagged and not all(_is_of_pass(program, e) for e in given):
        return
    if given:
        message = f"detach {listed(given)} in {listed(statements)}"
        detached = tuple(AppendMethod(e, "detach") for e in given)
        yield Candidate(message, detached, FIRST, cuts=True, last_resort=not flagged)
    if len(statements) == 1 and not flagged and program.imports_torch(*statements):
        shown = listed(statements)
        under = UnderNoGrad(tuple(statements))
        yield Candidate(f"compute without graph: {shown}", (under,), FIRST, cuts=True, last_resort=True)


def _guarded(program: Program, maker: Node) -> tuple[ast.stmt, ast.If] | None:
    """The statement that was running when a node was made, and the test in its function whether it is there already."""
    asked = list(guards(program, places_of(program, maker)))
    for statement, _ in reversed(trail_of(maker)):
        around = [*program.enclosing(statement), *program.block(statement)]
        guard = next((guard for guard in asked if guard in around), None)
        if guard is not None and isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr)):
            return statement, guard
    return None


def _is_of_pass(program: Program, expression: ast.expr) -> bool:
    """Whether an expression reads what its function is given, besides its object."""
    function = program.scope(expression)
    if not isinstance(function, FUNCTIONS):
        return False
    this = function.args.args[:1] if isinstance(program.parents.get(function), ast.ClassDef) else []
    return bool((all_parameter_names(function.args) - {a.arg for a in this}) & program.names_read(expression))


def _bringing(program: Program, maker: Node, statement: ast.stmt) -> Iterator[ast.expr]:
    """The arguments by which calls in a statement are given graph that a node is made of; or what makes it there."""
    if isinstance(statement, ast.Assign) and maker.site.node in parts_of(statement.value):
        yield maker.site.node
    behind = set(ancestors([maker]))
    for site in calls_of(maker.chain):
        call = site.node
        if program.statement(call) is not statement or not isinstance(call, ast.Call):
            continue
        given = set(arguments_of(call))
        for expression, value in site.operands:
            if expression in given and has_graph(value) and getattr(value, "node", None) in behind:
                yield expression
