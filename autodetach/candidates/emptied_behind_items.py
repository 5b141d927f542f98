"""Lists of a dict are emptied once a comprehension has read the end of each: `{k: v[-1] for k, v in feats.items()}`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autodetach.candidates.looked_into import is_only_gone_over
from autodetach.machine.spelling import is_dotted
from autodetach.machine.tails import Tails, are_all_of_their_pass
from autodetach.node_types import COMPREHENSIONS
from autodetach.suspect import Candidate
from autodetach.view.free_names import free_name
from autodetach.view.program import Program, text

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

GOING_OVER = frozenset({"items", "values"})


def emptied_behind_items(program: Program, at_end: Tails, doubt: str | None) -> Iterator[Candidate]:
    """Empty all lists of the dict behind the statement, or before it returns, if nothing else looks into them."""
    reads = [site for site in at_end.sites if isinstance(site, ast.Subscript)]
    if len(reads) != 1 or len(at_end.sites) != 1:
        return
    table, statement = _table(program, reads[0]), program.statement(reads[0])
    if table is None or statement is None or not is_only_gone_over(program, table):
        return
    if not all(are_all_of_their_pass(run, at_end.loop, reads) for run in program.runs):
        return
    codemods = _emptying(program, statement, table)
    if codemods:
        yield Candidate(f"empty the lists of `{text(table)}` when they have been read", codemods, doubt)


def _table(program: Program, read: ast.Subscript) -> ast.expr | None:
    """The dict whose lists a comprehension goes over, if a list of it is read under the name that this has there."""
    around = next((at for at in program.enclosing(read) if isinstance(at, COMPREHENSIONS)), None)
    first = around.generators[0] if around is not None and len(around.generators) == 1 else None
    call = first.iter if first is not None else None
    if first is None or not isinstance(call, ast.Call) or call.args or not isinstance(call.func, ast.Attribute):
        return None
    bound = first.target.elts[-1] if isinstance(first.target, ast.Tuple) else first.target
    is_list = isinstance(bound, ast.Name) and isinstance(read.value, ast.Name) and bound.id == read.value.id
    is_table = call.func.attr in GOING_OVER and is_dotted(call.func.value)
    return call.func.value if is_list and is_table and not isinstance(around, ast.GeneratorExp) else None


def _emptying(program: Program, statement: ast.stmt, table: ast.expr) -> tuple[Codemod, ...]:
    from autodetach.codemods.insert_statement import InsertStatement
    from autodetach.codemods.replace_statement import ReplaceStatement

    scope = program.scope(statement)
    name = free_name(scope, "kept", "each", "stored")
    if name is None:
        return ()
    empty = f"for {name} in {{0}}.values():\n    {name}.clear()"
    if isinstance(statement, (ast.While, ast.Raise)):
        return ()
    if not isinstance(statement, ast.Return):
        return (InsertStatement(statement, empty, "after", (table,)),)
    result = free_name(scope, "result", "newest", "taken")
    if result is None or statement.value is None:
        return ()
    return (ReplaceStatement(statement, f"{result} = {{1}}\n{empty}\nreturn {result}", (table, statement.value)),)
