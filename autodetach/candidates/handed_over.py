"""What a pass hands on is computed once more where it is handed on, by weights that the pass has stepped."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autodetach.candidates.reads import Repair
from autodetach.machine.activations import Activation, pass_of
from autodetach.machine.graph import Node, ancestors, calls_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import arguments_of, spelled
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import LOOPS
from autodetach.view.assigned import assigned
from autodetach.view.crossings import Crossed
from autodetach.view.program import Program, line, listed, parts_of
from autodetach.view.substituted import substituted

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

PLACES = (ast.Name, ast.Attribute)
ASKED_AGAIN = "it is computed once more, by the weights behind the step: the value of before may be what was meant"


class _Handed(NamedTuple):
    """`value = next_value`: `old` is what stands there for what `making` has computed by the expression `made`."""

    statement: ast.Assign
    target: ast.expr
    old: ast.expr
    making: ast.Assign
    made: ast.expr


def computed_where_handed_over(
    program: Program, run: Run, activation: Activation, crossed: list[Crossed], names: set[str], *, beside: bool
) -> Iterator[Repair]:
    """`value = critic(state)` instead of `value = next_value`, where `critic(next_state)` has made that.

    Only of what a pass makes of nothing older than itself, by weights that it steps. `names` are those that hold what
    crosses into the next pass. Where a call has made more than that, as with the mean of an action, all of it is.
    `beside`: whether what it is computed from is handed on, too, so that both are meant for the state of the next pass.
    """
    loop = activation.node
    if not isinstance(loop, LOOPS):
        return
    found: dict[ast.expr, _Handed] = {}
    for _, _, maker in crossed:
        handed = _handed(program, loop, maker, names) if _is_of_its_pass(run, activation, maker) else None
        if handed is None:
            return
        found[handed.old] = handed
    codemods = [codemod for handed in found.values() for codemod in _again(program, handed)]
    if codemods and beside is all(_is_handed_with_inputs(program, handed) for handed in found.values()):
        shown = listed(handed.made for handed in found.values())
        yield f"compute {shown} again where it is handed on", tuple(dict.fromkeys(codemods))


def _is_of_its_pass(run: Run, activation: Activation, maker: Node) -> bool:
    """Whether all behind a node was made in its pass, and that steps a leaf of it."""
    own = pass_of(maker.loops, activation)
    behind = set(ancestors([maker]))
    stepped = {leaf for s in run.machine.steps if own in s.loops and s.what == "step" for leaf, _ in s.consumed}
    return own is not None and all(own in n.loops for n in behind if not n.leaf) and not stepped.isdisjoint(behind)


def _handed(program: Program, loop: ast.For | ast.AsyncFor | ast.While, maker: Node, names: set[str]) -> _Handed | None:
    """The one statement of a loop that hands on what a node has made, if all that made it is at hand there."""
    calls = {maker.site.node, *(site.node for site in calls_of(maker.chain))}
    scope = program.scope(loop)
    inside = [n for s in loop.body for n in ast.walk(s) if isinstance(n, ast.Assign) and program.scope(n) is scope]
    making = [(s, v) for s in inside for _, v in assigned(s) if not calls.isdisjoint(ast.walk(v))]
    if len(making) != 1 or not isinstance(making[0][1], ast.Call):
        return None
    statement, made = making[0]
    bound = {spelled(part) for target in statement.targets for part in parts_of(target)}
    pairs = [(s, t, v) for s in inside for t, v in assigned(s) if spelled(t) in names and isinstance(t, PLACES)]
    if len(pairs) != 1 or spelled(pairs[0][2]) not in bound or spelled(pairs[0][1]) in bound:
        return None
    handed = _Handed(pairs[0][0], pairs[0][1], pairs[0][2], statement, made)
    if line(handed.statement) <= line(statement) or program.block(handed.statement) is not program.block(statement):
        return None
    read = {spelled(n) for n in ast.walk(made) if isinstance(n, PLACES)}
    stores = (n for s in loop.body for n in ast.walk(s) if isinstance(n, PLACES) and not isinstance(n.ctx, ast.Load))
    changed = {spelled(n) for n in stores if n.lineno > line(statement)}
    if (read | bound) & changed or names & read:
        return None
    return handed if _is_read_besides(loop, handed, bound) else None


def _is_read_besides(loop: ast.For | ast.AsyncFor | ast.While, handed: _Handed, bound: set[str]) -> bool:
    """Whether the pass itself reads what the call has made: else that would be computed once for nothing."""
    inside = (n for s in loop.body for n in ast.walk(s) if isinstance(n, PLACES) and isinstance(n.ctx, ast.Load))
    handing = set(ast.walk(handed.statement))
    return any(n not in handing and spelled(n) in bound for n in inside)


def _is_handed_with_inputs(program: Program, handed: _Handed) -> bool:
    """Whether `state = next_state`, of what `critic(next_state)` is given, stands behind that in its block."""
    assert isinstance(handed.made, ast.Call)
    given = {spelled(a) for a in arguments_of(handed.made) if isinstance(a, PLACES)}
    block = program.block(handed.making)
    behind = (pair for s in block[block.index(handed.making) + 1 :] for pair in assigned(s))
    return any(spelled(value) in given for target, value in behind if isinstance(target, PLACES))


def _again(program: Program, handed: _Handed) -> Iterator[Codemod]:
    from autodetach.codemods.copy_statements import CopyStatements
    from autodetach.codemods.replace_expression import ReplaceExpression

    if any(len(parts_of(target)) > 1 for target in handed.making.targets):
        yield CopyStatements((handed.making,), handed.statement)
    else:
        yield ReplaceExpression(handed.old, _by_new_names(program, handed))


def _by_new_names(program: Program, handed: _Handed) -> str:
    """The expression with `state` for `next_state`, if `state = next_state` stands before what hands on the value."""
    block = program.block(handed.statement)
    between = block[block.index(handed.making) + 1 : block.index(handed.statement)]
    pairs = [pair for s in between for pair in assigned(s)]
    stores = [n.id for s in between for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    named = ((t.id, v.id) for t, v in pairs if isinstance(v, ast.Name) and isinstance(t, ast.Name))
    new = {old: target for target, old in named if stores.count(target) == 1}
    return substituted(handed.made, new)
