"""What a program differentiates where no path has led: behind a count that ends later, or a switch that is off."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.kept import kept
from autodetach.machine.children import nodes_in, walk
from autodetach.machine.graph import Differentiation
from autodetach.machine.spelling import last_word
from autodetach.node_types import COMPREHENSIONS, DEFINITIONS, FUNCTIONS, JUMPS
from autodetach.once import once
from autodetach.view.by_call import at_call
from autodetach.view.called_back import WALKS
from autodetach.view.changing import DEPTH, may_change, program_functions, words_in
from autodetach.view.program import Program

GRAPH = "grad_fn"
CALLED_UNNAMED = frozenset({"__call__", "forward"})
"""Methods that are called by calling the object."""
CHOOSING = (ast.IfExp, ast.BoolOp, *COMPREHENSIONS)
"""Expressions of which not all is evaluated."""


def may_come_to_walk(program: Program, d: Differentiation) -> bool:
    """Whether a test that leads to such a place may go another way later: `n -= 1` and `if n == 0:`."""
    return any(_may_come_to(program, at) for at in walks_not_reached(program, d))


def walks_not_reached(program: Program, d: Differentiation) -> Iterator[ast.AST]:
    """What the functions around and those that they call differentiate so, unless this is the other branch."""
    unseen = _unseen_walks(program)
    if not unseen:
        return
    taken = branches(program, d.call)
    running = _running_at(program, d.call)
    scopes = _scopes_near(program, d.call)
    for at, around, ways in unseen:
        called = program_functions(program).get(last_word(at.func), ()) if isinstance(at, ast.Call) else ()
        if scopes.isdisjoint(around) or not running.isdisjoint(called):  # what leads there computes what it walks
            continue
        if all(taken.get(branch, way) == way for branch, way in ways.items()):
            yield at


@once
def _unseen_walks(program: Program) -> list[tuple[ast.AST, list[ast.AST], dict[ast.If, bool]]]:
    """With the functions around each, or the file it stands in outside of any, and the branches around."""
    called = {d.call for run in program.runs for d in run.machine.differentiations}
    walking = _names_that_walk(program)
    found = (at for tree in program.analysis.trees for at in walk(tree) if _walks(at, walking) and at not in called)
    unseen = (at for at in found if not program.is_reached(at) or _is_chosen(program, at))
    return [(at, _functions_around(program, at), branches(program, at)) for at in unseen]


def _walks(at: ast.AST, called: frozenset[str]) -> bool:
    """`loss.backward()` and its like, and `loss.grad_fn`."""
    if isinstance(at, ast.Attribute):
        return at.attr == GRAPH
    return isinstance(at, ast.Call) and last_word(at.func) in called


def _names_that_walk(program: Program) -> frozenset[str]:
    """The names of what differentiates, and of the functions in view that call such a thing."""
    functions = program_functions(program)
    asked = {name: {word for f in same for word in _asked_in(f)} for name, same in functions.items()}
    found = WALKS
    while more := {name for name, words in asked.items() if not words.isdisjoint(found | {GRAPH})} - found:
        found |= more
    return found


@kept
def _asked_in(function: ast.AST) -> frozenset[str]:
    """The words of what a function calls, and of a graph that it reads."""
    nodes = list(nodes_in(function))
    reads = {GRAPH} if any(isinstance(n, ast.Attribute) and n.attr == GRAPH for n in nodes) else set()
    return frozenset(reads | {last_word(n.func) for n in nodes if isinstance(n, ast.Call)})


def _is_chosen(program: Program, at: ast.AST) -> bool:
    """Whether it is a part of a statement that not every execution of it evaluates; an attribute says nothing of it."""
    statement = program.statement(at)
    around = program.enclosing(at)
    return isinstance(at, ast.Call) and any(isinstance(n, CHOOSING) for n in iter(lambda: next(around), statement))


def _functions_around(program: Program, at: ast.AST) -> list[ast.AST]:
    around = list(program.enclosing(at))
    return [n for n in around if isinstance(n, FUNCTIONS)] or around[-1:]


def branches(program: Program, node: ast.AST) -> dict[ast.If, bool]:
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
    functions = program_functions(program)
    found: set[ast.AST] = set()
    pending = list(_running_at(program, call))
    while pending:
        scope = pending.pop()
        found.add(scope)
        named = (f for word in words_in(scope) for f in (*functions.get(word, ()), *_called_of(program, word)))
        pending += (function for function in named if function not in found)
    return found


@once
def _called_of(program: Program, name: str) -> list[ast.AST]:
    """The methods that a call of an object of a class runs."""
    unnamed = (f for method in CALLED_UNNAMED for f in program_functions(program).get(method, ()))
    return [f for f in unnamed if isinstance(cls := program.scope(f), ast.ClassDef) and cls.name == name]


def _may_come_to(program: Program, at: ast.AST, depth: int = DEPTH) -> bool:
    """Whether a test in front of a place may change, or one in front of the calls of its function, if none was run."""
    function = next((n for n in program.enclosing(at) if isinstance(n, FUNCTIONS)), None)
    if any(may_change(program, test) for test in _tests_before(program, at)):
        return True
    if function is None or not depth or program.is_reached(function.body[-1]) or program.is_reached(function.body[0]):
        return False
    named = (n for tree in program.analysis.trees for n in walk(tree) if isinstance(n, (ast.Name, ast.Attribute)))
    calls = (n for n in named if last_word(n) == function.name and function not in program.enclosing(n))
    return any(_may_come_to(program, call, depth - 1) for call in calls)


def _tests_before(program: Program, at: ast.AST) -> Iterator[ast.expr]:
    """What is asked, in the function of a place, before that is come to."""
    inner = at
    for around in program.enclosing(at):
        if isinstance(inner, ast.stmt):
            block = program.block(inner)
            before = [s for s in block[: block.index(inner)] if not isinstance(s, DEFINITIONS)]
            leaving = (n for s in before if any(isinstance(j, JUMPS) for j in nodes_in(s)) for n in nodes_in(s))
            yield from (n.test for n in leaving if isinstance(n, ast.If))
        yield from _asked_by(around, inner)
        if isinstance(around, FUNCTIONS):
            return
        inner = around


def _asked_by(around: ast.AST, inner: ast.AST) -> Iterator[ast.expr]:
    """What decides whether a part of a statement or an expression is executed."""
    if isinstance(around, (ast.If, ast.While, ast.IfExp)) and inner is not around.test:
        yield around.test
    elif isinstance(around, (ast.For, ast.AsyncFor)) and inner is not around.iter:
        yield around.iter
    elif isinstance(around, ast.BoolOp):
        yield from (value for value in around.values if value is not inner)
    elif isinstance(around, COMPREHENSIONS):
        yield from (asked for part in around.generators for asked in (part.iter, *part.ifs))
    elif isinstance(around, ast.Match) and inner is not around.subject:
        yield around.subject
