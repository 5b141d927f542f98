"""What runs between the place where statements stand and the passes that read what they make."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterator, Sequence
from typing import TypeAlias

from autodetach.machine.graph import Node, calls_of
from autodetach.machine.run import Run
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import FUNCTIONS, LOOPS, SCOPES, FunctionNode
from autodetach.view.program import Block, Program

Running: TypeAlias = Sequence[ast.stmt] | Sequence[ast.stmt | ast.expr]
ENTERING = ("__enter__", "__exit__", "__aenter__", "__aexit__")


class Between(NamedTuple):
    """What runs between the statements and the first pass that reads what they make, and the bodies of the loops."""

    before: Block
    passes: list[Block]


def between_of(program: Program, run: Run, statements: list[ast.stmt], outer: list[Node]) -> Between:
    """What runs before what differentiates the nodes, and in the loops around that."""
    places = [s for node in outer for d in node.walked_by for s, _ in d.trail]
    homes = [statements[-1]]
    sites = (site.node for node in outer[:1] for site in calls_of(node.chain))
    homes += [s for site in sites if (s := program.statement(site)) is not None and s not in statements]
    around = {at for home in homes for at in program.enclosing(home)}
    running = dict.fromkeys(at for s in places for at in (s, *program.enclosing(s)))
    before = dict.fromkeys(s for home in homes for s in _until(program, home, running))
    whole = _around_all_passes(run, outer)
    entered = [at for at in running if isinstance(at, ast.stmt) and not isinstance(at, SCOPES) and at not in around]
    loops = [at for at in entered if isinstance(at, LOOPS) and at not in whole]
    for at in entered:
        block = program.block(at)
        is_apart = around.isdisjoint(block) and not any(home in block for home in homes)
        if is_apart and not any(up in loops for up in program.enclosing(at)):
            before.update(dict.fromkeys(block[: block.index(at)]))
    return Between(list(before), [loop.body for loop in loops])


def _around_all_passes(run: Run, outer: list[Node]) -> set[ast.AST | None]:
    """The loops that are in one and the same pass whenever the nodes are walked."""
    nodes = set(outer)
    pairs = [(node.walked_by[0], d) for node in outer for d in node.walked_by[1:]]
    pairs += [(e.first, e.second) for e in run.machine.second_walks if e.node in nodes]
    found = [{a.activation.node for a, b in zip(x.loops, y.loops, strict=False) if a is b} for x, y in pairs]
    return set.intersection(*found) if found else set()


def _until(program: Program, home: ast.stmt, running: Container[ast.AST]) -> Iterator[ast.stmt]:
    """What stands behind a statement in its function, up to what is running."""
    at: ast.AST | None = home
    while isinstance(at, ast.stmt) and not isinstance(at, (*FUNCTIONS, ast.ClassDef)):
        block = program.block(at)
        for later in block[block.index(at) + 1 :]:
            if later in running:
                return
            yield later
        at = program.parents.get(at)


def earlier_than(program: Program, statement: ast.stmt) -> list[ast.stmt]:
    """What stands in front of a statement in its function."""
    found: list[ast.stmt] = []
    at: ast.AST | None = statement
    while isinstance(at, ast.stmt) and not isinstance(at, (*FUNCTIONS, ast.ClassDef)):
        block = program.block(at)
        found = [*block[: block.index(at)], *found]
        at = program.parents.get(at)
    return found


def run_by(
    statements: Running,
    moved: Container[ast.AST],
    known: dict[str, list[FunctionNode]],
    called_by: Callable[[ast.Call], list[FunctionNode]],
) -> Iterator[tuple[ast.AST, bool]]:
    """The syntax nodes that run, in order, with those of the functions in view that calls run.

    Each with whether it stands in the statements themselves. A constructor begins what its own object is.
    """
    seen: set[FunctionNode] = set()
    pending: list[tuple[ast.AST, bool, str]] = [(s, True, "") for s in reversed(statements)]
    while pending:
        at, direct, this = pending.pop()
        if at in moved:
            continue
        if isinstance(at, SCOPES) and not isinstance(at, ast.Lambda):
            yield at, direct
            continue
        if not (isinstance(at, ast.Attribute) and this and isinstance(at.value, ast.Name) and at.value.id == this):
            yield at, direct
        called: list[tuple[ast.AST, bool, str]] = []
        if isinstance(at, ast.withitem) and isinstance(at.context_expr, ast.Call):
            entering = (f for name in ENTERING for f in known.get(name, ()))
            called += [(s, False, "") for function in entering for s in function.body]
        for function in called_by(at) if isinstance(at, ast.Call) else ():
            if function not in seen:
                seen.add(function)
                own = function.args.args[0].arg if function.name == "__init__" and function.args.args else ""
                called += [(s, False, own) for s in reversed(function.body)]
        # What a call is given is computed first.
        pending += called
        pending += [(child, direct, this) for child in reversed(list(ast.iter_child_nodes(at)))]


def is_stepped_by(statements: list[ast.stmt], run: Run, leaves: set[Node]) -> bool:
    """Whether an optimizer, or the program itself, updates leaves while statements run."""
    inside = {n for s in statements for n in ast.walk(s)}
    return any(
        step.what != "grad"
        and any(leaf in leaves for leaf, _ in step.consumed)
        and any(s in inside for s, _ in step.trail)
        for step in run.machine.steps
    )
