"""A list of which each pass reads only the end, what it has put there itself, is emptied once that is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autodetach.candidates.emptied_behind_items import emptied_behind_items
from autodetach.candidates.emptied_behind_step import emptied_behind_step
from autodetach.candidates.looked_into import lists_read
from autodetach.machine.growth import Growth
from autodetach.machine.program_values import Frame
from autodetach.machine.spelling import spelled
from autodetach.machine.tails import Tails, are_all_of_their_pass
from autodetach.node_types import FUNCTIONS, YIELDS
from autodetach.suspect import Candidate
from autodetach.view.by_name import is_callee, mentions_in_view
from autodetach.view.free_names import free_name
from autodetach.view.program import Program

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

LATER = "what reads the list may be called again, where no run has come to"
OTHERS = "other programs may read what earlier passes have stored"
NAMES = ("latest", "newest", "taken")


def emptied_behind_read(program: Program, growth: Growth) -> Iterator[Candidate]:
    """Empty the list behind the last statement that reads it, if nothing but these looks into it.

    Other lists of the same dict that the same statements read alike, as those of a teacher, are emptied with it. Where
    several functions read it, it is emptied behind the step.
    """
    from autodetach.codemods.insert_statement import InsertStatement

    at_end, stored = growth.tails, growth.stored
    assert at_end is not None and stored is not None
    own = [site for site in at_end.sites if isinstance(site, ast.Subscript)]
    doubt = OTHERS if program.is_imported(stored.site.node) else None
    if doubt is None and _may_be_read_later(program, growth, own):
        doubt = LATER
    yield from emptied_behind_items(program, at_end, doubt)
    lists = lists_read(program, own)
    if not own or len(own) < len(at_end.sites) or lists is None:
        return
    if not all(are_all_of_their_pass(run, at_end.loop, own) for run in program.runs):
        return
    found = {text: reads for text, reads in lists.items() if reads[0] in own or _are_alike(program, at_end, reads)}
    last = _last_of(program, found)
    if last is None:
        found = {spelled(own[0].value): own}
        last = _last_of(program, found)
    if last is None:
        yield from emptied_behind_step(program, growth, doubt)
        return
    lists_of_pass = tuple(reads[0].value for reads in found.values())
    clear = "\n".join(f"{{{i}}}.clear()" for i in range(len(found)))
    codemods: tuple[Codemod, ...] = (InsertStatement(last, clear, parts=lists_of_pass),)
    if isinstance(last, (ast.Return, ast.Raise)):
        reads = [read for of_list in found.values() for read in of_list if program.statement(read) is last]
        codemods = _before_return(program, last, reads, clear, lists_of_pass)
    if codemods:
        shown = " and ".join(f"`{text}`" for text in found)
        yield Candidate(f"empty {shown} when {'it has' if len(found) == 1 else 'they have'} been read", codemods, doubt)


def _may_be_read_later(program: Program, growth: Growth, reads: list[ast.Subscript]) -> bool:
    """Whether a function that reads the list is handed on, or called where no path has led, or from out of view."""
    readers = {scope for scope in map(program.scope, reads) if isinstance(scope, FUNCTIONS)}
    entered = {name.rpartition(".")[2] for run in program.runs for name in run.entries}
    training = {f.function.name for f in _walking(growth) if f.function is not None}
    for reader, mention in ((one, mention) for one in readers for mention in mentions_in_view(program, one.name)):
        is_method = isinstance(program.parents.get(reader), ast.ClassDef)
        if isinstance(mention, ast.Constant) or (is_method and isinstance(mention, ast.Name)):
            continue
        scope = program.scope(mention)
        is_called = is_callee(program, mention) and program.is_reached(mention)
        is_entered = isinstance(scope, FUNCTIONS) and scope.name in entered - training
        if not is_called or is_entered or isinstance(scope, ast.Lambda):
            return True
    return False


def _walking(growth: Growth) -> list[Frame]:
    """The calls that were running where the graph is walked."""
    return [f for _, f in growth.freeing.trail if isinstance(f, Frame)] if growth.freeing is not None else []


def _last_of(program: Program, lists: dict[str, list[ast.Subscript]]) -> ast.stmt | None:
    """The last statement that reads one of some lists, if all that do so stand in one block."""
    statements = {program.statement(read) for reads in lists.values() for read in reads}
    last = max(statements, key=lambda s: (s.lineno, s.col_offset) if s is not None else (0, 0), default=None)
    if last is None or isinstance(last, ast.While) or not all(s in program.block(last) for s in statements):
        return None
    return last


def _are_alike(program: Program, at_end: Tails, reads: list[ast.Subscript]) -> bool:
    """Whether a list, too, is read as each pass of the loop reads what it has stored, and some run has shown that."""
    shown = {tail.site.node for run in program.runs for tail in run.machine.tails}
    return shown.issuperset(reads) and all(are_all_of_their_pass(run, at_end.loop, reads) for run in program.runs)


def _before_return(
    program: Program,
    statement: ast.Return | ast.Raise,
    own: list[ast.Subscript],
    clear: str,
    lists: tuple[ast.expr, ...],
) -> tuple[Codemod, ...]:
    """What is read gets a name first: behind the statement that returns it, nothing runs any more."""
    from autodetach.codemods.insert_statement import InsertStatement
    from autodetach.codemods.replace_expression import ReplaceExpression
    from autodetach.codemods.replace_statement import ReplaceStatement

    names = NAMES if len(own) == 1 else ("result", *NAMES)
    name, end = free_name(program.scope(statement), *names), len(lists)
    if name is None or not own:
        return ()
    if len(own) == 1:
        if not _is_read_first(program, own[0]):
            return ()
        taken = f"{name} = {{{end}}}\n{clear}"
        return InsertStatement(statement, taken, "before", (*lists, own[0])), ReplaceExpression(own[0], name)
    value = statement.value if isinstance(statement, ast.Return) else None
    if value is None or any(isinstance(n, (ast.GeneratorExp, ast.Lambda, *YIELDS)) for n in ast.walk(value)):
        return ()
    whole = f"{name} = {{{end}}}\n{clear}\nreturn {name}"
    return (ReplaceStatement(statement, whole, (*lists, value)),)


def _is_read_first(program: Program, read: ast.expr) -> bool:
    """Whether nothing that its statement calls is called before it is read, and it is read once."""
    child: ast.AST = read
    for around in program.enclosing(read):
        if isinstance(around, ast.stmt):
            return True
        if isinstance(around, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            if child is not around.generators[0]:
                return False
        elif isinstance(around, (ast.Lambda, ast.IfExp, ast.BoolOp)):
            return False
        else:
            for before in ast.iter_child_nodes(around):
                if before is child:
                    break
                if any(isinstance(n, (ast.Call, ast.Await, *YIELDS)) for n in ast.walk(before)):
                    return False
        child = around
    return False
