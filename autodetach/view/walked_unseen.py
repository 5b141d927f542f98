"""What a program differentiates where no path has led: behind a count that ends later, or a switch that is off."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from autodetach.kept import kept
from autodetach.machine.children import nodes_in, walk
from autodetach.machine.graph import Differentiation
from autodetach.machine.spelling import last_word, names_called
from autodetach.machine.walking import callers_of
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import COMPREHENSIONS, FUNCTIONS, FunctionNode
from autodetach.once import once
from autodetach.view.by_call import at_call
from autodetach.view.by_name import functions_in_view
from autodetach.view.called_back import WALKS
from autodetach.view.changing import mentioned_in
from autodetach.view.come_to_later import may_come_to
from autodetach.view.entered_alone import entered_at, entered_for, is_entered_alone, is_registered
from autodetach.view.program import Program

GRAPH = "grad_fn"
CALLED_UNNAMED = frozenset({"__call__", "forward"})
"""Methods that are called by calling the object."""
CHOOSING = (ast.IfExp, ast.BoolOp, *COMPREHENSIONS)
"""Expressions of which not all is evaluated, beside lambdas."""


class Unseen(NamedTuple):
    """A walk, with the functions around it, or the file it stands in outside of any, and the branches around.

    `entered`: the functions that were entered for what was seen of it, if anything was.
    """

    at: ast.AST
    around: list[ast.AST]
    ways: dict[ast.If, bool]
    entered: frozenset[FunctionNode]


def may_come_to_walk(program: Program, d: Differentiation) -> bool:
    """Whether a test that leads to such a place may go another way later: `n -= 1` and `if n == 0:`."""
    return any(may_come_to(program, place) for one in _not_reached(program, d) for place in (one.at, *one.entered))


def walks_not_reached(program: Program, d: Differentiation) -> Iterator[ast.AST]:
    """What the functions around and those that they call differentiate so, unless this is the other branch."""
    return (one.at for one in _not_reached(program, d))


def _not_reached(program: Program, d: Differentiation) -> Iterator[Unseen]:
    unseen = _unseen_walks(program)
    if not unseen:
        return
    taken = _branches(program, d.call)
    running = _running_at(program, d.call)
    scopes = _scopes_near(program, d.call)
    entered = entered_at(program, d.call)
    for one in unseen:
        called = functions_in_view(program).get(last_word(one.at.func), ()) if isinstance(one.at, ast.Call) else ()
        if scopes.isdisjoint(one.around) or not running.isdisjoint(called):  # what leads there computes what it walks
            continue
        if not entered.isdisjoint(one.entered):  # it was seen beside this one
            continue
        if all(taken.get(branch, way) == way for branch, way in one.ways.items()):
            yield one


@once
def _unseen_walks(program: Program) -> list[Unseen]:
    walking = _names_that_walk(program)
    unseen: list[Unseen] = []
    for at in (at for tree in program.analysis.trees for at in walk(tree) if _walks(at, walking)):
        entered = entered_for(program, at)
        if entered or not _is_seen(program, at):
            unseen.append(Unseen(at, _functions_around(program, at), _branches(program, at), entered))
    return unseen


def _is_seen(program: Program, at: ast.AST) -> bool:
    """Whether it has differentiated, or a path has come to it, and evaluates it in any case."""
    if any(at_call(run, at) for run in program.runs):
        return True
    return program.is_reached(at) and not _is_chosen(program, at)


def _walks(at: ast.AST, called: frozenset[str]) -> bool:
    """`loss.backward()` and its like, and `loss.grad_fn`."""
    if isinstance(at, ast.Attribute):
        return at.attr == GRAPH
    return isinstance(at, ast.Call) and last_word(at.func) in called


def _names_that_walk(program: Program) -> frozenset[str]:
    """The names of what differentiates, and of the functions in view that call such a thing."""
    functions = functions_in_view(program).items()
    return WALKS | callers_of(WALKS | {GRAPH}, [(name, _asked_in(f)) for name, same in functions for f in same])


@kept
def _asked_in(function: ast.AST) -> frozenset[str]:
    """The words of what a function calls, and of a graph that it reads."""
    reads = any(isinstance(n, ast.Attribute) and n.attr == GRAPH for n in nodes_in(function))
    return frozenset(names_called(function) | ({GRAPH} if reads else set()))


def _is_chosen(program: Program, at: ast.AST) -> bool:
    """Whether it is a part of a statement that not every execution of it evaluates; an attribute says nothing of it."""
    inside = iter(partial(next, program.enclosing(at)), program.statement(at))
    return isinstance(at, ast.Call) and any(_is_choosing(program, around) for around in inside)


def _is_choosing(program: Program, around: ast.AST) -> bool:
    if isinstance(around, ast.Lambda):
        machines = [run.machine for run in program.runs]
        return not any(around in machine.called_on or around in machine.called_off for machine in machines)
    return isinstance(around, CHOOSING)


def _functions_around(program: Program, at: ast.AST) -> list[ast.AST]:
    around = list(program.enclosing(at))
    return [n for n in around if isinstance(n, FUNCTIONS)] or around[-1:]


def _branches(program: Program, node: ast.AST) -> dict[ast.If, bool]:
    """The `if` statements around a node, and whether it stands where the test is true."""
    found: dict[ast.If, bool] = {}
    inner = node
    for at in program.enclosing(node):
        if isinstance(at, ast.If):
            found[at] = inner in at.body
        inner = at
    return found


@once
def _running_at(program: Program, call: ast.Call) -> set[ast.AST]:
    """The functions that were running where a call differentiates, or the file."""
    same = (d for run in program.runs for d in at_call(run, call))
    places = [call, *(statement for d in same for statement, _ in d.trail)]
    return {around for place in places for around in _functions_around(program, place)}


@once
def _scopes_near(program: Program, call: ast.Call) -> set[ast.AST]:
    """The same, and the functions whose names those mention, and so on."""
    functions = functions_in_view(program)
    found: set[ast.AST] = set()
    pending = [*_running_at(program, call), *_registered(program)]
    while pending:
        scope = pending.pop()
        found.add(scope)
        named = (f for word in mentioned_in(scope) for f in (*functions.get(word, ()), *_called_of(program, word)))
        pending += (function for function in named if function not in found)
    return found


@once
def _registered(program: Program) -> list[ast.AST]:
    """The functions that decorators may have put where any other finds them."""
    functions = (f for same in functions_in_view(program).values() for f in same if f.decorator_list)
    return [f for f in functions if is_registered(program, f) and is_entered_alone(program, f)]


@once
def _called_of(program: Program, name: str) -> list[ast.AST]:
    """The methods that a call of an object of a class runs."""
    unnamed = (f for method in CALLED_UNNAMED for f in functions_in_view(program).get(method, ()))
    return [f for f in unnamed if isinstance(cls := program.scope(f), ast.ClassDef) and cls.name == name]
