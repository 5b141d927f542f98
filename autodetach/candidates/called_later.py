"""What is changed in place by a call between a forward and its backward is changed behind that."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from autodetach.machine.events import StaleSaved
from autodetach.machine.graph import Place, trail_of
from autodetach.machine.program_values import Class, Frame, Function
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.suspect import Candidate
from autodetach.view.meant import classes_of
from autodetach.view.moments import parting
from autodetach.view.program import Block, Program, call_of, text

LATER = "what is called later meets what has changed by then: only its author knows whether it should"


def called_later(program: Program, run: Run, event: StaleSaved) -> Iterator[Candidate]:
    """Call what changes a tensor behind the differentiation that needs it, or let its class ask for a later hook."""
    if any(step.site is event.changed for step in run.machine.steps):
        return
    depth = parting(event.storage.trail, event.by.trail)
    if depth is None:
        return
    (whole, frame), (walk, _) = event.storage.trail[depth], event.by.trail[depth]
    within = [s for s, at in event.storage.trail[depth:] if at is frame]
    inside = event.storage.trail[depth + len(within) :]
    block = program.block(walk)
    if not inside or walk not in block or whole not in block[: block.index(walk)] or not _only_calls(whole, within[-1]):
        return
    behind = block[block.index(whole) + 1 :]
    later = list(_hooked_later(run, inside, whole, walk, behind))
    yield from later
    if not later and not _is_read(run, whole, behind[: behind.index(walk) + 1]):
        yield from _moved(whole, walk)


def _only_calls(statement: ast.stmt, call: ast.stmt) -> bool:
    """Whether it is the call, or a loop that does nothing else: `for hook in self.hooks: hook.after_loss(self)`."""
    is_loop = isinstance(statement, ast.For) and statement.body == [call] and not statement.orelse
    return call_of(call) is not None and (statement is call or is_loop)


def _is_read(run: Run, call: ast.stmt, over: Block) -> bool:
    """Whether one of the statements computes with something that is changed by the call."""
    return any(
        any(s is call for operand in n.operands for s, _ in getattr(getattr(operand, "storage", None), "trail", ()))
        and any(s in over for s, _ in trail_of(n))
        for n in run.machine.nodes
    )


def _moved(call: ast.stmt, walk: ast.stmt) -> Iterator[Candidate]:
    from autodetach.codemods.move_statements import MoveStatements

    move = MoveStatements((call,), walk, before=False)
    yield Candidate(f"move `{text(call)}` behind `{text(walk)}`", (move,), LATER)


def _hooked_later(
    run: Run, inside: Sequence[Place], whole: ast.stmt, walk: ast.stmt, behind: Block
) -> Iterator[Candidate]:
    """The method by which an object is told of a moment, if its class is told of a later one in the same way.

    That is by `self.emit("on_step_end")`, where `self.emit("on_forward_end")` leads to the change. `inside` runs then
    on the way there.
    """
    from autodetach.codemods.define_as import DefineAs

    asked = spelled(whole)
    for frame in dict.fromkeys(at for _, at in inside):
        function = frame.function if isinstance(frame, Frame) else None
        if not isinstance(frame, Frame) or function is None or not isinstance(function.node, ast.FunctionDef):
            continue
        word = re.compile(rf"\b{re.escape(function.name)}\b")
        if not word.search(asked) or word.search("".join(spelled(s) for s in function.node.body)):
            continue
        for name in _hooks(classes_of(frame.this), function):
            moment = next((s for s in behind if spelled(s) == word.sub(name, asked)), None)
            over = behind[: behind.index(moment)] if moment is not None else []
            if moment is not None and walk in over and not _is_read(run, whole, over):
                message = f"let `{function.name}` of `{_class_of(function)}` be called at `{text(moment)}`"
                yield Candidate(message, (DefineAs(function.node, name),), LATER)


def _class_of(function: Function) -> str:
    return function.owner.name if function.owner is not None else ""


def _hooks(classes: list[Class], function: Function) -> Iterator[str]:
    """The other methods that a class takes from those above it, and which are given as much, if it is one of them."""
    own, above = classes[:1], classes[1:]
    given = len(function.node.args.args)
    taken: dict[str, Function] = {}
    for cls in above:
        for name, method in cls.names.items():
            if isinstance(method, Function) and len(method.node.args.args) == given:
                taken.setdefault(name, method)
    if function.name in taken and all(cls.names.get(function.name) is function for cls in own):
        yield from (name for name in taken if name not in own[0].names and not name.startswith("__"))
