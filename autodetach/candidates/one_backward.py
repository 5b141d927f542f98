"""Losses of the steps of a sequence are added up in their loop, and differentiated once behind it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from autodetach.candidates.detaching import structural
from autodetach.machine.activations import Pass
from autodetach.machine.children import walk
from autodetach.machine.graph import Differentiation, Node, ancestors
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.values import Value
from autodetach.node_types import LEAVING
from autodetach.suspect import Candidate
from autodetach.view.begun_as import may_be_no_tensor
from autodetach.view.crossings import Crossed
from autodetach.view.free_names import free_name
from autodetach.view.program import Program, call_of

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

DOUBT = "parameters are stepped once for the whole loop, where the program means to step them in every pass"
KEPT = "the graphs of all passes are kept until the loop ends, and later losses train what earlier passes have made"


def differentiated_behind(
    program: Program, run: Run, d: Differentiation, now: Pass, crossed: Sequence[Crossed], states: dict[str, Value]
) -> Iterator[Candidate]:
    """`total = total + loss` in place of `loss.backward()`, which goes behind the loop with the step, if that is in it.

    Only where what makes the state learns through later passes alone, so that no detach is a repair; and in a loop
    within another, whose passes are the examples. `states` are detached there if they outlive the example.
    """
    from autodetach.codemods.insert_statement import InsertStatement
    from autodetach.codemods.move_statements import MoveStatements
    from autodetach.codemods.replace_statement import ReplaceStatement

    loop, frame = now.activation.node, now.activation.frame
    statement = next((s for s, f in reversed(d.trail) if f is frame), None)
    if not isinstance(loop, (ast.For, ast.While)) or loop.orelse or d.loops[:1] == (now,) or statement is None:
        return
    root, conditions = _root(statement, d), _conditions(program, statement, loop)
    if root is None or conditions is None or any(isinstance(n, LEAVING) for n in walk(loop)):
        return
    if not learns_later(run, d, now, crossed):
        return
    block = program.block(statement)
    at = block.index(statement)
    stepping = {place for step in run.machine.steps if step.what == "step" for place, _ in step.trail}
    last = max((n for n, s in enumerate(block) if s in stepping), default=-1)
    moved = block[at + 1 : last + 1]
    calls = {s: call for s in block if (call := call_of(s)) is not None}
    zeroing = [s for s, call in calls.items() if s not in moved and last_word(call.func) == "zero_grad"]
    bound = {name for s in (loop, *loop.body) for name in program.names_bound(s)}
    if not (moved or (not zeroing and _is_stepped_behind(run, now))):
        return
    if any(s not in calls or program.names_read(s) & bound for s in (*zeroing, *moved)):
        return
    total = free_name(program.file_of(loop), f"total_{root}", f"{root}_sum")
    if total is None:
        return
    begin = InsertStatement(loop, f"{total} = 0", "before")
    gather = ReplaceStatement(statement, f"{total} = {total} + {root}")
    differentiate = _differentiate(calls[statement], total)
    codemods: tuple[Codemod, ...]
    if conditions:
        if not program.imports_torch(loop):
            return
        lines = [*map(spelled, zeroing), differentiate, *map(spelled, moved)]
        guarded = "\n    ".join((f"if torch.is_tensor({total}):", *lines))
        removed = (ReplaceStatement(s, "") for s in (*zeroing, *moved))
        codemods = (begin, gather, *removed, InsertStatement(loop, guarded))
    else:
        codemods = (
            *((MoveStatements(tuple(zeroing), loop),) if zeroing else ()),
            begin,
            gather,
            InsertStatement(loop, differentiate),
            *((MoveStatements(tuple(moved), loop, before=False),) if moved else ()),
        )
    message = f"add up `{root}` in the loop, and differentiate the sum behind it"
    doubt = DOUBT if moved else KEPT
    yield Candidate(message, codemods, doubt, gathers=bool(moved))
    cuts = {state: structural(state, value) for state, value in states.items()}
    is_known = not any(may_be_no_tensor(program, loop, state, value) for state, value in states.items())
    if cuts and is_known and None not in cuts.values():
        cut = InsertStatement(loop, "\n".join(f"{state} = {new}" for state, new in cuts.items()))
        message += "; detach " + ", ".join(f"`{state}`" for state in cuts) + " there"
        yield Candidate(message, (*codemods, cut), doubt, gathers=bool(moved), last_resort=True)


def learns_later(run: Run, d: Differentiation, now: Pass, crossed: Sequence[Crossed]) -> bool:
    """Whether some parameter is reached through earlier passes only."""
    reached: set[Node] = set()
    pending = [root for root in d.roots if now in root.loops]
    while pending:
        node = pending.pop()
        if node not in reached:
            reached.add(node)
            pending += (parent for parent in node.parents if parent.leaf or now in parent.loops)
    return not run.trained.intersection(ancestors([maker for _, _, maker in crossed])) <= reached


def _is_stepped_behind(run: Run, now: Pass) -> bool:
    """Whether parameters are stepped, and no pass of the loop does so, nor looks at the gradient that gathers."""
    loops = [p.activation.node for step in run.machine.steps for p in step.loops]
    return now.activation.node not in loops and any(step.what == "step" for step in run.machine.steps)


def _root(statement: ast.stmt, d: Differentiation) -> str | None:
    """`loss` of `loss.backward()`, with at most a `retain_graph`, and of `self.manual_backward(loss)`."""
    call = call_of(statement)
    if call is None or d.kind != "backward" or {k.arg for k in call.keywords} - {"retain_graph"}:
        return None
    if call is d.call:
        named = call.func.value if isinstance(call.func, ast.Attribute) and not call.args else None
    else:
        named = call.args[0] if len(call.args) == 1 and last_word(call.func).endswith("backward") else None
    return named.id if isinstance(named, ast.Name) else None


def _differentiate(call: ast.Call, total: str) -> str:
    """The statement that differentiates the sum as `call` does one loss."""
    return f"{spelled(call.func)}({total})" if call.args else f"{total}.backward()"


def _conditions(program: Program, statement: ast.stmt, loop: ast.stmt) -> list[ast.AST] | None:
    """The `if` statements around a statement in a loop; None if anything else stands between."""
    around = list(takewhile(lambda place: place is not loop, program.enclosing(statement)))
    return around if all(isinstance(place, ast.If) for place in around) else None
