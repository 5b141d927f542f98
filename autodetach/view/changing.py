"""What a program may set again while it runs, by the words of its names: a setting is set once, and stays."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.container_methods import CHANGING
from autodetach.kept import kept
from autodetach.machine.children import nodes_in, walk
from autodetach.machine.spelling import last_word
from autodetach.node_types import DEFINITIONS, FUNCTIONS, LOOPS
from autodetach.once import once
from autodetach.view.by_name import calls_in_view, functions_in_view
from autodetach.view.program import Program

DEPTH = 4
"""Through how many names, arguments and functions one is followed."""
TYPE_TESTS = frozenset({"isinstance", "is_tensor"})
OWN = frozenset({"self", "cls"})


def may_change(program: Program, asked: ast.expr, depth: int = DEPTH) -> bool:
    """Whether the value of an expression may be another one when it is asked for again.

    `n -= 1` changes `n`, `left[0] -= 1` and `left.pop()` change `left`; what is bound to what changes does so, too, and
    what a function gives that reads or sets such a thing. What is a tensor, or is none, stays so.
    """
    changed = _changed_in_view(program)
    for node in _counting(asked):
        word = last_word(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
        if word in changed or word == "next":
            return True
        if word and depth and word not in OWN and any(may_change(program, e, depth - 1) for e in _from(program, node)):
            return True
        called = functions_in_view(program).get(last_word(node.func), ()) if isinstance(node, ast.Call) else ()
        if any(not changed.isdisjoint(words_in(function)) for function in called):
            return True
    return False


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


def _given(call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> Iterator[ast.expr]:
    """What a call gives for a parameter."""
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args) if a.arg not in OWN]
    if name in names and names.index(name) < len(call.args):
        yield call.args[names.index(name)]
    yield from (keyword.value for keyword in call.keywords if keyword.arg == name)


@kept
def words_in(node: ast.AST) -> frozenset[str]:
    """The words of the names and attributes in it; in a file, of those that stand in no function or class."""
    found: set[str] = set()
    pending = [node]
    while pending:
        at = pending.pop()
        if isinstance(at, (ast.Name, ast.Attribute)):
            found.add(last_word(at))
        is_apart = isinstance(at, DEFINITIONS) and isinstance(node, ast.Module)
        pending += () if is_apart else ast.iter_child_nodes(at)
    return frozenset(found)


@once
def _changed_in_view(program: Program) -> frozenset[str]:
    return frozenset().union(*map(_changed_in, program.analysis.trees))


@kept
def _changed_in(tree: ast.AST) -> frozenset[str]:
    """The words that a file sets more than once, in a loop, by what they are, or as `global`, or fills, or empties."""
    stored: list[str] = []
    changed: set[str] = set()
    for node in walk(tree):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            stored.append(word_of(node))
        if isinstance(node, ast.AugAssign):
            changed.add(word_of(node.target))
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            changed.update(node.names)
        elif isinstance(node, LOOPS):
            kinds = (ast.Name, ast.Attribute, ast.Subscript)
            inside = (n for n in nodes_in(node) if isinstance(n, kinds) and not isinstance(n.ctx, ast.Load))
            changed.update(map(word_of, inside))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
            changed.add(word_of(node.func.value))
    return frozenset(changed | {word for word in stored if stored.count(word) > 1}) - OWN - {""}


def word_of(target: ast.expr) -> str:
    """`left` of `left[0]` and of `self.left`."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return last_word(target)


@kept
def _bound_in(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """What a file binds words to."""
    found: dict[str, list[ast.expr]] = {}
    for node in walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                found.setdefault(word_of(target), []).append(node.value)
    return found
