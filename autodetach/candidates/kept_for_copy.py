"""What keeps a tensor with its graph, where that is deep-copied: it is kept without."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autodetach.candidates.detaching import SHARED, leaves_of_display, structural
from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import walk
from autodetach.machine.events import AttributeSet, HistoryCopied
from autodetach.machine.program_values import Class
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Tensor, Value
from autodetach.node_types import COMPREHENSIONS, FUNCTIONS
from autodetach.suspect import Candidate
from autodetach.view.assigned import assigned
from autodetach.view.program import Program, handed, line, listed, text

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

OTHERS = "the function may be given something that keeps nothing there"
UNREAD = "nothing in view reads what is kept: who does may differentiate it"


@dataclass(frozen=True, eq=False, slots=True)
class Kept:
    """Where something is kept: what is written for it, what that gave, and the statement."""

    value: ast.expr
    given: Value
    statement: ast.stmt | None


def kept_by(program: Program, run: Run, event: HistoryCopied) -> Kept | None:
    """What put the tensor last where it is copied from; None where that cannot be seen, or nothing keeps it."""
    for stored in reversed(run.machine.stored):
        if event.container is not None and stored.container is event.container and stored.node is event.node:
            element = stored.element
            return None if element is None else Kept(element, stored.value, program.statement(element))
    if event.owner is None:
        return None
    for setting in reversed(run.machine.attributes_set):
        if setting.owner is event.owner and setting.name == event.name:
            return as_written(program, setting)
    return None


def as_written(program: Program, setting: AttributeSet) -> Kept | None:
    """The assignment that gives an attribute its value; None where something else does."""
    target = setting.site.node
    statement = program.statement(target)
    value = next((value for place, value in assigned(statement) if place is target), None)
    return None if value is None else Kept(value, setting.value, statement)


def detached_where_kept(program: Program, run: Run, event: HistoryCopied, kept: Kept | None) -> Iterator[Candidate]:
    """`self.last = x` -> `self.last = x.detach()`, in all places that keep something under the same name."""
    if kept is None:
        yield from _handed_over(event)
        yield from _cut_before(program, event)
        return
    places = [kept, *_alike(program, run, event, kept)]
    codemods = [codemod for place in places for codemod in detached(place)]
    if codemods:
        doubt = _doubt(program, event, kept)
        message = f"keep the value without its graph: `.detach()` on {listed(place.value for place in places)}"
        yield Candidate(message, tuple(codemods), doubt)
        yield from (_under_a_local_name(program, kept, doubt) if len(places) == 1 else ())
    yield from _cut_before(program, event)


def _under_a_local_name(program: Program, kept: Kept, doubt: str | None) -> Iterator[Candidate]:
    """`self.x = f(y)` with which the function itself goes on: that gets a local name, and what is kept is detached."""
    from autodetach.codemods.insert_statement import InsertStatement
    from autodetach.codemods.replace_expression import ReplaceExpression

    statement, scope = kept.statement, program.scope(kept.value)
    target = next((place for place, value in assigned(statement) if value is kept.value), None)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or not isinstance(kept.given, Tensor):
        return
    if not isinstance(target, ast.Attribute) or not isinstance(scope, (*FUNCTIONS, ast.Module)):
        return
    name, whole = target.attr.lstrip("_"), spelled(target)
    reads = [n for n in walk(scope) if isinstance(n, ast.Attribute) and n is not target and spelled(n) == whole]
    behind = [n for n in reads if line(n) > line(statement)]
    is_own = all(isinstance(n.ctx, ast.Load) and program.scope(n) is scope for n in reads)
    if not behind or not is_own or not _reaches(program, statement, scope, reads):
        return
    if name not in _words(scope):
        named = (ReplaceExpression(n, name) for n in (target, *behind))
        keeping = InsertStatement(statement, f"{whole} = {name}.detach()")
        message = f"keep `{text(kept.value)}` without its graph, and go on with `{name}`"
        yield Candidate(message, (*named, keeping), doubt)
    last = program.statement(max(behind, key=line))
    if isinstance(last, (ast.Assign, ast.AugAssign, ast.Expr)) and last in program.block(statement):
        cut = InsertStatement(last, f"{whole} = {whole}.detach()")
        yield Candidate(f"let go of the graph of `{whole}` behind `{text(last)}`", (cut,), doubt)


def _reaches(program: Program, statement: ast.Assign, scope: ast.AST, reads: list[ast.Attribute]) -> bool:
    """Whether all reads are of what a statement has assigned: in a loop or branch, those behind it in there."""
    around = program.parents.get(statement)
    return around is scope or all(line(n) > line(statement) and around in {*program.enclosing(n)} for n in reads)


def _words(scope: ast.AST) -> set[str]:
    """The names that a function or file knows."""
    named = (getattr(n, key, None) for n in walk(scope) for key in ("id", "arg", "name", "asname"))
    return {name for name in named if isinstance(name, str)}


def _alike(program: Program, run: Run, event: HistoryCopied, kept: Kept) -> Iterator[Kept]:
    """Other statements that set the same attribute of such objects to something with history."""
    seen = {kept.value}
    for setting in run.machine.attributes_set if event.owner is not None and event.container is None else ():
        is_one = setting.name == event.name and event.owner is not None and setting.owner.cls is event.owner.cls
        other = as_written(program, setting) if is_one else None
        if other is not None and other.value not in seen:
            seen.add(other.value)
            yield other


def detached(kept: Kept) -> Iterator[Codemod]:
    """What detaches all that a value has in it where it is kept."""
    from autodetach.codemods.append_method import AppendMethod
    from autodetach.codemods.replace_expression import ReplaceExpression

    targets = leaves_of_display(kept.value, kept.given)
    if targets:
        yield from (AppendMethod(e, "detach") for e, _ in targets)
        return
    new = structural("{}", kept.given)
    if new is not None and (new.count("{}") == 1 or not isinstance(kept.value, ast.Call)):
        yield ReplaceExpression(kept.value, new)


def _handed_over(event: HistoryCopied) -> Iterator[Candidate]:
    """`copy.deepcopy(x)` of a tensor, or of a list or dict of them."""
    from autodetach.codemods.append_method import AppendMethod
    from autodetach.codemods.replace_expression import ReplaceExpression

    call, passed = event.site.node, next(handed(event.chain, event.tensor), None)
    if passed is not None:
        yield Candidate(
            f"hand over the value without its graph: `.detach()` on `{text(passed)}`", (AppendMethod(passed, "detach"),)
        )
    if event.owner is not None or not isinstance(call, ast.Call) or len(call.args) != 1:
        return
    (given,) = call.args
    message = f"copy the value without its graph: `{text(given)}`"
    if isinstance(event.whole, Tensor):
        yield Candidate(message, (AppendMethod(given, "detach"),))
        return
    new = structural("{}", event.whole)
    if new is not None and (new.count("{}") == 1 or not isinstance(given, ast.Call)):
        yield Candidate(message, (ReplaceExpression(given, new),))


def _cut_before(program: Program, event: HistoryCopied) -> Iterator[Candidate]:
    """`net.aux = net.aux.detach()` before `copy.deepcopy(net)`, where what is kept needs its graph until then."""
    from autodetach.codemods.insert_statement import InsertStatement

    call = event.site.node
    statement = program.statement(call)
    if not isinstance(call, ast.Call) or len(call.args) != 1 or not event.way or statement is None:
        return
    (given,) = call.args
    is_simple = isinstance(statement, (ast.Assign, ast.Expr, ast.Return)) and isinstance(
        given, (ast.Name, ast.Attribute)
    )
    if is_simple and not any(isinstance(at, COMPREHENSIONS) for at in program.enclosing(call)):
        kept, scope = ".".join((text(given), *event.way)), program.scope(call)
        is_handed = isinstance(scope, FUNCTIONS) and text(given) in all_parameter_names(scope.args)
        held = event.owner.attrs.get(event.name) if event.owner is not None and event.container is not None else None
        new = structural(kept, event.tensor if held is None else held)
        if new is None:
            return
        cut = InsertStatement(statement, f"{kept} = {new}", "before")
        yield Candidate(
            f"let go of the graph of `{kept}` before it is copied",
            (cut,),
            OTHERS if is_handed else None,
            last_resort=True,
        )


def _doubt(program: Program, event: HistoryCopied, kept: Kept) -> str | None:
    """Why others may need what is kept with its graph, if that is so."""
    if program.is_imported(kept.value):
        return SHARED
    if event.owner is None or not isinstance(event.owner.cls, Class):
        return None
    is_read = any(
        isinstance(n, ast.Attribute) and n.attr == event.name and isinstance(n.ctx, ast.Load)
        for tree in program.analysis.trees
        for n in walk(tree)
    )
    return None if is_read else UNREAD
