"""A state that runs through the same sequence in every pass begins anew with it, and is not carried from its end."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from autodetach.candidates.learned_start import ANEW
from autodetach.candidates.moved_begin import begins_of, moved_into
from autodetach.machine.activations import Activation
from autodetach.machine.children import walk
from autodetach.machine.spelling import called_name
from autodetach.node_types import DEFINITIONS
from autodetach.suspect import Candidate
from autodetach.view.moments import Moment
from autodetach.view.program import Block, Program


def begun_with_sequence(
    program: Program, d: Moment, activation: Activation, names: Collection[str]
) -> Iterator[Candidate]:
    """`h = None` moves from before the loop over epochs to its begin, where each of them ends with one backward.

    Only if a loop inside of it, over what no epoch changes, takes the state through all of the sequence.
    """
    loop = activation.node
    if not isinstance(loop, ast.For) or not names or not _runs_through(program, d, loop, set(names)):
        return
    block = program.block(loop)
    before = [s for s in block[: block.index(loop)] if not isinstance(s, DEFINITIONS)]
    if moving := begins_of(program, loop, before, names, _is_begin):
        yield Candidate(*moved_into(loop, moving), ANEW)


def _runs_through(program: Program, d: Moment, loop: ast.For, names: set[str]) -> bool:
    """Whether the differentiation stands behind one inner loop that alone changes the state, over the same sequence."""
    running = {place for place, _ in d.trail}
    now = next((s for s in loop.body if s in running), None)
    if now is None:
        return False
    earlier: Block = loop.body[: loop.body.index(now)]
    changing = [s for s in loop.body if names & program.names_bound(s)]
    if len(changing) != 1 or not isinstance(inner := changing[0], ast.For) or inner not in earlier:
        return False
    own = program.names_bound(inner)
    given = program.names_bound(loop.target) | {n for s in earlier if s is not inner for n in program.names_bound(s)}
    is_same = given.isdisjoint(program.names_read(inner.iter)) and given.isdisjoint(program.names_read(inner) - own)
    return is_same and (called_name(inner.iter) != "range" or _picks(program, inner))


def _picks(program: Program, loop: ast.For) -> bool:
    """Whether a loop over numbers picks by them from what it does not bind, as the steps of a sequence are."""
    numbers, own = program.names_bound(loop.target), program.names_bound(loop)
    return any(
        isinstance(n, ast.Subscript)
        and numbers & program.names_read(n.slice)
        and own.isdisjoint(program.names_read(n.value))
        for n in walk(loop)
    )


def _is_begin(statement: ast.stmt) -> bool:
    """`h = None`, `h = torch.zeros(1, 8)`, `h = c = None`."""
    return (
        isinstance(statement, ast.Assign)
        and all(isinstance(t, (ast.Name, ast.Tuple)) for t in statement.targets)
        and isinstance(statement.value, (ast.Call, ast.Constant, ast.Tuple))
    )
