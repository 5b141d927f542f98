"""A loop over losses that were all made before it differentiates each, and steps once behind the last.

A step between two of them changes what the later ones have saved: PyTorch raises.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.activations import Activation, pass_of
from autodetach.machine.children import walk
from autodetach.machine.graph import Differentiation
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word, spelled
from autodetach.node_types import LEAVING
from autodetach.suspect import Candidate
from autodetach.view.by_call import at_call
from autodetach.view.program import Program, call_of, listed

ONCE = "parameters are stepped once for all losses, where the program means to step them after each"
OF_A_STEP = frozenset({"zero_grad", "step"})
OF_GRADIENT = OF_A_STEP | {"grad", "parameters", "named_parameters"}


def stepped_behind_loop(program: Program, run: Run, d: Differentiation, activation: Activation) -> Iterator[Candidate]:
    """`zero_grad` goes before the loop, and behind it all that stands from the backward call to the last step."""
    from autodetach.codemods.move_statements import MoveStatements

    loop, statement = activation.node, program.statement(d.call)
    if not isinstance(loop, ast.For) or loop.orelse or statement not in loop.body or d.kind != "backward":
        return
    if any(isinstance(n, LEAVING) for n in walk(loop)) or not _are_made_before(run, d, activation):
        return
    body, at = loop.body, loop.body.index(statement)
    stepping = {place for step in run.machine.steps if step.what == "step" for place, _ in step.trail}
    zeroing = [s for s in body[:at] if _word(s) == "zero_grad"]
    steppers = {_receiver(s) for s in body if s in stepping} - {None}  # a scaler of losses has an `update`, too
    ending = [s for s in body[at + 1 :] if s in stepping or _word(s) in OF_A_STEP or _receiver(s) in steppers]
    bound = program.names_bound(loop)
    behind = body[at + 1 : body.index(ending[-1]) + 1] if ending else []
    moved = [s for s in behind if s in ending or not (_is_account(s) and program.names_read(s) & bound)]
    if not any(s in stepping for s in moved) or any(s in stepping for s in body[:at]):
        return
    if any(call_of(s) is None or program.names_read(s) & bound for s in (*zeroing, *moved)):
        return
    codemods = (
        *((MoveStatements(tuple(zeroing), loop),) if zeroing else ()),
        MoveStatements(tuple(moved), loop, before=False),
    )
    yield Candidate(f"step once for all losses: move {listed(moved)} behind the loop", codemods, ONCE, gathers=True)


def _is_account(statement: ast.stmt) -> bool:
    """Whether it may only note a loss, `total += loss.item()`: it does nothing to gradients."""
    is_plain = isinstance(statement, ast.AugAssign) or call_of(statement) is not None
    return is_plain and not any(isinstance(n, ast.Attribute) and n.attr in OF_GRADIENT for n in ast.walk(statement))


def _word(statement: ast.stmt) -> str:
    """`step` of `optimizer.step()`."""
    call = call_of(statement)
    return last_word(call.func) if call is not None else ""


def _receiver(statement: ast.stmt) -> str | None:
    """`optimizer` of `optimizer.step()`."""
    call = call_of(statement)
    return spelled(call.func.value) if call is not None and isinstance(call.func, ast.Attribute) else None


def _are_made_before(run: Run, d: Differentiation, activation: Activation) -> bool:
    """Whether each pass of a loop differentiates a loss of its own, which was there before it or is made of what was.

    They share no graph: of a forward that several losses share, it may be meant that each pass computes it anew.
    """
    own = [o for o in at_call(run, d.call) if pass_of(o.loops, activation) is not None]
    if any(len(n.walked_by) > 1 for o in own for n in o.walked if not n.leaf):
        return False
    scaling = set(ast.walk(d.call))
    made = (n for o in own for n in o.walked if pass_of(n.loops, activation) is not None)
    return all(n.site.node in scaling or not (n.leaf or any(p.leaf for p in n.parents)) for n in made)
