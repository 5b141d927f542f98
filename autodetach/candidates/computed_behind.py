"""What a parameter step has made outdated is computed behind the step, with the parameters as they are by then."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autodetach.candidates.called_inside import calling_statements, of_the_same_object
from autodetach.candidates.cut_for_first import cut_for_first
from autodetach.candidates.part_behind import part_behind_step
from autodetach.candidates.replaced_fields import only_replace_fields
from autodetach.candidates.taken_once import taken_once
from autodetach.machine.activations import diverge
from autodetach.machine.children import targets_of, walk
from autodetach.machine.graph import Differentiation, Node, with_leaves
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.suspect import Candidate
from autodetach.view.assigned import given_to
from autodetach.view.program import Program, line, listed, parts_of, statement_in, text, without_retain
from autodetach.view.side_effects import draws_random_numbers, takes_away

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

BEHIND = "the second loss is then computed with the parameters after the step; a detach may be what was meant"


def computed_behind_step(
    program: Program, run: Run, by: Differentiation, *, in_a_row: bool = False
) -> Iterator[Candidate]:
    """Run the forward again for the second differentiation, with the parameters as they are by then.

    `in_a_row`: further ones may follow, each behind a step of its own, so that each is repaired by itself.
    """
    from autodetach.codemods.copy_statements import CopyStatements
    from autodetach.codemods.move_statements import MoveStatements

    step, old = _outdated(run, by)
    found = _making(program, by, old) or _making(program, by, _spoilt(old, by))
    if found is None or _is_for_effect(program, found[2]):
        return
    anchor, frame, statements = found
    block = program.block(anchor)
    later = [s for s in block[: block.index(anchor) + 1] if line(s) > line(statements[-1])]
    first = _first_reader(program, later, statements, run, step)
    flags = _flags(old, by)
    shown = listed(t for s in statements for t in targets_of(s))
    goal = first or anchor
    if _is_free(program, block, statements, goal):
        yield Candidate(
            f"compute {shown} right before `{text(goal)}`",
            (MoveStatements(tuple(statements), goal), *flags),
            BEHIND,
        )
    else:
        yield from _outdated_alone(program, run, by, old)
    yield from cut_for_first(program, run, by, frame, statements, goal)
    taken = taken_once(program, run, statements)
    awaited = _is_awaited(program, statements, goal)
    if taken is not None and not awaited and not _is_given_others(program, statements, goal):
        doubt = f"{BEHIND}, and random numbers are drawn again" if taken.draws else BEHIND
        same = f", from the same {taken.shown}" if taken.shown else ""
        message = f"compute {shown} again before `{text(by.call)}`{same}"
        copy = CopyStatements(tuple(statements), goal, changes=taken.changes)
        yield Candidate(message, (*taken.codemods, copy, *(_flags_in_between(old, by) if in_a_row else flags)), doubt)


def _is_awaited(program: Program, statements: list[ast.stmt], goal: ast.stmt) -> bool:
    """Whether a loop around the goal ends by what is bound: `while losses:` never would, were they computed in it."""
    names = {n.id for s in statements for t in targets_of(s) for n in ast.walk(t) if isinstance(n, ast.Name)}
    shared = set(program.enclosing(statements[0]))
    loops = [n for n in program.enclosing(goal) if isinstance(n, ast.While) and n not in shared]
    tests = [n.test for loop in loops for n in ast.walk(loop) if isinstance(n, (ast.While, ast.If))]
    return any(isinstance(n, ast.Name) and n.id in names for test in tests for n in ast.walk(test))


def _is_given_others(program: Program, statements: list[ast.stmt], goal: ast.stmt) -> bool:
    """Whether a name that the statements read, and do not bind, stands for another value where they would run again."""
    own = {name for s in statements for name in program.names_bound(s)}
    others = [s for s in walk(program.scope(goal)) if isinstance(s, ast.stmt) and s not in statements]
    return any(
        not (program.names_read(statement) - own).isdisjoint(program.names_bound(other))
        for statement in statements
        for other in others
        if line(statement) < line(other) < line(goal)
    )


def _outdated_alone(program: Program, run: Run, by: Differentiation, old: list[Node]) -> Iterator[Candidate]:
    """Move no more than what is made of stepped parameters: what it is given is as good as it was, and read before."""
    from autodetach.codemods.move_statements import MoveStatements

    outdated = _stepped_since(run, old, by)
    found = _making(program, by, outdated)
    if found is None:
        return
    anchor, _, statements = found
    if _is_free(program, program.block(anchor), statements, anchor):
        shown = listed(t for s in statements for t in targets_of(s))
        yield Candidate(
            f"compute {shown} right before `{text(anchor)}`",
            (MoveStatements(tuple(statements), anchor), *_flags_of(outdated, by)),
            BEHIND,
        )


def _stepped_since(run: Run, nodes: list[Node], by: Differentiation) -> list[Node]:
    """Those that were freed, or whose parameters were stepped, before a differentiation, and what is made of them."""
    stepped: dict[Node, int] = {}
    for step in run.machine.steps:
        if step.clock < by.number and step.what != "grad":
            stepped.update((leaf, step.clock) for leaf, _ in step.consumed)
    found: set[Node] = set()
    for node in sorted(nodes, key=lambda n: n.number):
        is_freed = node.freed_by is not None and node.freed_by.number < by.number
        if is_freed or any(stepped.get(p, 0) > node.number or p in found for p in node.parents):
            found.add(node)
    return [n for n in nodes if n in found]


def _making(program: Program, by: Differentiation, nodes: list[Node]) -> tuple[ast.stmt, object, list[ast.stmt]] | None:
    """The innermost open call that has made all nodes: where it differentiates, and the assignments that made them."""
    for _, frame in reversed(by.trail):
        places = [statement_in(n, frame) for n in nodes]
        if all(p is not None for p in places):
            break
    else:
        return None
    anchor = next(s for s, f in reversed(by.trail) if f is frame)
    around = [program.block(anchor), *[program.block(s) for s in program.enclosing(anchor) if isinstance(s, ast.stmt)]]
    statements = sorted({p for p in places if p is not None}, key=line)
    if not statements or not all(any(s in b for b in around) for s in statements):
        return None
    if not only_replace_fields(statements):
        statements = sorted({*statements, *_bound_again(program, around, statements, anchor)}, key=line)
    return (anchor, frame, statements) if all(isinstance(s, (ast.Assign, ast.AnnAssign)) for s in statements) else None


def _is_for_effect(program: Program, statements: list[ast.stmt]) -> bool:
    """Whether one of them would run for something else that it does: a later one binds anew what it binds, unread."""
    for at, statement in enumerate(statements):
        bound, later = program.names_bound(statement), statements[at + 1 :]
        read = {name for s in later for name in program.names_read(s)}
        if bound and bound <= {name for s in later for name in program.names_bound(s)} - read:
            return True
    return False


def _bound_again(
    program: Program, around: list[list[ast.stmt]], statements: list[ast.stmt], anchor: ast.stmt
) -> Iterator[ast.stmt]:
    """What binds names once more that the statements bind, behind them: `out = out["logits"]` makes nothing new."""
    bound = {name: s for s in reversed(statements) for name in program.names_bound(s)}
    outer = set(program.enclosing(anchor))
    for statement in (s for b in around for s in b if line(s) < line(anchor) and s not in outer):
        if any(name in bound and line(bound[name]) < line(statement) for name in program.names_bound(statement)):
            yield statement


def _spoilt(nodes: list[Node], by: Differentiation) -> list[Node]:
    """Those that cannot be walked any more, and what is made of them; the others are as good as they were."""
    found: set[Node] = set()
    for node in sorted(nodes, key=lambda n: n.number):
        is_freed = node.freed_by is not None and node.freed_by.number < by.number
        is_changed = any(storage.version != version for storage, version in node.saved)
        if is_freed or is_changed or any(p in found for p in node.parents):
            found.add(node)
    return [n for n in nodes if n in found]


def called_behind_step(program: Program, run: Run, by: Differentiation) -> Iterator[Candidate]:
    """`self.forward()`, which makes all that the step has made outdated, once more in front of what reads it.

    Where it takes arguments, or would draw its random numbers anew, only what the differentiation reads is moved there.
    """
    from autodetach.codemods.copy_statements import CopyStatements

    step, old = _outdated(run, by)
    stepping = {place for s in run.machine.steps if s.clock <= step for place, _ in s.trail}
    for goal, _ in reversed(by.trail):
        block = program.block(goal)
        if goal not in block or not any(s in stepping for s in block[: block.index(goal)]):
            continue
        call = next((s for s in calling_statements(program, old) if of_the_same_object(program, s, goal)), None)
        if call is None or draws_random_numbers(run, [call]):
            outdated = _stepped_since(run, old, by)
            yield from part_behind_step(program, run, by, outdated, _flags_of(outdated, by))
        if call is None or takes_away(program, run, [call]):
            return
        again = ", and random numbers are drawn again" if draws_random_numbers(run, [call]) else ""
        message = f"call `{text(call)}` again before `{text(goal)}`"
        yield Candidate(message, (CopyStatements((call,), goal), *_flags(old, by)), BEHIND + again)
        return


def read_behind_step(program: Program, run: Run, by: Differentiation) -> Iterator[Candidate]:
    """Of what a method has made, only that which the step has made outdated, where the loss reads it."""
    outdated = _stepped_since(run, _outdated(run, by)[1], by)
    yield from part_behind_step(program, run, by, outdated, _flags_of(outdated, by))


def _outdated(run: Run, by: Differentiation) -> tuple[int, list[Node]]:
    """When parameters were last stepped before a differentiation, and what it walks to a leaf was made before that."""
    steps = (s.clock for s in run.machine.steps if s.clock < by.number and s.consumed and s.what != "grad")
    step = max(steps, default=0)
    trained = with_leaves(by.walked)
    return step, [n for n in by.walked if n in trained and not n.leaf and n.number < step]


def _flags(old: list[Node], by: Differentiation) -> tuple[Codemod, ...]:
    """No graph is retained any more, except for what may have history: the later walk comes to that again."""
    is_open = any(n.weak and len(n.walked_by) > 1 for n in by.walked)
    return without_retain(old, of=by.call if is_open else None)


def _flags_in_between(old: list[Node], by: Differentiation) -> tuple[Codemod, ...]:
    """Of several losses in a row, the others walk as before: what walked the old graph last need not retain it.

    The differentiation itself does where others come behind it, which will walk what it is given anew.
    """
    needed: set[ast.Call] = set()
    last: set[ast.Call] = set()
    follows = False
    for node in old:
        walks = [d for d in node.walked_by if diverge(d.loops, by.loops) is None]
        *others, before = [d.call for d in walks if d.number < by.number] or [by.call]
        needed.update(others)
        last.add(before)
        follows = follows or any(d.number > by.number for d in walks)
    if not follows and not needed:
        return _flags(old, by)
    last = last - needed if follows else (last | {by.call}) - needed
    return tuple(flag for call in sorted(last, key=line) for flag in without_retain(old, of=call))


def _flags_of(outdated: list[Node], by: Differentiation) -> tuple[Codemod, ...]:
    """The same, where only what is outdated is made anew: of the rest, a graph that others have walked is retained."""
    anew = set(outdated)
    is_needed = any(n.walked_by != [by] for n in by.walked if n not in anew and n.saves and not n.leaf)
    return () if is_needed else _flags(outdated, by)


def _is_free(program: Program, block: list[ast.stmt], statements: list[ast.stmt], goal: ast.stmt) -> bool:
    """Whether nothing up to `goal` reads what the statements bind, or binds what they read: they may as well run there.

    What they bind are names of their own function, which no other one reads, or places in a list that it has made.
    """
    if goal not in block or not all(s in block for s in statements):
        return False
    over = [s for s in block[block.index(statements[0]) : block.index(goal)] if s not in statements]
    targets = [part for s in statements for t in targets_of(s) for part in parts_of(t)]
    if not over or not all(isinstance(t, ast.Name) or _is_place(program, t, over) for t in targets):
        return False
    bound = {name for s in statements for name in program.names_bound(s)}
    if not program.may_pass(statements, over) or not _said(over, ast.Store).isdisjoint(_said(statements, ast.Load)):
        return False
    scope = program.scope(goal)
    elsewhere = (n for n in walk(scope) if isinstance(n, ast.Name) and n.id in bound)
    return all(program.scope(n) is scope for n in elsewhere)


def _said(statements: list[ast.stmt], how: type[ast.expr_context]) -> set[str]:
    """The attributes that statements read, or set."""
    said = (n for s in statements for n in ast.walk(s) if isinstance(n, ast.Attribute))
    return {spelled(n) for n in said if isinstance(n.ctx, how)}


def _is_place(program: Program, target: ast.expr, over: list[ast.stmt]) -> bool:
    """Whether it is `actions[i]`, of a list that this function has made and nothing in between mentions."""
    held = target.value if isinstance(target, ast.Subscript) else None
    if not isinstance(held, ast.Name) or any(held.id in program.names_read(s) | program.names_bound(s) for s in over):
        return False
    names = (n for n in walk(program.scope(target)) if isinstance(n, ast.Name) and n.id == held.id)
    bound = [n for n in names if not isinstance(n.ctx, ast.Load)]
    return bool(bound) and all(isinstance(given_to(n, program.statement(n)), (ast.List, ast.ListComp)) for n in bound)


def _first_reader(
    program: Program, later: list[ast.stmt], statements: list[ast.stmt], run: Run, step: int
) -> ast.stmt | None:
    """The first statement behind the step that reads what the statements bind."""
    bound = {name for s in statements for name in program.names_bound(s)}
    stepping = {place for s in run.machine.steps if s.clock <= step for place, _ in s.trail}
    at = max((i for i, s in enumerate(later) if s in stepping), default=-1)
    return next((s for s in later[at + 1 :] if program.names_read(s) & bound), None)
