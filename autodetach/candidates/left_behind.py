"""What a differentiation under a condition leaves behind for the state: `x = cat([x[:, 1:], y])` below it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autodetach.candidates.detaching import structural
from autodetach.candidates.reads import Repair, read_at
from autodetach.candidates.truncation import assignments, has_default
from autodetach.machine.activations import Activation, pass_of
from autodetach.machine.graph import Differentiation, Node
from autodetach.machine.program_values import Frame
from autodetach.machine.run import Run
from autodetach.view.begun_as import may_be_no_tensor
from autodetach.view.crossings import Crossed, operands_from
from autodetach.view.moments import behind_step, moment, placed
from autodetach.view.program import Program, text


def cut_behind(
    program: Program, run: Run, d: Differentiation, activation: Activation, crossed: list[Crossed]
) -> Iterator[Repair]:
    """Detach, right behind what has freed it, all that the state is made of below: each of its segments ends there."""
    from autodetach.codemods.insert_statement import InsertStatement

    freeing = [n.freed_by for n in d.walked if n.freed_by is not None and n.freed_by.number < d.number]
    if not freeing:
        return
    first = max(freeing, key=lambda other: other.number)
    held = _read_behind(first, activation, {maker for _, _, maker in crossed})
    for frame in _frames(first) if held else ():
        statement = placed(program, moment(first), frame, activation.node)
        if statement is None or any(program.scope(e) is not program.scope(statement) for e in held):
            continue
        cuts = {text(e): structural(text(e), value) for e, value in held.items()}
        is_known = not any(may_be_no_tensor(program, e, text(e), value) for e, value in held.items())
        if is_known and None not in cuts.values():
            anchor = behind_step(program, run.machine, moment(first), statement, frame)
            shown = ", ".join(f"`{name}`" for name in cuts)
            body = assignments(cuts, [text(e) for e, value in held.items() if has_default(value)])
            yield f"detach {shown} behind `{text(first.call)}`", (InsertStatement(anchor, body),)
        return


def _read_behind(first: Differentiation, activation: Activation, makers: Iterable[Node]) -> dict[ast.expr, object]:
    """What passes have made before `first`, by the expressions that read it behind; none if one has no name."""
    found: dict[ast.expr, object] = {}
    names: set[str] = set()
    seen: set[Node] = set()
    stack = [maker for maker in makers if maker.number > first.number]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        for parent in node.parents:
            if parent.leaf or parent.weak or pass_of(parent.loops, activation) is None:
                continue
            if parent.number > first.number:
                stack.append(parent)
                continue
            read = next((r for o in operands_from(node, parent) if (r := read_at(node, o)) is not None), None)
            if read is None or not isinstance(read[0], (ast.Name, ast.Attribute)):
                return {}
            if text(read[0]) not in names:
                names.add(text(read[0]))
                found[read[0]] = read[1]
    return found


def _frames(first: Differentiation) -> Iterator[Frame]:
    """The frames of the calls that were open, the innermost first."""
    yield from dict.fromkeys(frame for _, frame in reversed(first.trail) if isinstance(frame, Frame))
