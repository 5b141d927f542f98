"""Tests that compare what counts the passes of a loop with how many there are, under a name or counted by hand, too."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from autodetach.kept import kept
from autodetach.machine.activations import Loops, Pass
from autodetach.machine.children import blocks_of, children_of, nodes_in, stands_in
from autodetach.machine.counted_keys import counter_of
from autodetach.machine.last_pass import MIRRORED
from autodetach.machine.mentions import bound_by
from autodetach.machine.remainders import RANGES, SHOWN, one_added_to, shown
from autodetach.machine.spelling import last_word, spelled
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import FUNCTIONS, LOOPS

DEPTH = 4
"""Through how many names a number is followed."""
LAST: dict[tuple[type[ast.cmpop], int], bool] = {
    (ast.Eq, 1): True, (ast.GtE, 1): True, (ast.Gt, 2): True,
    (ast.NotEq, 1): False, (ast.Lt, 1): False, (ast.LtE, 2): False,
}  # fmt: skip
"""Whether `i - n` and a number, compared with zero, is so in the last pass `i == n - 1` only, or in all but that."""
NUMBER = ""
"""What stands for one among the terms of a sum."""

Asks: TypeAlias = Literal["last", "others", "another loop", "unclear"]
"""A test is true in the last pass of a loop only, or in all but that, or asks for a loop around it, or for neither."""
Sum: TypeAlias = dict[str, int]
"""How often each term is added, by its text."""
Block = tuple[list[ast.stmt], int]


class _Difference(NamedTuple):
    """What a test compares with zero."""

    terms: Sum
    sign: type[ast.cmpop]
    is_turned: bool


class _Names(NamedTuple):
    """Where a function, or a file, sets each name, and what those are that it sets once."""

    stores: dict[str, list[ast.expr]]
    once: dict[str, tuple[ast.Name, ast.expr]]


def pass_by_length(test: ast.AST, loops: Loops, scope: ast.AST, *, of_last: bool) -> Pass | None:
    """The pass of the loop in whose last one a test is true only, or, if not `of_last`, in all but that."""
    if _sides(test) is None:
        return None
    known, own = _known(scope), _own_loops(scope)
    for current in reversed(loops):
        loop = current.activation.node
        if isinstance(loop, ast.For):
            if loop not in own:
                return None  # that of a caller, or around the function: its names are others
            if (test, loop) not in known:
                known[test, loop] = _asks(test, loop, scope)
            asks = known[test, loop]
            if asks != "another loop":
                return current if asks == ("last" if of_last else "others") else None
    return None


@kept
def _known(scope: ast.AST) -> dict[tuple[ast.AST, ast.For], Asks]:
    """What tests in loops of a function or file ask for, as far as that was looked at."""
    return {}


@kept
def _own_loops(scope: ast.AST) -> frozenset[ast.AST]:
    return frozenset(n for n in _own_nodes(scope) if isinstance(n, ast.For))


def _asks(test: ast.AST, loop: ast.For, scope: ast.AST) -> Asks:
    place = _places(loop).get(test)
    names = _names(scope)
    length = _length(loop, names) if place is not None else None
    if place is None or length is None:
        return "unclear"
    asked = _difference(test, loop, names)
    for counter in asked.terms if asked is not None else ():
        first = _first_value(counter, loop, place, scope)
        if asked is not None and first is not None and asked.terms[counter] in (1, -1):
            return _asks_of(asked, counter, first, length)
    return "another loop"


@kept
def _places(loop: ast.For) -> dict[ast.AST, int]:
    """In which statement of its body each node in a loop stands."""
    return {node: i for i, statement in enumerate(loop.body) for node in nodes_in(statement)}


def _asks_of(asked: _Difference, counter: str, first: Sum, length: Sum) -> Asks:
    """`counter` is `first` in the first pass."""
    times = asked.terms[counter]
    rest = {term: number for term, number in asked.terms.items() if term != counter}
    rest = _added(_added(rest, first, times), length, times)
    number = rest.pop(NUMBER, 0)
    sign = asked.sign if times == 1 else MIRRORED.get(asked.sign, asked.sign)
    is_last = LAST.get((sign, number * times))
    if any(rest.values()) or is_last is None:
        return "unclear"
    return "last" if is_last is not asked.is_turned else "others"


@kept
def _sides(test: ast.AST) -> tuple[ast.Compare, bool] | None:
    """A comparison of two numbers, and whether its outcome is turned."""
    is_turned = False
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, is_turned = test.operand, not is_turned
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    return (test, is_turned) if (type(test.ops[0]), 1) in LAST or (type(test.ops[0]), 2) in LAST else None


def _difference(test: ast.AST, loop: ast.For, names: _Names) -> _Difference | None:
    sides = _sides(test)
    if sides is None:
        return None
    compared, is_turned = sides
    left, right = _sum(compared.left, loop, names), _sum(compared.comparators[0], loop, names)
    if left is None or right is None:
        return None
    return _Difference(_added(left, right, -1), type(compared.ops[0]), is_turned)


def _sum(node: ast.expr, loop: ast.For, names: _Names, depth: int = DEPTH) -> Sum | None:
    """The terms of a sum; what a name stands for that is set once, in its place."""
    if isinstance(node, ast.Constant):
        return {NUMBER: node.value} if type(node.value) is int else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        left, right = _sum(node.left, loop, names, depth), _sum(node.right, loop, names, depth)
        return None if left is None or right is None else _added(left, right, 1 if isinstance(node.op, ast.Add) else -1)
    if isinstance(node, ast.Name) and node.id in names.once and depth:
        target, value = names.once[node.id]
        found = _sum(value, loop, names, depth - 1)
        return {node.id: 1} if found is None or _is_set_between(value, target, loop, names) else found
    if isinstance(node, ast.Call) and spelled(node.func) == "len" and len(node.args) == 1:
        return {_length_of(node.args[0], names): 1}
    return {spelled(node): 1} if isinstance(node, (ast.Name, ast.Attribute)) else None


def _is_set_between(value: ast.expr, target: ast.Name, loop: ast.For, names: _Names) -> bool:
    """Whether something of a value is set anew after it was read, and before the loop begins."""
    parts = {spelled(n) for n in nodes_in(value) if isinstance(n, (ast.Name, ast.Attribute))}
    return any(_at(target) < _at(store) < _at(loop) for part in parts for store in names.stores.get(part, ()))


def _added(left: Sum, right: Sum, times: int) -> Sum:
    terms = [*left, *(term for term in right if term not in left)]
    return {term: left.get(term, 0) + times * right.get(term, 0) for term in terms}


def _length(loop: ast.For, names: _Names) -> Sum | None:
    """How many passes a loop has at most."""
    items = _items(loop.iter, names)
    if not isinstance(items, ast.Call):
        return {_length_of(items, names): 1}
    if last_word(items.func) not in RANGES:
        return {_length_of(items.args[0], names): 1} if spelled(items.func) == "enumerate" and items.args else None
    if items.keywords or len(items.args) not in (1, 2):
        return None
    sums = [_sum(bound, loop, names) for bound in items.args]
    first, last = sums[0], sums[-1]
    if first is None or last is None:
        return None
    return last if len(sums) == 1 else _added(last, first, -1)


def _length_of(items: ast.expr, names: _Names) -> str:
    return f"len({spelled(_items(items, names))})"


def _items(node: ast.expr, names: _Names) -> ast.expr:
    """What a loop goes over, without what shows how far it has come."""
    node = shown(node)
    value = names.once[node.id][1] if isinstance(node, ast.Name) and node.id in names.once else None
    return shown(value) if isinstance(value, ast.Call) and last_word(value.func) in SHOWN else node


def _first_value(counter: str, loop: ast.For, place: int, scope: ast.AST) -> Sum | None:
    """What a name is in the first pass where the statement at a place of the body stands, if each pass adds one."""
    if _stored_in(loop)[counter] != 1:
        return None
    if counter_of(loop) == counter:
        return _start(shown(loop.iter))
    step = next((i for i, statement in enumerate(loop.body) if one_added_to(statement) == counter), None)
    begins = _value_before(counter, _way_to(loop, scope)) if step is not None and step != place else None
    return None if begins is None or step is None else {NUMBER: begins + (step < place)}


@kept
def _stored_in(loop: ast.For) -> Counter[str]:
    """How often each name is set in a loop."""
    return Counter(n.id for n in nodes_in(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def _start(items: ast.expr) -> Sum | None:
    """The first number of `enumerate(items, 1)`, or of a range."""
    if not isinstance(items, ast.Call):
        return None
    given = items.args[1:2] if spelled(items.func) == "enumerate" else items.args[:1] if len(items.args) == 2 else []
    given = given + [keyword.value for keyword in items.keywords if keyword.arg == "start"]
    if len(given) > 1 or len(items.args) > 2:
        return None
    number = given[0].value if given and isinstance(given[0], ast.Constant) else None if given else 0
    return {NUMBER: number} if type(number) is int else None


def _way_to(loop: ast.For, scope: ast.AST) -> list[Block]:
    """The blocks around a loop that begin anew each time it does, the innermost first, and where it stands in each."""
    found: list[Block] = []
    within: ast.AST | None = scope
    while within is not None and within is not loop:
        if isinstance(within, LOOPS):
            found = []
        places = ((s, (block, i)) for block in blocks_of(within) for i, s in enumerate(block))
        within, block = next((place for place in places if stands_in(loop, place[0])), (None, None))
        if block is not None:
            found.append(block)
    return found[::-1] if within is loop else []


def _value_before(counter: str, way: list[Block]) -> int | None:
    """The number that a name was set to last, in front of where a way leads."""
    for block, index in way:
        for statement in reversed(block[:index]):
            if all(spelled(n) != counter for n in nodes_in(statement) if _is_stored(n)):
                continue
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            value = statement.value if isinstance(statement, ast.Assign) else None
            is_set = any(isinstance(target, ast.Name) and target.id == counter for target in targets)
            number = value.value if is_set and isinstance(value, ast.Constant) else None
            return number if type(number) is int else None
    return None


@kept
def _names(scope: ast.AST) -> _Names:
    stores: dict[str, list[ast.expr]] = {}
    set_to: dict[str, tuple[ast.Name, ast.expr]] = {}
    for node in _own_nodes(scope):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            stores.setdefault(spelled(node), []).append(node)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            set_to[node.targets[0].id] = node.targets[0], node.value
    given = {node.arg for node in nodes_in(getattr(scope, "args", ast.Pass())) if isinstance(node, ast.arg)}
    for node in nodes_in(scope):
        given.update(_bound_otherwise(node))
    once = {name: found for name, found in set_to.items() if len(stores[name]) == 1 and name not in given}
    return _Names(stores, once)


def _bound_otherwise(node: ast.AST) -> Iterable[str]:
    """The names that something binds, or may bind, in another way than by an assignment."""
    match node:
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return names
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return [bound_by(node, alias) for alias in aliases]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return [name]
        case ast.MatchMapping(rest=str(name)):
            return [name]
    return ()


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """What is in a function, or a file, without the functions and classes in it, whose names are others."""
    pending = children_of(scope)
    while pending:
        node = pending.pop()
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield node
            pending += children_of(node)


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store)


def _at(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset
