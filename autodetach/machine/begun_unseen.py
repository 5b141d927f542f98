"""What a loop carries or keeps, and differentiates and begins anew where no run has come to.

`if left == 0: total.backward(); state = state.detach()`: a count that goes down is not seen to end in a few passes. So
nobody has seen whether the graph grows for as long as the loop runs, or for as long as the branch is waited for. The
branch may as well be one of `match`, the body of `while`, or a part of an expression: `kept = up(kept) if left == 0
else kept`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from autodetach.kept import kept
from autodetach.machine.bound_names import NAMED, Names, bound_by, made_of, names_of, read_in, result_of
from autodetach.machine.children import nodes_in, statement_with, targets_of
from autodetach.machine.events import Stored
from autodetach.machine.graph import trail_of
from autodetach.machine.growth import Growth
from autodetach.machine.handed_unseen import Handed
from autodetach.machine.program_values import Frame
from autodetach.machine.run import Analysis
from autodetach.machine.spelling import arguments_of, called_name, last_word, names_called, root_of, spelled
from autodetach.machine.untaken_branches import Owner, Part, Taken, own_expressions
from autodetach.machine.walking import WALKING, callers_of
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import FUNCTIONS, CallableNode

GIVEN = "return"
"""Stands for what a function gives its callers: no name is spelled like this."""


class Unseen(NamedTuple):
    """What is begun anew, and what is trained with, where no run has come to."""

    begun: Names
    trained: Names

    def take(self, begun: Iterable[str], trained: Iterable[str] = ()) -> None:
        self.begun.update(begun)
        self.trained.update(trained)


class BegunUnseen:
    """What the branches of a program that no run has come to, and that train, begin anew and ask for."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._taken = Taken(analysis.runs)
        self._known: dict[tuple[ast.AST, bool], Unseen] = {}
        self._trains: dict[ast.AST, bool] = {}
        self._held: dict[ast.AST, Names] = {}

    def may_begin_anew(self, growth: Growth) -> bool:
        """Whether such a branch trains with what no pass differentiates, and sets, or asks for, what has it."""
        if growth.dead:
            return False
        home = growth.activation.frame
        seen: Names = set()  # of what is set in a call, what its caller has, too
        for statement, frame in reversed(trail_of(growth.node)):
            function = frame.function if isinstance(frame, Frame) else None
            around = growth.activation.node if frame is home else None if function is None else function.node
            if around is not None and self._has_training(around):
                grown = bound_by(statement) if growth.stored is None else self._held_in(growth.stored)
                if _concerns(self._unseen_in(around), grown | seen, around):
                    return True
            seen.update(name for name in bound_by(statement) if "." in name)
            if frame is home:
                return False
        return False

    def _held_in(self, stored: Stored) -> Names:
        """The names of a container that grows, or of what it is in: what a pass trains of its own, it trains once."""
        at = stored.site.node
        if at not in self._held:
            found = (statement_with(tree, at) for tree in self._analysis.trees)
            self._held[at] = {name for s in found if s is not None for name in bound_by(s) | _asked_of(s)}
        return self._held[at]

    @cached_property
    def _functions(self) -> dict[str, list[CallableNode]]:
        found: dict[str, list[CallableNode]] = {}
        for name, function in (named for tree in self._analysis.trees for named in _functions_of(tree)):
            found.setdefault(name, []).append(function)
        return found

    @cached_property
    def _handed(self) -> Handed:
        return Handed(self._analysis.trees, self._functions, self._analysis.runs, self._may_train)

    @cached_property
    def _training(self) -> set[str]:
        """What differentiates, by name, and the functions and methods that call it, directly or not."""
        every = [(name, one) for name, functions in self._functions.items() for one in functions]
        return callers_of(WALKING, [(name, names_called(one)) for name, one in every]) | WALKING

    def _may_train(self, function: ast.AST) -> bool:
        return any(map(self._calls_training, nodes_in(function)))

    def _calls_training(self, node: ast.AST) -> bool:
        return called_name(node) in self._training if isinstance(node, ast.Call) else False

    def _is_training(self, node: ast.AST) -> bool:
        """Whether it is a function of the program that trains, and is handed on: `partial(train, loss)`."""
        return isinstance(node, NAMED) and last_word(node) in self._training - WALKING

    def _has_training(self, around: ast.AST) -> bool:
        """Whether a branch in a loop or function, or in a function that it calls, trains, and none has come to it."""
        known = self._trains.get(around)
        if known is None:
            self._trains[around] = False  # of what calls itself
            parts = self._taken.left_in(around)
            inside = (node for part in parts for each in part.nodes for node in nodes_in(each))
            known = any(self._calls_training(node) or self._is_training(node) for node in inside) or any(
                self._has_training(called)
                for node in nodes_in(around)
                if isinstance(node, ast.Call) and self._calls_training(node)
                for called in self._functions.get(last_word(node.func), ())
            )
            handed = (self._handed.called_by(call) for _, call in self._calls_in(around))
            known = self._trains[around] = known or any(handed)
        return known

    def _calls_in(self, around: ast.AST) -> Iterator[tuple[Owner, ast.Call]]:
        """The calls of a loop or function in what was executed, each with its statement."""
        for owner in self._taken.met_in(around):
            yield from ((owner, node) for node in own_expressions(owner) if isinstance(node, ast.Call))

    def _unseen_in(self, around: ast.AST, *, whole: bool = False) -> Unseen:
        """The same of a loop or function, and of those that it calls; `whole`: no run has come to any of it."""
        known = self._known.get((around, whole))
        if known is None:
            known = self._known[around, whole] = Unseen(set(), set())  # for what calls itself, too
            body = around.body if isinstance(around, FUNCTIONS) else [around]
            for part in [Part(tuple(body))] if whole else self._taken.left_in(around):
                self._look_at(part, known)
            if not whole:
                self._look_at_called(around, known)
        return known

    def _look_at(self, part: Part, found: Unseen) -> None:
        for node in (node for each in part.nodes for node in nodes_in(each)):
            found.take(_begun_at(node))
            if isinstance(node, ast.Call):
                if self._calls_training(node) or any(map(self._is_training, arguments_of(node))):
                    found.take((), read_in([*arguments_of(node), *_owner_of(node)]))
                for called in self._functions.get(last_word(node.func), ()):
                    self._take_of_called(found, None, node, called, self._unseen_in(called, whole=True))
        if part.owner is not None:
            results = result_of(part.owner)
            found.take(_unless_summed(part.owner, [node for node in part.nodes if node in results]))

    def _look_at_called(self, around: ast.AST, found: Unseen) -> None:
        """What the functions begin that a loop or function calls, and what it sets to what these return."""
        for owner, call in self._calls_in(around):
            for called in self._functions.get(last_word(call.func), ()):
                self._take_of_called(found, owner, call, called, self._unseen_in(called))
            for called in self._handed.called_by(call):
                found.take((), read_in(arguments_of(call)))
                self._take_of_called(found, owner, call, called, self._unseen_in(called, whole=True))

    def _take_of_called(
        self, found: Unseen, owner: Owner | None, call: ast.Call, function: CallableNode, unseen: Unseen
    ) -> None:
        """What a function begins that others see, too: attributes, what it declares so, and what it is given."""
        declared = {name for n in nodes_in(function) if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names}
        arguments = function.args
        own = {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        given = read_in([*arguments_of(call), *_owner_of(call)])
        if isinstance(function, ast.Lambda):  # it has no names of its own but these
            declared = set().union(*unseen) - own
        is_set = owner is not None and not isinstance(owner, ast.AugAssign)  # which sums
        if is_set and owner is not None and GIVEN in unseen.begun and call in result_of(owner):
            found.take(_set_by(owner))
        for names, seen in zip(unseen, found, strict=True):
            seen.update(name for name in list(names) if "." in name or name in declared)
            if not own.isdisjoint(names):
                seen.update(given)


def _concerns(unseen: Unseen, grown: Names, around: ast.AST) -> bool:
    """Whether it trains with what is made of what grows, or begins anew that of which it is made in the next pass."""
    made = made_of(grown, around)
    if not made.isdisjoint(unseen.trained):
        return True
    return any(not grown.isdisjoint(made_of({name}, around)) for name in made & unseen.begun)


@kept
def _functions_of(tree: ast.Module) -> list[tuple[str, CallableNode]]:
    """The functions of a file by their names, and lambdas by what they are bound to."""
    found: list[tuple[str, CallableNode]] = []
    for node in nodes_in(tree):
        if isinstance(node, FUNCTIONS):
            found.append((node.name, node))
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Lambda):
            found += [(last_word(target), node.value) for target in targets_of(node)]
    return found


