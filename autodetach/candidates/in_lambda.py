"""What is computed once, and read by a `lambda` that runs in every pass, is computed in the `lambda`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.children import targets_of, walk
from autodetach.machine.graph import Node, trail_of
from autodetach.machine.run import Run
from autodetach.node_types import COMPREHENSIONS, LOOPS, SCOPES
from autodetach.suspect import Candidate
from autodetach.view.changed_between import doubt_of_changes
from autodetach.view.program import Program, line, text, without_retain
from autodetach.view.side_effects import draws_random_numbers, keeps_state, makes_leaves, takes_away


def computed_in_lambda(program: Program, run: Run, outer: list[Node], doubt: str | None) -> Iterator[Candidate]:
    """Write the value of `flux = ...`, which makes all nodes of `outer`, in the place where a `lambda` reads it.

    Only if nothing else mentions that name, and what the value reads means the same there, whenever it runs.
    """
    from autodetach.codemods.inline_name import InlineName
    from autodetach.codemods.replace_statement import ReplaceStatement

    common = [[s for s, _ in trail_of(node)] for node in outer]
    statement = next((s for s in common[0] if all(s in others for others in common)), None) if common else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    (target,) = targets_of(statement)
    read = _only_read(program, target)
    if read is None or not _means_the_same(program, statement, read) or takes_away(program, run, [statement]):
        return
    if makes_leaves(program, run, [statement], outer):
        return
    if doubt is None and (draws_random_numbers(run, [statement]) or keeps_state(program, run, [statement])):
        doubt = "what is moved draws random numbers or changes a state, which it will do in every pass"
    doubt = doubt or doubt_of_changes(program, run, [statement], outer)
    parent = program.parents.get(read)
    inlined = InlineName(read, statement.value, isinstance(parent, ast.Lambda))
    yield Candidate(
        f"compute `{text(statement.value)}` in the `lambda` that reads `{text(target)}`",
        (inlined, ReplaceStatement(statement, ""), *without_retain(outer)),
        doubt,
    )


def _only_read(program: Program, target: ast.expr) -> ast.Name | None:
    """The one place that mentions a name besides the one that binds it."""
    if not isinstance(target, ast.Name):
        return None
    tree = program.file_of(target)
    if any(target.id in n.names for n in walk(tree) if isinstance(n, (ast.Global, ast.Nonlocal))):
        return None
    mentions = [n for n in walk(tree) if isinstance(n, ast.Name) and n.id == target.id and n is not target]
    return mentions[0] if len(mentions) == 1 and isinstance(mentions[0].ctx, ast.Load) else None


def _means_the_same(program: Program, statement: ast.Assign, read: ast.Name) -> bool:
    """Whether a `lambda` around `read` is the first scope inside of that of `statement`, and nothing binds anew.

    A default of the `lambda` is computed where the `lambda` is made, once as well.
    """
    home = program.scope(statement)
    inner: list[ast.AST] = []
    for at in program.enclosing(read):
        if at is home:
            break
        inner += [at] if isinstance(at, (*SCOPES, *COMPREHENSIONS)) else []
    else:
        return False
    if isinstance(home, ast.ClassDef) or not inner or not isinstance(inner[-1], ast.Lambda):
        return False
    if any(n is read for n in ast.walk(inner[-1].args)):
        return False
    reads = program.names_read(statement.value)
    local = {n.arg for at in inner for n in ast.walk(at) if isinstance(n, ast.arg)}
    local |= {n.id for at in inner for n in ast.walk(at) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return not reads & (local | _bound_anew(program, home, statement))


def _bound_anew(program: Program, home: ast.AST, behind: ast.stmt) -> set[str]:
    """The names that may be bound once more behind a statement; `w -= step` changes the tensor that it has."""
    loops = [at for at in program.enclosing(behind) if isinstance(at, LOOPS)]
    found: set[str] = set()
    for name in walk(home):
        if isinstance(name, ast.Name) and not isinstance(name.ctx, ast.Load):
            at = program.statement(name)
            later = line(name) > line(behind) or any(loop in loops for loop in program.enclosing(name))
            if later and at is not behind and not isinstance(at, ast.AugAssign):
                found.add(name.id)
        elif isinstance(name, ast.ExceptHandler) and name.name is not None:
            found.add(name.name)  # behind that, there is no such name any more
    return found
