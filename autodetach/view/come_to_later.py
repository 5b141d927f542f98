"""Whether a place to which no path has led may be come to later: where a test in front of it goes another way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from autodetach.node_types import FUNCTIONS
from autodetach.once import once
from autodetach.view.asked_before import asked_before
from autodetach.view.by_name import is_callee, mentions_in_view
from autodetach.view.changed_words import word_of
from autodetach.view.changing import DEPTH, may_change
from autodetach.view.entered_alone import is_entered_alone, mentions_not_seen
from autodetach.view.program import Program


@once
def may_come_to(program: Program, at: ast.AST, depth: int = DEPTH) -> bool:
    """Whether a test in front of a place may change, or one in front of what may call it, if no path has led there."""
    if any(may_change(program, test) for test in asked_before(program, at)):
        return True
    return bool(depth) and any(may_come_to(program, mention, depth - 1) for mention in _leading_to(program, at))


def _leading_to(program: Program, at: ast.AST) -> Iterator[ast.AST]:
    """Where that is mentioned which would run a place."""
    if isinstance(at, FUNCTIONS):
        yield from mentions_not_seen(program, at)
        if isinstance(owner := program.scope(at), ast.ClassDef):
            yield from mentions_in_view(program, owner.name)
        return
    for word in _handed_on_as(program, at):
        yield from mentions_in_view(program, word)
    function = next((n for n in program.enclosing(at) if isinstance(n, FUNCTIONS)), None)
    if function is None:
        return
    if is_entered_alone(program, function):
        yield function
    elif not program.is_reached(function.body[0]):
        yield from (n for n in mentions_in_view(program, function.name) if function not in program.enclosing(n))


def _handed_on_as(program: Program, at: ast.AST) -> set[str]:
    """The names that what would run it is bound to: that of a lambda around, `TABLE` of `TABLE = {0: heavy}`."""
    statement = program.statement(at)
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return set()
    inside = [at, *iter(partial(next, program.enclosing(at)), statement)]
    is_mention = isinstance(at, (ast.Name, ast.Attribute)) and not is_callee(program, at)
    if not is_mention and not any(isinstance(n, ast.Lambda) for n in inside):
        return set()
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return {word_of(part) for target in targets for part in _parts_of(target)} - {""}


def _parts_of(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