def _begun_at(node: ast.AST) -> Iterator[str]:
    """What is set to something else than a sum with what it was, deleted, or told to do something."""
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Return)) and node.value is not None:
        yield from _unless_summed(node, [node.value])
    elif isinstance(node, ast.NamedExpr):
        yield node.target.id
    elif isinstance(node, ast.Delete):
        yield from (name for target in node.targets for name in names_of(target))
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from (name for owner in _owner_of(node.value) for name in names_of(owner))


def _unless_summed(statement: Owner, values: Iterable[ast.AST]) -> Iterator[str]:
    """What a statement sets to something, unless that is what it was, or a sum with that."""
    for value in values:
        sides = (value.left, value.right) if isinstance(value, ast.BinOp) else (value,)
        was = set(map(spelled, sides))
        if isinstance(statement, (ast.Return, ast.Lambda)):
            yield GIVEN
        for target in targets_of(statement) if isinstance(statement, ast.stmt) else ():
            for each in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
                if spelled(each) not in was:
                    yield from names_of(each)


def _set_by(statement: Owner) -> Iterator[str]:
    if isinstance(statement, (ast.Return, ast.Lambda)):
        yield GIVEN
    else:
        yield from (name for target in targets_of(statement) for name in names_of(target))


def _owner_of(call: ast.Call) -> list[ast.expr]:
    return [call.func.value] if isinstance(call.func, ast.Attribute) else []


def _asked_of(statement: ast.stmt) -> Names:
    """The names of objects, but for that of the method itself, a method of which is called."""
    owners = [owner for n in nodes_in(statement) if isinstance(n, ast.Call) for owner in _owner_of(n)]
    roots = {root.id for root in map(root_of, owners) if isinstance(root, ast.Name)} - {"self"}
    return roots.union(*map(names_of, owners)) - {"self"}

