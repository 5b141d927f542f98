"""What is built before a loop, and needed there too, is built once more in every pass of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.children import targets_of, walk
from autodetach.machine.graph import Node, ancestors, trail_of
from autodetach.machine.run import Run
from autodetach.node_types import LOOPS
from autodetach.suspect import Candidate
from autodetach.view.free_names import bound_otherwise
from autodetach.view.program import Block, Program, line, text, without_retain
from autodetach.view.side_effects import draws_random_numbers, makes_leaves, takes_away

MEANT = "the first pass computes the same values twice; only its author knows what should be computed anew"


def repeated_inside(
    program: Program, run: Run, loop: ast.AST | None, outer: list[Node]
) -> Iterator[Candidate]:
    """Write the statements that make the nodes of `outer` once more, in front of what reads them in `loop`.

    Only if each of them would make the same again: nothing in between binds what they read, and no branch chooses them.
    Flags that have kept the old graph for the next pass go.
    """
    from autodetach.codemods.copy_statements import CopyStatements

    if not isinstance(loop, LOOPS):
        return
    statements: dict[ast.stmt, None] = {}
    for node in outer:
        statement = _in_scope_of(program, node, loop)
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or not _always_runs(program, statement, loop):
            return
        statements[statement] = None
    ordered = sorted(statements, key=line)
    reader = _reader(program, loop.body, ordered)
    if reader is None or takes_away(program, run, ordered) or _renews(program, run, ordered, outer):
        return
    if not _would_make_the_same(program, ordered, loop):
        return
    flags = without_retain(outer)
    copy = CopyStatements(tuple(ordered), reader)
    doubt = f"{MEANT}, and random numbers are drawn again" if draws_random_numbers(run, ordered) else MEANT
    shown = f"compute {', '.join(f'`{text(t)}`' for s in ordered for t in targets_of(s))} again inside the loop"
    if flags:
        yield Candidate(f"{shown}, without `retain_graph=True`", (copy, *flags), doubt)
    yield Candidate(shown, (copy,), doubt)


def _in_scope_of(program: Program, node: Node, loop: ast.stmt) -> ast.stmt | None:
    """The statement that was running when a node was made, in the scope in which the loop stands."""
    home = program.scope(loop)
    return next((s for s, _ in reversed(trail_of(node)) if program.scope(s) is home), None)


def _always_runs(program: Program, statement: ast.stmt, loop: ast.stmt) -> bool:
    """Whether a statement stands in front of a loop, in no branch that the loop does not stand in too."""
    around = set(program.enclosing(loop))
    own = [at for at in program.enclosing(statement) if at not in around]
    return line(statement) < line(loop) and all(isinstance(at, LOOPS) for at in own)


def _reader(program: Program, body: Block, statements: list[ast.stmt]) -> ast.stmt | None:
    """The first statement of a pass that reads what the statements bind."""
    bound = _names_bound(program, statements)
    return next((s for s in body if program.names_read(s) & bound), None)


def _would_make_the_same(
    program: Program, statements: list[ast.stmt], loop: ast.For | ast.AsyncFor | ast.While
) -> bool:
    """Whether what the statements read means the same inside of the loop, and nothing else binds what they bind.

    What is bound by one of them for another one is no matter.
    """
    bound = _names_bound(program, statements)
    read = {name: line(s) for s in reversed(statements) for name in program.names_read(s) - bound}
    moved = set(statements)
    for node in walk(program.scope(loop)):
        name = _name_bound(node)
        if name in read or name in bound:
            around = set(program.enclosing(node))
            within = loop in around
            later = not moved & around and line(node) > read.get(name, line(node))
            if (name in bound and within) or (name in read and (within or later)):
                return False
    return bool(bound) and all(isinstance(t, (ast.Name, ast.Tuple)) for s in statements for t in targets_of(s))


def _renews(program: Program, run: Run, statements: list[ast.stmt], outer: list[Node]) -> bool:
    """Whether new weights would take the place of those that are trained, or were drawn; the same points may."""
    if not makes_leaves(program, run, statements, outer):
        return False
    trained = {leaf for step in run.machine.steps if step.what != "grad" for leaf, _ in step.consumed}
    made = [n for n in ancestors(outer) if n in trained]
    return draws_random_numbers(run, statements) or makes_leaves(program, run, statements, made)


def _name_bound(node: ast.AST) -> str | None:
    """What a node binds; an exception that is caught has no name behind that."""
    if isinstance(node, ast.Name):
        return None if isinstance(node.ctx, ast.Load) else node.id
    return bound_otherwise(node)


def _names_bound(program: Program, statements: list[ast.stmt]) -> set[str]:
    return {name for s in statements for name in program.names_bound(s)}
