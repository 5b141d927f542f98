"""What is differentiated was computed under a `with torch.no_grad():`, which goes: while it stands, PyTorch raises."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.children import walk
from autodetach.machine.events import HistoryLost
from autodetach.machine.graph import OFF
from autodetach.suspect import Candidate
from autodetach.view.gradient_modes import is_no_grad, no_grad_above
from autodetach.view.program import Program, text

FOR_ALL = "all that calls it records history, too, and trains more"


def computed_with_gradients(program: Program, fact: HistoryLost) -> Iterator[Candidate]:
    """The `with` goes in which history is lost, or that calls what loses it in a function that is running then.

    Of several, or of one that makes several things, as a prediction and its target, nobody knows which should be.
    """
    from autodetach.codemods.drop_guard import DropGuard

    if fact.off or not fact.raises or any(one.how != OFF for one in fact.lost):
        return
    around = {at for one in fact.lost for at in program.enclosing(one.place) if is_no_grad(at)}
    scopes = {program.scope(statement) for statement, _ in fact.trail}
    called = {n for scope in scopes for n in walk(scope) if is_no_grad(n) and program.scope(n) is scope}
    modes = around or called
    scopes |= {program.scope(one.place) for one in fact.lost}
    if len(modes) != 1 or any(map(no_grad_above, scopes)):
        return
    mode = modes.pop()
    if isinstance(mode, ast.With) and len(mode.items) == 1 and _makes_one_thing(program, mode):
        shown = text(mode.items[0].context_expr)
        yield Candidate(f"compute it without `{shown}`", (DropGuard(mode),), FOR_ALL, adds=True)


def _makes_one_thing(program: Program, mode: ast.With) -> bool:
    """Whether what follows reads one of the names that are bound in it, or the function ends in it with one value."""
    inside = set(walk(mode))
    returned = [n for n in inside if isinstance(n, ast.Return)]
    if returned:
        return len(returned) == 1 and not isinstance(returned[0].value, (ast.Tuple, ast.List, ast.Dict))
    bound = program.names_bound(mode)
    scope = program.scope(mode)
    reads = (n for n in walk(scope) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n not in inside)
    return len({n.id for n in reads} & set(bound)) == 1
