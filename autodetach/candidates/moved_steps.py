"""A parameter step and a differentiation change places, so that each gradient is taken of the graph as it was."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from autodetach.candidates.shared_calls import doubt_of, repeated_behind_step
from autodetach.machine.activations import within
from autodetach.machine.children import targets_of
from autodetach.machine.events import Step
from autodetach.machine.graph import Differentiation, Node, Site, Storage, trail_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.suspect import Candidate
from autodetach.view.program import Block, Program, call_of, listed, text, without_retain

if TYPE_CHECKING:
    from autodetach.codemods import Codemod


READ = "what is computed behind the step would be computed with the parameters before it"


def step_moved_behind(program: Program, run: Run, by: Differentiation, changed: Site) -> Iterator[Candidate]:
    """Move what changes tensors behind the last differentiation over the same graph."""
    from autodetach.codemods.move_statements import MoveStatements
    from autodetach.codemods.set_keyword import SetKeyword

    calls = [d for d in run.machine.differentiations if d.loops == by.loops and _shares(d, by)] or [by]
    if repeated_behind_step(run, calls):
        return
    last = calls[-1]
    anchor = program.statement(last.call)
    if anchor is None:
        return
    block = program.block(anchor)
    if anchor not in block:
        return
    earlier = block[: block.index(anchor)]
    steps = [s for s in earlier if _holds(program, s, changed) or _steps(run, s, by, calls[0])]
    if not steps:
        return
    over = block[block.index(steps[0]) + 1 : block.index(anchor) + 1]
    written = [s for s in steps if _holds(program, s, changed)]
    if any(_is_read(s, over) for s in written) or (written and _is_used(run, changed, by, over)):
        return  # what is computed from the changed tensor would be computed from the unchanged one
    doubt = doubt_of(run, calls)
    if doubt is None and steps_are_read(run, steps, over, by):
        doubt = READ
    retains = tuple(SetKeyword(d.call, "retain_graph", "True") for d in calls[:-1] if not d.retain and d.kind != "grad")
    shown = listed(steps)
    yield Candidate(
        f"move {shown} behind `{text(last.call)}`",
        (MoveStatements(tuple(steps), anchor, before=False), *retains),
        doubt,
    )


def stepped_once(program: Program, run: Run, by: Differentiation) -> Iterator[Candidate]:
    """Drop a step between two backward calls where the same one runs behind the second, too.

    Nothing is zeroed in between, so that the last step takes the gradient of both.
    """
    from autodetach.codemods.replace_statement import ReplaceStatement
    from autodetach.codemods.set_keyword import SetKeyword

    calls = [d for d in run.machine.differentiations if d.loops == by.loops and _shares(d, by)]
    anchor = program.statement(by.call)
    block = program.block(anchor) if anchor is not None else []
    if by not in calls[1:] or anchor not in block or calls[-1] is not by or repeated_behind_step(run, calls):
        return
    at = block.index(anchor)
    places = {place for s in run.machine.steps if s.what == "step" for place, _ in s.trail}
    last = {text(s) for s in block[at + 1 :] if s in places and call_of(s) is not None}
    steps = [s for s in block[:at] if call_of(s) is not None and _steps(run, s, by, calls[0])]
    if not steps or any(text(s) not in last for s in steps):
        return
    end = max(i for i, s in enumerate(block) if i > at and text(s) in last)
    if any(_is_zeroing(s) for s in block[block.index(steps[0]) : end]):
        return
    shown = listed(steps)
    retains = tuple(SetKeyword(d.call, "retain_graph", "True") for d in calls[:-1] if not d.retain and d.kind != "grad")
    yield Candidate(
        f"step once for both losses: drop {shown} before `{text(by.call)}`",
        (*(ReplaceStatement(s, "") for s in steps), *retains),
        "parameters are stepped once, where the program means to step them after each loss",
        gathers=True,
    )


def differentiated_before(program: Program, run: Run, by: Differentiation) -> Iterator[Candidate]:
    """Move a backward call, with the `zero_grad` and the step around it, before the first step that is in its way.

    It goes in front of the `zero_grad` of that one, so that neither takes gradient of the other for its own.
    """
    from autodetach.codemods.insert_statement import InsertStatement
    from autodetach.codemods.move_statements import MoveStatements

    stepping = {place for step in run.machine.steps if step.what == "step" for place, _ in step.trail}
    in_the_way = steps_in_the_way(run, by)
    # Where they stand in functions of their own, the calls of these change places.
    anchors = (beside(program, at, in_the_way) for at in (program.statement(by.call), *_calls_of(by)))
    anchor = next((found for found in anchors if found is not None), None)
    if anchor is None:
        return
    block = program.block(anchor)
    first = next(i for i, s in enumerate(block) if s in in_the_way)
    begin, end = _around(block, block.index(anchor), stepping)
    optimizer = _stepped(block[first])  # None where a call leads to the step
    goal = first if optimizer is None else zeroed(block, first, stepping)
    zeroing: tuple[Codemod, ...] = ()
    between = ""
    if goal == first and walked_before(program, block, in_the_way[block[first]]) < first:
        # The step would take the gradient of the second loss, too.
        goal = walked_before(program, block, in_the_way[block[first]])
        if optimizer is None:
            return
        zeroing = (InsertStatement(block[goal], f"{text(optimizer)}.zero_grad()", "before"),)
        between = f", and zero the gradient of `{text(optimizer)}` in between"
    group, over = block[begin:end], block[goal:begin]
    building = {s for n in by.walked for s, _ in trail_of(n) if not n.leaf and within(n.loops, by.loops)}
    if not over or any(s in building for s in over) or not program.may_pass(group, over):
        return
    if optimizer is None and _share_attributes(program, block, by, in_the_way.values()):
        return
    message = f"move `{text(by.call)}` and what belongs to it before `{text(block[goal])}`{between}"
    doubt = "the second loss may be meant to be computed again behind the step"
    flags = without_retain(n for n in by.walked if not n.leaf and n.walked_by == [by])
    if flags:
        freed = MoveStatements(tuple(group), block[goal], changes=flags, paragraph=True)
        yield Candidate(f"{message}, and no graph is retained", (freed, *zeroing), doubt)
    yield Candidate(message, (MoveStatements(tuple(group), block[goal], paragraph=True), *zeroing), doubt)


def steps_in_the_way(run: Run, by: Differentiation) -> dict[ast.stmt, Step]:
    """The steps that change what a later differentiation has read before them, by the statements that lead to them."""
    read = _first_read(by)
    return {
        place: step
        for step in run.machine.steps
        if step.what == "step"
        and step.clock < by.number
        and any(read.get(leaf, by.number) < step.clock for leaf, _ in step.consumed)
        for place, _ in step.trail
    }


def _calls_of(by: Differentiation) -> Iterator[ast.stmt]:
    """The statements whose calls lead to a differentiation, the innermost first."""
    return (place for place, _ in reversed(by.trail) if call_of(place) is not None)


def _share_attributes(program: Program, block: Block, by: Differentiation, steps: Iterable[Step]) -> bool:
    """Whether the functions in which a differentiation and the steps stand tell each other anything by attributes."""
    scopes = _scopes_below(program, block, by.trail)
    others = {scope for step in steps for scope in _scopes_below(program, block, step.trail)}
    read, bound = attributes_in(scopes)
    read_by_others, bound_by_others = attributes_in(others)
    return bool(bound_by_others & (read | bound) or bound & read_by_others)


def _scopes_below(program: Program, block: Block, trail: Sequence[tuple[ast.stmt, object]]) -> set[ast.AST]:
    """The functions that a statement of a block has called, directly or not."""
    places = [place for place, _ in trail]
    at = next((n for n, place in enumerate(places) if place in block), len(places))
    return {program.scope(place) for place in places[at + 1 :]} - {program.scope(block[0])}


def attributes_in(parts: Iterable[ast.AST]) -> tuple[set[str], set[str]]:
    """The attributes that statements or functions read, and those that they bind."""
    found = [n for part in parts for n in ast.walk(part) if isinstance(n, ast.Attribute)]
    bound = {n.attr for n in found if not isinstance(n.ctx, ast.Load)}
    return {n.attr for n in found if isinstance(n.ctx, ast.Load)}, bound


def _first_read(by: Differentiation) -> dict[Node, int]:
    """When the graph of a differentiation first read each of its leaves: only a later step is in its way."""
    found: dict[Node, int] = {}
    for node in sorted(by.walked, key=lambda n: n.number):
        for leaf in node.parents if within(node.loops, by.loops) else ():
            if leaf.leaf:
                found.setdefault(leaf, node.number)
    return found


def beside(program: Program, statement: ast.stmt | None, places: Container[ast.stmt]) -> ast.stmt | None:
    """The statement, or a condition around it, that stands behind one of `places` in the same block."""
    at = statement
    while isinstance(at, ast.stmt):
        block = program.block(at)
        if at in block and any(s in places for s in block[: block.index(at)]):
            return at
        parent = program.parents.get(at)
        at = parent if isinstance(parent, ast.If) else None
    return None


def walked_before(program: Program, block: Block, step: Step) -> int:
    """The place in a block of the first differentiation whose gradient a step in it consumes."""
    walks = {place for _, ds in step.consumed for d in ds for place, _ in d.trail}
    places = {at for place in walks for at in (place, *program.enclosing(place))}
    return next((i for i, s in enumerate(block) if s in places), len(block))


def _stepped(statement: ast.stmt) -> ast.expr | None:
    """`optimizer` of `optimizer.step()`."""
    func = call.func if (call := call_of(statement)) is not None and not call.args else None
    return func.value if isinstance(func, ast.Attribute) and func.attr == "step" else None


def _around(block: Block, at: int, stepping: set[ast.stmt]) -> tuple[int, int]:
    """From the `zero_grad` calls right before the backward call at this place to the step behind it, exclusive."""
    begin = at
    while begin > 0 and _is_zeroing(block[begin - 1]):
        begin -= 1
    return begin, end_of_step(block, at, stepping)


def end_of_step(block: Block, at: int, stepping: set[ast.stmt]) -> int:
    """The place behind the step that follows on the backward call at this one; or behind the call itself."""
    end = at if call_of(block[at]) is not None else at + 1 if isinstance(block[at], ast.If) else len(block)
    while end < len(block) and call_of(block[end]) is not None:
        end += 1
        if block[end - 1] in stepping:
            return end
    return at + 1


def zeroed(block: Block, at: int, stepping: set[ast.stmt]) -> int:
    """The place of the `zero_grad` call that belongs to the step at this place, with only calls in between."""
    for i in range(at - 1, -1, -1):
        if call_of(block[i]) is None or block[i] in stepping:
            break
        if _is_zeroing(block[i]):
            return next((k + 1 for k in range(i - 1, -1, -1) if not _is_zeroing(block[k])), 0)
    return at


def _is_zeroing(statement: ast.stmt) -> bool:
    return calls_method(statement, "zero_grad")


def calls_method(statement: ast.stmt, name: str) -> bool:
    """Whether a statement does nothing but call a method of this name, of whatever object."""
    call = call_of(statement)
    return call is not None and isinstance(call.func, ast.Attribute) and call.func.attr == name


def _holds(program: Program, statement: ast.stmt, site: Site) -> bool:
    """Whether the change in place is written inside of a statement."""
    return site.node is statement or statement in program.enclosing(site.node)


def _is_read(change: ast.stmt, over: list[ast.stmt]) -> bool:
    """Whether one of the statements over which a change in place would move reads what it changes."""
    targets = targets_of(change) or _changed_by_method(change)
    changed = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)} - {"self"}
    changed |= {spelled(n) for t in targets for n in ast.walk(t) if isinstance(n, ast.Attribute)}
    return any(
        isinstance(n, (ast.Name, ast.Attribute)) and spelled(n) in changed
        for s in over
        if s is not change
        for n in ast.walk(s)
    )


def _is_used(run: Run, changed: Site, by: Differentiation, over: list[ast.stmt]) -> bool:
    """Whether one of the statements computes with the memory that was changed in place, by whatever name."""
    if any(s.site is changed for s in run.machine.steps):
        return False  # a parameter step, for which see `steps_are_read`
    stale = [event.node for event in run.machine.stale if event.changed is changed and event.by is by]
    memory = {storage for n in stale for storage, version in n.saved if storage.version != version}
    return any(
        not memory.isdisjoint((*(getattr(o, "storage", None) for o in n.operands), *(s for s, _ in n.saved)))
        and n.site is not changed
        and any(s in over for s, _ in trail_of(n))
        for n in run.machine.nodes
    )


def _changed_by_method(change: ast.stmt) -> list[ast.expr]:
    """`out` of `out.add_(1)`."""
    calls = (n.func for n in ast.walk(change) if isinstance(n, ast.Call))
    return [func.value for func in calls if isinstance(func, ast.Attribute)]


def steps_are_read(run: Run, steps: list[ast.stmt], over: list[ast.stmt], by: Differentiation) -> bool:
    """Whether the statements over which steps would move compute something with the stepped parameters.

    Of those that are frozen meanwhile, as in the loss of a generator, the memory tells.
    """
    made = [n for n in run.machine.nodes if any(s in over and s not in steps for s, _ in trail_of(n))]
    depth = len(by.loops)
    for step in run.machine.steps:
        if step.what != "grad" and any(s in steps for s, _ in step.trail):
            leaves = {leaf for leaf, _ in step.consumed}
            if any(
                n.number > step.clock and n.loops[:depth] == step.loops[:depth]
                for n in made
                if leaves & set(n.parents) or any(_is_changed_at(storage, step.site) for storage, _ in n.saved)
            ):
                return True
    return False


def _is_changed_at(storage: Storage, site: Site) -> bool:
    changes = (*storage.earlier, storage.changed)
    return any(change is not None and change.node is site.node for change in changes)


def _shares(d: Differentiation, other: Differentiation) -> bool:
    nodes = {n for n in other.walked if not n.leaf}
    return any(n in nodes for n in d.walked)


def _steps(run: Run, statement: ast.stmt, by: Differentiation, first: Differentiation) -> bool:
    """Whether a statement changed parameters between two differentiations."""
    return any(
        first.number < s.clock < by.number
        and s.what != "grad"
        and s.consumed
        and any(place is statement for place, _ in s.trail)
        for s in run.machine.steps
    )
