"""Branches that no path has taken, and that may differentiate what a repair cuts off from its graph."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence

from autodetach.kept import kept
from autodetach.machine.children import nodes_in, statements_in, targets_of, walk
from autodetach.machine.spelling import is_none, last_word, names_called
from autodetach.machine.words import DIFFERENTIATIONS
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import DEFINITIONS, FUNCTIONS, JUMPS

DEEP = 3
"""Tests in branches of others, and functions that call one another."""

TRAINING = frozenset({"grad", "parameters", "add_param_group"})
PASSING_ON = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)
NOBODY = frozenset({"self", "cls"})
Test = tuple[ast.expr, bool]
"""A test, and the way it is to go."""


class Branch(NamedTuple):
    """What is run if some tests, outermost first, go their ways; `hands_on`: others get what it computes."""

    tests: tuple[Test, ...]
    parts: tuple[ast.AST, ...]
    hands_on: bool = False


def branches_off(trees: Iterable[ast.Module], executed: Collection[ast.AST]) -> list[Branch]:
    """The branches of tests that are met, in which nothing was `executed`; those inside of others come first."""
    found: list[Branch] = []
    waiting: list[list[ast.stmt]] = [tree.body for tree in trees]
    while waiting:
        block = waiting.pop()
        for number, statement in enumerate(block):
            if inner := statements_in(statement):
                waiting.append(inner)
            if statement in executed:
                for tests, branch in _ways_of(statement, block[number + 1 :]):
                    if branch[0] not in executed:
                        found += _inside(tests, branch)
    return found


def _inside(tests: tuple[Test, ...], block: Sequence[ast.stmt], depth: int = DEEP) -> Iterator[Branch]:
    """A block, behind those that more tests lead to in it."""
    for statement in block if depth else ():
        for more, branch in _ways_of(statement, ()):
            yield from _inside((*tests, *more), branch, depth - 1)
    yield Branch(tests, tuple(block))


def _ways_of(statement: ast.stmt, behind: Sequence[ast.stmt]) -> Iterator[tuple[tuple[Test, ...], Sequence[ast.stmt]]]:
    """The blocks that a statement may lead to, and the tests that do."""
    if isinstance(statement, ast.If):
        for block, truth in ((statement.body, True), (statement.orelse, False)):
            if block:
                yield ((statement.test, truth),), block
            if block and behind and isinstance(block[-1], JUMPS):
                yield ((statement.test, not truth),), behind
    elif isinstance(statement, ast.Match):
        for case in statement.cases:
            if isinstance(case.pattern, ast.MatchValue):
                yield ((_equal(statement.subject, case.pattern.value), True),), case.body


def _equal(one: ast.expr, other: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Compare(one, [ast.Eq()], [other]), one)


def choices_off(trees: Iterable[ast.Module], executed: Collection[ast.AST]) -> Iterator[Branch]:
    """Expressions that a test leads to, in statements that were executed."""
    for node in (node for tree in trees for node in walk(tree) if node in executed):
        if not isinstance(node, ast.stmt) or statements_in(node):
            continue
        hands_on = isinstance(node, PASSING_ON)
        for part in nodes_in(node):
            if isinstance(part, ast.IfExp) and not _asks_for_none(part.test):
                for value, truth in ((part.body, True), (part.orelse, False)):
                    yield Branch(((part.test, truth),), (value,), hands_on)
            elif isinstance(part, ast.BoolOp):
                truth = isinstance(part.op, ast.And)
                tests = tuple((value, truth) for value in part.values[:-1])
                yield Branch(tests, (part.values[-1],), hands_on)


def _asks_for_none(test: ast.expr) -> bool:
    """`x if x is not None else y`, which stands for a default."""
    return isinstance(test, ast.Compare) and any(is_none(other) for other in test.comparators)


def chosen_by_key(trees: Iterable[ast.Module]) -> Iterator[Branch]:
    """`STEPS[MODE](...)`: the functions and classes that other keys of a dict lead to."""
    every = [node for tree in trees for node in walk(tree)]
    tables = {
        last_word(target): node.value
        for node in every
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
        for target in node.targets
    }
    made = {node.name: node for node in every if isinstance(node, DEFINITIONS)}
    for node in every:
        table = tables.get(last_word(node.value)) if isinstance(node, ast.Subscript) else None
        if table is None or not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Constant):
            continue
        for key, value in zip(table.keys, table.values, strict=True):
            made_there = made.get(last_word(value))
            if isinstance(key, ast.Constant) and made_there is not None:
                yield Branch(((_equal(node.slice, key), True),), (made_there,))


def may_train(branch: Branch, words: Collection[str], training: Collection[str]) -> bool:
    """Whether a branch reads what has such a name, and differentiates something, or hands on what it makes of it."""
    if all(_words_in(part).isdisjoint(words) for part in branch.parts):
        return False
    nodes = [node for part in branch.parts for node in nodes_in(part)]
    if branch.hands_on or any(isinstance(node, ast.Call) and last_word(node.func) in training for node in nodes):
        return True
    handed = (node.value for node in nodes if isinstance(node, PASSING_ON) and node.value is not None)
    return any(not _words_in(value).isdisjoint(words) for value in handed)


def names_of_training(trees: Iterable[ast.Module]) -> set[str]:
    """What differentiates, or chooses what is trained, by name, and the functions that call it."""
    names = DIFFERENTIATIONS | TRAINING
    functions = [
        (node.name, names_called(node)) for tree in trees for node in walk(tree) if isinstance(node, FUNCTIONS)
    ]
    for _ in range(DEEP):
        names |= {name for name, called in functions if not called.isdisjoint(names)}
    return set(names)


class Words:
    """Which functions of a program name something, and what is made of what."""

    def __init__(self, trees: Iterable[ast.Module]) -> None:
        every = [node for tree in trees for node in walk(tree)]
        functions = [node for node in every if isinstance(node, FUNCTIONS) and not node.name.startswith("__")]
        self._functions = [(node.name, _words_in(node)) for node in functions]
        made = [node for node in every if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None]
        self._made = [(_words_in(node.value), set(filled_by(node))) for node in made if node.value is not None]

    def of(self, statements: Iterable[ast.stmt], *, read: bool) -> set[str]:
        """The names of what some statements bind or fill, of functions that name these, and of what is made of them.

        With `read`, of what the statements read, too.
        """
        words: set[str] = set()
        for statement in statements:
            words.update(filled_by(statement))
            if read:
                words |= _words_in(statement)
        words -= NOBODY
        words |= {name for name, inside in self._functions if not inside.isdisjoint(words)}
        return words.union(*(names for inside, names in self._made if not inside.isdisjoint(words))) - NOBODY


@kept
def _words_in(node: ast.AST) -> frozenset[str]:
    return frozenset(map(_word, nodes_in(node))) - {""}


def filled_by(statement: ast.stmt) -> Iterator[str]:
    """The names of what a statement binds, or fills by a method."""
    places = list(targets_of(statement))
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        places = [statement.value.func.value] if isinstance(statement.value.func, ast.Attribute) else []
    while places:
        place = places.pop()
        if isinstance(place, (ast.Tuple, ast.List)):
            places += place.elts
        elif isinstance(place, (ast.Subscript, ast.Starred)):
            places.append(place.value)
        elif word := _word(place):
            yield word


def _word(node: ast.AST) -> str:
    return last_word(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
