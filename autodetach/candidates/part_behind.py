"""Of a method that makes what a step has made outdated, the part that does stands behind the step.

The method itself, called again, would draw its random numbers anew, and give new values to what is read elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from autodetach.machine.children import targets_of, walk
from autodetach.machine.graph import Differentiation, Node, trail_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.suspect import Candidate
from autodetach.view.called import with_called
from autodetach.view.program import Block, Program, line, listed, statement_in, text
from autodetach.view.side_effects import draws_random_numbers, takes_away
from autodetach.view.targets import is_set

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

ANEW = "the second loss is then computed with the parameters after the step; a detach may be what was meant"


def part_behind_step(
    program: Program, run: Run, by: Differentiation, outdated: list[Node], flags: tuple[Codemod, ...]
) -> Iterator[Candidate]:
    """What only the second loss reads moves to it; what it is made of, which others read too, gets a new name.

    So it does into a method that computes a part of that loss. `flags` are changed with it.
    """
    anchor, frame = by.trail[-1]
    old = set(outdated)
    readers = [n for n in by.walked if n not in old and not old.isdisjoint(n.parents)]
    found = list(_moved(program, run, by, outdated, [statement_in(n, frame) for n in readers], anchor, flags))
    yield from found
    frames = [called for _, called in trail_of(readers[0])] if readers and not found else []
    for called in frames[frames.index(frame) + 1 :] if frame in frames else ():
        places = [statement_in(n, called) for n in readers]
        if None not in places:
            yield from _moved(program, run, by, outdated, places, None, flags)
            return


def _moved(
    program: Program,
    run: Run,
    by: Differentiation,
    outdated: list[Node],
    readers: list[ast.stmt | None],
    anchor: ast.stmt | None,
    flags: tuple[Codemod, ...],
) -> Iterator[Candidate]:
    """Move it in front of the first of its `readers`, or of `anchor` where there is none."""
    from autodetach.codemods.copy_statements import CopyStatements
    from autodetach.codemods.move_statements import MoveStatements
    from autodetach.codemods.replace_expression import ReplaceExpression

    statements = _makers(program, outdated)
    first = min((reader for reader in readers if reader is not None), key=line, default=anchor)
    if not statements or first is None or draws_random_numbers(run, statements):
        return
    block = program.block(anchor or first)
    if (anchor or first) not in block or not all(reader in block for reader in readers):
        return
    names = _names_for(program, statements, first)
    if names is None or _is_changed_between(program, run, statements, outdated[0], by):
        return
    alone = [s for s in statements if _is_read_alone(program, s, statements, first)]
    copied = [s for s in statements if s not in alone]
    if not alone:
        yield from _again(program, run, statements, first, names, flags)
    if not alone or copied + alone != statements:
        return  # what is read elsewhere, too, would be another value there
    kept = {spelled(t) for s in alone for t in _attributes(s)}
    changes = [ReplaceExpression(n, names[spelled(n)]) for s in statements for n in _said(s, names.keys() - kept)]
    shown = listed(t for s in alone for t in targets_of(s))
    copies = (CopyStatements(tuple(copied), first, changes=tuple(changes)),) if copied else ()
    move = MoveStatements(tuple(alone), first, changes=tuple(changes))
    yield Candidate(f"compute {shown} right before `{text(first)}`", (*copies, move, *flags), ANEW)


def _again(
    program: Program, run: Run, statements: Block, goal: ast.stmt, names: dict[str, str], flags: tuple[Codemod, ...]
) -> Iterator[Candidate]:
    """`scores = self.D(self.fake)` in the method that reads `self.scores`, which others read as they were.

    So do those that stand behind the block of `goal`, which may not have run.
    """
    from autodetach.codemods.copy_statements import CopyStatements
    from autodetach.codemods.replace_expression import ReplaceExpression

    there = program.scope(goal)
    said = [n for n in walk(there) if isinstance(n, ast.Attribute) and spelled(n) in names]
    if any(is_set(n) or program.scope(n) is not there for n in said) or takes_away(program, run, statements):
        return
    changes = tuple(ReplaceExpression(n, names[spelled(n)]) for s in statements for n in _said(s, names))
    behind = _from(program, goal)
    read = [ReplaceExpression(n, names[spelled(n)]) for n in said if n in behind]
    if not read:
        return  # a method that this one calls reads it
    shown = listed(t for s in statements for t in targets_of(s))
    copy = CopyStatements(tuple(statements), goal, changes=changes)
    yield Candidate(f"compute {shown} again before `{text(goal)}`", (copy, *read, *flags), ANEW)


def _from(program: Program, goal: ast.stmt) -> set[ast.AST]:
    """What stands in a statement, and in those behind it in its block."""
    block = program.block(goal)
    return {n for s in block[block.index(goal) :] for n in walk(s)}


def _makers(program: Program, nodes: list[Node]) -> Block:
    """The assignments of one call that have made all nodes, in order; none if there is no such call."""
    trails = [trail_of(n) for n in nodes]
    for _, frame in reversed(trails[0] if trails else ()):
        places = {next((s for s, f in reversed(trail) if f is frame), None) for trail in trails}
        found = sorted((p for p in places if p is not None), key=line)
        if None not in places and all(isinstance(p, ast.Assign) for p in found):
            is_row = all(p in program.block(found[0]) for p in found)
            return found if is_row and _is_part(program, found) else []
    return []


def _is_part(program: Program, statements: Block) -> bool:
    """Whether statements stand in a method by themselves, or in a branch that does other things, too: `if training`."""
    owner = program.parents.get(statements[0])
    if isinstance(owner, ast.If):
        is_branch = statements[0] in owner.body and not owner.orelse and len(owner.body) > len(statements)
        return is_branch and isinstance(program.parents.get(owner), ast.FunctionDef)
    return isinstance(owner, ast.FunctionDef)


def _names_for(program: Program, statements: Block, goal: ast.stmt) -> dict[str, str] | None:
    """New names for the attributes that statements set, where `goal` stands; None if they cannot be written there.

    `goal` is in a method of the same class, which has the same name for its object, and no variable of theirs.
    """
    here, there = program.scope(statements[0]), program.scope(goal)
    if not (isinstance(here, ast.FunctionDef) and isinstance(there, ast.FunctionDef)) or here is there:
        return None
    this = [a.arg for f in (here, there) for a in f.args.args[:1]]
    if program.parents.get(here) is not program.parents.get(there) or len(this) < 2 or this[0] != this[1]:
        return None
    names: dict[str, str] = {}
    bound: set[str] = set()
    for statement in statements:
        for target in targets_of(statement):
            for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(part, ast.Attribute) and spelled(part.value) == this[0]:
                    names[spelled(part)] = part.attr
                elif not isinstance(part, ast.Name):
                    return None
        bound |= program.names_bound(statement)
    local = {a.arg for a in here.args.args[1:]} | {n for s in here.body for n in program.names_bound(s)}
    read = {n for s in statements for n in program.names_read(s)}
    known = {n for s in there.body for n in program.names_read(s) | program.names_bound(s)}
    known |= {a.arg for a in (*there.args.args, *there.args.kwonlyargs)}
    if (read & local) - bound or known & (bound | set(names.values())):
        return None
    return names if names and not read & set(names.values()) else None


def _is_changed_between(program: Program, run: Run, statements: Block, made: Node, by: Differentiation) -> bool:
    """Whether what runs between a node and a differentiation may set an attribute that statements read."""
    frames = {frame: place for place, frame in trail_of(made)}
    here, there = next(((frames[f], place) for place, f in reversed(by.trail) if f in frames), (None, None))
    ways = [[at, *program.enclosing(at)] for at in (here, there) if at is not None]
    for at in ways[0] if ways else ():
        block = program.block(at) if isinstance(at, ast.stmt) else []
        goal = next((other for other in ways[1] if other in block), None)
        if isinstance(at, ast.stmt) and isinstance(goal, ast.stmt) and at in block:
            between = with_called(program, run.machine, block[block.index(at) : block.index(goal) + 1])
            own = set(walk(program.scope(statements[0])))
            set_there = {n.attr for s in between if s not in own for n in ast.walk(s) if is_set(n)}
            read = {n.attr for s in statements for n in ast.walk(s) if isinstance(n, ast.Attribute) and not is_set(n)}
            return not set_there.isdisjoint(read)
    return True


def _attributes(statement: ast.stmt) -> list[ast.Attribute]:
    """The attributes that an assignment sets."""
    return [n for target in targets_of(statement) for n in ast.walk(target) if is_set(n)]


def _is_read_alone(program: Program, statement: ast.stmt, statements: Block, goal: ast.stmt) -> bool:
    """Whether what a statement sets is said by nothing but some statements and `goal`, with what follows it."""
    attributes = {n.attr for n in _attributes(statement)}
    inside = {n for s in statements for n in ast.walk(s)} | _from(program, goal)
    others = [n for tree in program.analysis.trees for n in walk(tree) if n not in inside]
    said = {n.attr for n in others if isinstance(n, ast.Attribute)}
    said |= {n.value for n in others if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    around = [s for s in program.block(statement) if s not in statements]
    local = {name for s in around for name in program.names_read(s)}
    return bool(attributes) and attributes.isdisjoint(said) and local.isdisjoint(program.names_bound(statement))


def _said(statement: ast.stmt, names: Collection[str]) -> Iterator[ast.Attribute]:
    """Where a statement says one of some attributes."""
    return (n for n in ast.walk(statement) if isinstance(n, ast.Attribute) and spelled(n) in names)
