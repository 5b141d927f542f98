"""What a program may set again while it runs, by the words of its names: a setting is set once, and stays."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.kept import kept
from autodetach.machine.children import walk
from autodetach.machine.spelling import last_word
from autodetach.node_types import DEFINITIONS, FUNCTIONS, FunctionNode
from autodetach.once import once
from autodetach.view.by_name import calls_in_view, functions_in_view, looked_up_by
from autodetach.view.changed_words import OWN, changed_in_view, word_of
from autodetach.view.program import Program

DEPTH = 4
"""Through how many names, arguments and functions one is followed."""
TYPE_TESTS = frozenset({"isinstance", "is_tensor"})


@once
def may_change(program: Program, asked: ast.expr, depth: int = DEPTH) -> bool:
    """Whether the value of an expression may be another one when it is asked for again.

    `n -= 1` changes `n`, `left[0] -= 1` and `left.pop()` change `left`; what is bound to what changes does so, too, and
    what a function gives that reads or sets such a thing. What is a tensor, or is none, stays so.
    """
    changed = changed_in_view(program)
    for node in _counting(asked):
        word = last_word(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
        if word in changed or word == "next" or (isinstance(node, ast.Name) and _is_given_anew(program, node)):
            return True
        if any(not changed.isdisjoint(mentioned_in(function)) for function in _run_by(program, node)):
            return True
        if word and depth and word not in OWN and any(may_change(program, e, depth - 1) for e in _from(program, node)):
            return True
    return False


def _run_by(program: Program, node: ast.AST) -> list[FunctionNode]:
    """The functions in view of a name that is called, and the properties of one that is read."""
    if isinstance(node, ast.Call):
        return functions_in_view(program).get(last_word(node.func), [])
    if not isinstance(node, ast.Attribute):
        return []
    return [f for f in functions_in_view(program).get(node.attr, ()) if "property" in map(last_word, f.decorator_list)]


def _is_given_anew(program: Program, name: ast.Name) -> bool:
    """Whether a function calls itself with something else for a parameter."""
    function = program.scope(name)
    if not isinstance(function, FUNCTIONS):
        return False
    inner = (call for call in calls_in_view(program, function.name) if function in program.enclosing(call))
    given = (value for call in inner for value in _given(call, function, name.id))
    return any(not (isinstance(value, ast.Name) and value.id == name.id) for value in given)


def _counting(asked: ast.expr) -> Iterator[ast.AST]:
    """The parts of an expression, without those of which only the type is asked."""
    pending: list[ast.AST] = [asked]
    while pending:
        at = pending.pop()
        if isinstance(at, ast.Call) and last_word(at.func) in TYPE_TESTS:
            continue
        if isinstance(at, ast.Attribute) and at.attr == "requires_grad":
            continue
        yield at
        pending += ast.iter_child_nodes(at)


def _from(program: Program, node: ast.AST) -> Iterator[ast.expr]:
    """What a name or attribute is bound to, or given as a parameter of the function where it is read."""
    assert isinstance(node, (ast.Name, ast.Attribute))
    for tree in program.analysis.trees:
        yield from _bound_in(tree).get(last_word(node), ())
    function = program.scope(node)
    if isinstance(node, ast.Name) and isinstance(function, FUNCTIONS):
        for call in calls_in_view(program, function.name):
            yield from _given(call, function, node.id)


def _given(call: ast.Call, function: FunctionNode, name: str) -> Iterator[ast.expr]:
    """What a call gives for a parameter."""
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args) if a.arg not in OWN]
    if name in names and names.index(name) < len(call.args):
        yield call.args[names.index(name)]
    yield from (keyword.value for keyword in call.keywords if keyword.arg == name)


@kept
def mentioned_in(node: ast.AST) -> frozenset[str]:
    """The words of names and attributes in it, looked up or not; in a file, outside of its functions and classes."""
    found: set[str] = set()
    pending = [node]
    while pending:
        at = pending.pop()
        if isinstance(at, (ast.Name, ast.Attribute)):
            found.add(last_word(at))
        found.update(str(text.value) for text in looked_up_by(at))
        is_apart = isinstance(at, DEFINITIONS) and isinstance(node, ast.Module)
        pending += () if is_apart else ast.iter_child_nodes(at)
    return frozenset(found)


@kept
def _bound_in(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """What a file binds words to."""
    found: dict[str, list[ast.expr]] = {}
    for node in walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                found.setdefault(word_of(target), []).append(node.value)
    return found
