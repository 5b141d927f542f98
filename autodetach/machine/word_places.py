"""The statements of a file at which history may begin, as its words tell: found out once, and kept with its tree."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from autodetach.kept import kept
from autodetach.machine.children import children_of
from autodetach.machine.mentioned import mentioned
from autodetach.machine.mentions import CLASSES, SAYING, TELLING, bound_by
from autodetach.machine.words import (
    BY_STRING,
    IN_FRONT,
    TESTS,
    grad_of,
    is_copied,
    is_of_python,
    looked_up,
    owner_of,
    reached,
)
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import DEFINITIONS, FUNCTIONS

_CONDITIONAL = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.BoolOp)
_NAMES = BY_STRING | CLASSES | IN_FRONT | {"Variable"}


class Words(NamedTuple):
    """What stands in some expressions: a word that `says` that history begins, or names that may do so.

    The `plain` ones are evaluated, the others stand in front of a dot.
    """

    says: bool
    plain: frozenset[str]
    in_front: frozenset[str]

    def begin(self, names: Container[str], others: Container[str]) -> bool:
        """Whether they let history begin: at one of the `names`, or at one of `others` in front of a dot, too."""
        return self.says or any(n in names for n in self.plain) or any(n in others for n in self.in_front)


class Place(NamedTuple):
    """A statement at which history may begin, and the functions and classes `around` it.

    What is `sure` is evaluated whenever the statement is run, what stands in `perhaps` may be skipped. With `always`,
    it depends on values.
    """

    statement: ast.AST
    around: tuple[str, ...]
    always: bool
    sure: Words
    perhaps: Words


@kept
def word_places(tree: ast.Module) -> tuple[Place, ...]:
    """All of a file; those that import all names of another one are among them."""
    return tuple(_places(tree))


def _places(tree: ast.Module) -> Iterator[Place]:
    names = _names_in_question(tree)
    pending: list[tuple[ast.AST, tuple[str, ...]]] = [(statement, ()) for statement in tree.body]
    while pending:
        node, around = pending.pop()
        if isinstance(node, (ast.stmt, ast.match_case)):
            found = _Look(names)
            for expression in _evaluated_by(node):
                found.at(expression)
            place = Place(node, around, found.always, found.words(sure=True), found.words(sure=False))
            if place.always or any(any(words) for words in (place.sure, place.perhaps)) or _is_star(node):
                yield place
        if isinstance(node, DEFINITIONS):
            around = (*around, node.name)
        pending += ((inner, around) for inner in children_of(node) if not isinstance(inner, ast.expr))


def _is_star(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and node.names[0].name == "*"


def _names_in_question(tree: ast.Module) -> Container[str] | None:
    """The names that may begin history: those of PyTorch, classes, and what is imported; None for any name."""
    mentions = mentioned(tree)
    names = {bound_by(statement, alias) for statement in mentions.imports for alias in statement.names}
    return None if "*" in names else names.union(_NAMES, (name for name, _ in mentions.bases))


class _Look:
    """One look at the expressions that a statement evaluates."""

    def __init__(self, names: Container[str] | None) -> None:
        self._names = names
        self._says = {True: False, False: False}
        self._plain: dict[bool, set[str]] = {True: set(), False: set()}
        self._in_front: dict[bool, set[str]] = {True: set(), False: set()}
        self.always = False

    def words(self, *, sure: bool) -> Words:
        """What was found in what is surely evaluated, or in the rest."""
        return Words(self._says[sure], frozenset(self._plain[sure]), frozenset(self._in_front[sure]))

    def at(self, expression: ast.expr) -> None:
        pending: list[tuple[ast.AST, bool]] = [(expression, True)]
        while pending:
            node, sure = pending.pop()
            if isinstance(node, ast.Name):
                self._note(self._plain[sure], node.id)
            elif isinstance(node, ast.Attribute):
                self._attribute(node, sure)
                owner = owner_of(node)
                if not isinstance(owner, ast.Name):
                    pending.append((owner, sure))
                else:
                    self._note(self._in_front[sure], owner.id)
            elif isinstance(node, ast.Constant):
                self.always |= node.value == "requires_grad"
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TESTS:
                pending += ((argument, sure) for argument in node.args[:1])
            elif isinstance(node, ast.Call) and (word := looked_up(node)) is not None and word not in TELLING:
                pending += ((argument, sure) for argument in node.args)
            else:
                if isinstance(node, ast.keyword) and node.arg == "requires_grad":
                    self._keyword(node.value, sure)
                first = _first(node) if isinstance(node, _CONDITIONAL) else None
                pending += ((child, sure and (first is None or child is first)) for child in reached(node))

    def _note(self, found: set[str], name: str) -> None:
        if self._names is None or name in self._names:
            found.add(name)

    def _attribute(self, node: ast.Attribute, sure: bool) -> None:
        word, is_read = node.attr, isinstance(node.ctx, ast.Load)
        if word == "requires_grad_" or (word == "requires_grad" and not is_read):
            self.always = True  # it depends on the value
        elif ((word in SAYING and is_read) or word in CLASSES) and not is_of_python(node):
            self._says[sure] = True
        elif word in IN_FRONT or word == "grad":
            self._note(self._plain[sure], word if word in IN_FRONT else grad_of(node))

    def _keyword(self, value: ast.expr, sure: bool) -> None:
        if not isinstance(value, ast.Constant):
            self.always |= not is_copied(value)
        elif value.value is not False:
            self._says[sure] = True


def _evaluated_by(statement: ast.AST) -> Iterator[ast.expr]:
    """The expressions that running a statement evaluates, without those of statements in it."""
    if isinstance(statement, FUNCTIONS):
        yield from statement.decorator_list
        yield from statement.args.defaults
        yield from (default for default in statement.args.kw_defaults if default is not None)
    elif isinstance(statement, ast.ClassDef):
        yield from (*statement.bases, *(keyword.value for keyword in statement.keywords), *statement.decorator_list)
    elif isinstance(statement, ast.AnnAssign):
        yield statement.target
        if statement.value is not None:
            yield statement.value
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        for item in statement.items:
            yield item.context_expr
            if item.optional_vars is not None:
                yield item.optional_vars
    elif isinstance(statement, ast.stmt):
        yield from (node for node in children_of(statement) if isinstance(node, ast.expr))
    elif isinstance(statement, ast.match_case) and statement.guard is not None:
        yield statement.guard


def _first(node: ast.AST) -> ast.AST:
    """What is evaluated in any case of an expression that may skip the rest."""
    if isinstance(node, ast.IfExp):
        return node.test
    if isinstance(node, ast.BoolOp):
        return node.values[0]
    return node  # nothing
