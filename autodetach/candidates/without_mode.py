"""What an optimizer is to train is computed where gradients are on: the `with torch.no_grad():` around it goes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.begun_again import MORE
from autodetach.candidates.with_history import with_history
from autodetach.machine.children import walk
from autodetach.machine.events import HistoryLost
from autodetach.machine.spelling import spelled
from autodetach.suspect import Candidate
from autodetach.view.gradient_modes import is_only_no_grad
from autodetach.view.program import Program, text


def for_its_step(program: Program, fact: HistoryLost) -> Iterator[Candidate]:
    """What was lost is kept; a `with` goes that is about nothing else, in a function that is running then."""
    from autodetach.codemods.drop_guard import DropGuard

    yield from with_history(program, fact)
    running = {program.scope(statement) for statement, _ in fact.trail}
    modes = [n for scope in running for n in walk(scope) if is_only_no_grad(n) and program.scope(n) is scope]
    if len(modes) == 1 and _does_one_thing(modes[0]):
        mode = modes[0]
        shown = text(mode.items[0].context_expr)
        yield Candidate(f"compute it without `{shown}`", (DropGuard(mode),), MORE, adds=True)


def _does_one_thing(mode: ast.With) -> bool:
    """Whether its statements bind the results of calls of one callable."""
    calls = [s.value for s in mode.body if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call)]
    return len(calls) == len(mode.body) and len({spelled(call.func) for call in calls}) == 1
