"""A list of which each pass reads only the end, what it has put there itself, is emptied once that is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autodetach.candidates.emptying import is_empty
from autodetach.machine.children import walk
from autodetach.machine.events import Stored
from autodetach.machine.spelling import is_dotted, spelled
from autodetach.machine.tails import Tails, are_all_of_their_pass
from autodetach.node_types import YIELDS
from autodetach.suspect import Candidate
from autodetach.view.free_names import free_name
from autodetach.view.program import Program, targets_of

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

OTHERS = "other programs may read what earlier passes have stored"
NAMES = ("latest", "newest", "taken")


def emptied_behind_read(program: Program, at_end: Tails, stored: Stored) -> Iterator[Candidate]:
    """Empty the list behind the last statement that reads it, if nothing but these looks into it."""
    from autodetach.codemods.insert_statement import InsertStatement

    reads = [site for site in at_end.sites if isinstance(site, ast.Subscript)]
    statements = {program.statement(read) for read in reads}
    last = max(statements, key=lambda s: s.lineno if s is not None else 0, default=None)
    held = {spelled(read.value) for read in reads}
    if len(reads) < len(at_end.sites) or last is None or len(held) != 1 or not all(is_dotted(r.value) for r in reads):
        return
    block, (container,) = program.block(last), held
    if not all(s in block for s in statements) or isinstance(last, ast.While):
        return
    if not all(_is_said_for(program, mention, reads) for mention in _mentions(program, container)):
        return
    if not all(are_all_of_their_pass(run, at_end) for run in program.runs):
        return
    doubt = OTHERS if program.is_imported(stored.site.node) else None
    clear = f"{container}.clear()"
    codemods: tuple[Codemod, ...] = (InsertStatement(last, clear),)
    if isinstance(last, (ast.Return, ast.Raise)):
        codemods = _before_return(program, last, reads, clear)
    if codemods:
        yield Candidate(f"empty `{container}` when it has been read", codemods, doubt)


def _before_return(
    program: Program, statement: ast.Return | ast.Raise, reads: list[ast.Subscript], clear: str
) -> tuple[Codemod, ...]:
    """What is read gets a name first: behind the statement that returns it, nothing runs any more."""
    from autodetach.codemods.insert_statement import InsertStatement
    from autodetach.codemods.replace_expression import ReplaceExpression

    own = [read for read in reads if program.statement(read) is statement]
    name = free_name(program.scope(statement), *NAMES)
    if name is None or len(own) != 1 or not _is_read_first(program, own[0]):
        return ()
    taken = f"{name} = {spelled(own[0])}\n{clear}"
    return InsertStatement(statement, taken, "before"), ReplaceExpression(own[0], name)


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


def _mentions(program: Program, container: str) -> Iterator[ast.AST]:
    """Whatever in all files says the last name of what holds a list."""
    name = container.rpartition(".")[2]
    for tree in program.analysis.trees:
        for node in walk(tree):
            said = (getattr(node, field, None) for field in ("id", "attr", "arg", "name", "asname", "value"))
            if any(isinstance(one, str) and one == name for one in said):
                yield node


def _is_said_for(program: Program, mention: ast.AST, reads: list[ast.Subscript]) -> bool:
    """Whether a list is mentioned to begin it empty, to append to it, to empty it, or for one of the reads."""
    around = program.parents.get(mention)
    if not isinstance(mention, (ast.Name, ast.Attribute)):
        return False
    if isinstance(mention.ctx, ast.Store):
        return (
            isinstance(around, (ast.Assign, ast.AnnAssign)) and mention in targets_of(around) and is_empty(around.value)
        )
    if isinstance(around, ast.Attribute):
        call = program.parents.get(around)
        is_called = isinstance(call, ast.Call) and call.func is around
        return is_called and around.attr in ("append", "clear") and _is_for_effect(program, call)
    return any(around is read for read in reads)


def _is_for_effect(program: Program, call: ast.AST | None) -> bool:
    """Whether nothing asks for what a call returns, but a lambda that is a hook."""
    return isinstance(program.parents.get(call) if call is not None else None, (ast.Expr, ast.Lambda))
