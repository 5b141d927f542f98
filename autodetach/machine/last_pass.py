"""Tests of a counter that are true in one pass of a loop, as in its last one: `i + 1 == n` in `for i in range(n)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.kept import kept
from autodetach.machine.activations import Loops, Pass
from autodetach.machine.children import nodes_in
from autodetach.machine.counted_keys import counter_of
from autodetach.machine.delays import delay_of
from autodetach.machine.remainders import RANGES, divided, one_added_to, shown
from autodetach.machine.spelling import last_word, spelled
from autodetach.named_tuples import NamedTuple

LAST = (ast.Eq, ast.GtE)
GOES_ON = (ast.NotEq, ast.Lt)
MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Lt: ast.Gt, ast.Gt: ast.Lt}
"""Which sign says the same with its sides the other way round, if it is not itself."""
ZERO = "0"
"""The bound of what counts down."""
OF_ZERO: dict[tuple[type[ast.cmpop], object], bool] = {
    (ast.Eq, 0): True, (ast.LtE, 0): True, (ast.Lt, 1): True,
    (ast.NotEq, 0): False, (ast.Gt, 0): False, (ast.GtE, 1): False,
}  # fmt: skip
"""Whether a number that counts down to zero has come there where it is compared with another one, or has not."""


class _Asked(NamedTuple):
    """What a test of the end of a loop compares, and whether it is true in the last pass, or in all but that."""

    counter: str
    bound: str
    of_last: bool


def goes_on_after(test: ast.AST, loops: Loops) -> Pass | None:
    """The pass of whose loop a test asks whether another one follows."""
    return _pass_asked_for(test, loops, of_last=False)


def ends_with(test: ast.AST, loops: Loops) -> Pass | None:
    """The pass of whose loop a test asks whether it is the last one: `if i + 1 == n:`, `if i >= n - 1:`."""
    return _pass_asked_for(test, loops, of_last=True)


def _pass_asked_for(test: ast.AST, loops: Loops, *, of_last: bool) -> Pass | None:
    asked = _counter_and_bound(test)
    if asked is None or asked.of_last is not of_last:
        return None
    for current in reversed(loops):
        loop = current.activation.node
        if counter_of_loop(loop) == asked.counter:
            return current if asked.bound == _bound_of(loop) else None
    return None


def once_in(test: ast.AST, loops: Loops) -> Pass | None:
    """The pass of the loop in one pass of which a test is true at most: `if i == 7:`, `if n - i == 1:`, `if not i:`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Name):
        asked = {test.operand.id}
    elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        asked = {name for side in (test.left, test.comparators[0]) for name in _added_in(side)}
    else:
        return None
    current = next((c for c in reversed(loops) if not asked.isdisjoint(_counters_in(c))), None)
    loop = current.activation.node if current is not None else None
    named = {spelled(n) for n in nodes_in(test) if isinstance(n, (ast.Name, ast.Attribute))}
    # `i - last == 3` is true again and again where `last` follows.
    return current if loop is not None and named.isdisjoint(_set_in(loop)) else None


@kept
def _set_in(loop: ast.AST) -> frozenset[str]:
    """What a loop sets besides its counter, by its text."""
    targets = (n for n in nodes_in(loop) if isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Store))
    return frozenset({spelled(target) for target in targets} - _counters_of(loop))


def _counters_in(current: Pass) -> frozenset[str]:
    loop = current.activation.node
    return _counters_of(loop) if loop is not None else frozenset()


@kept
def _counters_of(loop: ast.AST) -> frozenset[str]:
    """The names that count the passes of a loop: that of its head, and those to which only one statement adds one."""
    head = counter_of_loop(loop)
    names = set() if head is None else {head}
    if isinstance(loop, ast.For):
        stored = [n.id for n in nodes_in(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        names.update(name for name in map(one_added_to, loop.body) if stored.count(name) == 1)
    return frozenset(names)


def counter_of_loop(loop: ast.AST | None) -> str | None:
    """The name that counts the passes of a loop, of one with `while`, too."""
    from autodetach.machine.counted_loops import counted

    if isinstance(loop, ast.For):
        return counter_of(loop) or None
    found = counted(loop) if isinstance(loop, ast.While) else None
    return spelled(found.counter) if found is not None and isinstance(found.counter, ast.Name) else None


def _added_in(side: ast.expr) -> Iterator[str]:
    """The names in what others are added to or taken from."""
    if isinstance(side, ast.BinOp) and isinstance(side.op, (ast.Add, ast.Sub)):
        yield from _added_in(side.left)
        yield from _added_in(side.right)
    elif isinstance(side, ast.Name):
        yield side.id


def may_be_last(current: Pass, passes: int) -> bool:
    """Whether none follows of those that are executed, which are so many for most loops."""
    loop = current.activation.node
    is_usual = isinstance(loop, ast.For) and delay_of(loop) <= 1 and not current.activation.skipped
    return is_usual and current.index >= passes - 1


def asks_for_last(test: ast.AST | None) -> bool:
    """`i == n - 1`, `i + 1 == n`: whether a test of a counter is true in the last pass, and in no other."""
    asked = _counter_and_bound(test) if test is not None else None
    return asked is not None and asked.of_last and asked.bound != ZERO


@kept
def _counter_and_bound(test: ast.AST) -> _Asked | None:
    """`i` and `n` of `i != n - 1`, `i + 1 < n`, `n - i == 1` and `not i == n - 1`, and of `i == len(items)`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        asked = _counter_and_bound(test.operand)
        return None if asked is None else asked._replace(of_last=not asked.of_last)
    if isinstance(test, ast.Name):
        return _Asked(test.id, ZERO, False)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    left, sign, right = test.left, type(test.ops[0]), test.comparators[0]
    mirrored = MIRRORED.get(sign, sign)
    for one, other, as_here in ((left, right, sign), (right, left, mirrored)):
        counter, bound = one, other
        if isinstance(other, ast.Constant) and (as_here, other.value) in OF_ZERO:
            return _Asked(spelled(counter), ZERO, OF_ZERO[as_here, other.value])
        if (inner := without_one(one, ast.Add)) is not None:
            counter = inner
        elif (inner := without_one(other, ast.Sub)) is not None:
            bound = inner
        elif isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub) and _is_one(other):
            counter, bound, as_here = one.right, one.left, MIRRORED.get(as_here, as_here)
        elif as_here is ast.Eq and _is_length(other):  # what counts from one
            pass
        else:
            continue
        if as_here in LAST or as_here in GOES_ON:
            return _Asked(spelled(counter), spelled(bound), as_here in LAST)
    return None


@kept
def remainder_or_last(test: ast.AST) -> ast.expr | None:
    """`(i + 1) % k == 0` of `(i + 1) % k == 0 or i + 1 == n`, which also ends the part of a window at the end."""
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.Or) or len(test.values) != 2:
        return None
    for remainder, last in (test.values, test.values[::-1]):
        counter = _divided_by(remainder)
        asked = _counter_and_bound(last) if counter else None
        if asked is not None and asked.of_last and asked.counter == counter:
            return remainder
    return None


def _divided_by(test: ast.expr) -> str:
    """The counter of `(i + 1) % k == 0`, and of `not i % k`."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        test = test.left
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    else:
        return ""
    asked = divided(test)
    return asked.counter if asked is not None else ""


def without_one(side: ast.expr, sign: type[ast.operator]) -> ast.expr | None:
    """`n` of `n - 1`, and of `n + 1`."""
    if not isinstance(side, ast.BinOp) or not isinstance(side.op, sign):
        return None
    return side.left if _is_one(side.right) else None


def _is_length(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and spelled(node.func) == "len" and len(node.args) == 1


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def _bound_of(loop: ast.AST | None) -> str:
    """`n` of `range(n)`, `len(items)` of `enumerate(items)`, and zero of what counts down to it; empty of all else."""
    from autodetach.machine.counted_loops import counted

    if isinstance(loop, ast.While):
        found, step = counted(loop), loop.body[-1]
        goes_below = isinstance(loop.test, ast.Compare) and isinstance(loop.test.ops[0], (ast.Lt, ast.NotEq))
        if found is None or found.step != 1 or not goes_below or not isinstance(step, ast.AugAssign):
            return ""
        return spelled(found.limit) if spelled(step.target) == spelled(found.counter) else ""
    call = shown(loop.iter) if isinstance(loop, ast.For) else None
    if not isinstance(call, ast.Call) or call.keywords:
        return ""
    if spelled(call.func) == "enumerate" and len(call.args) == 1:
        return f"len({spelled(shown(call.args[0]))})"
    if _is_down_to_zero(call):
        return ZERO
    return spelled(call.args[-1]) if last_word(call.func) in RANGES and len(call.args) in (1, 2) else ""


def _is_down_to_zero(call: ast.Call) -> bool:
    """`range(n - 1, -1, -1)`, or `reversed(range(n))`."""
    if last_word(call.func) in RANGES:
        return len(call.args) == 3 and [spelled(bound) for bound in call.args[1:]] == ["-1", "-1"]
    inner = call.args[0] if spelled(call.func) == "reversed" and call.args else None
    if not isinstance(inner, ast.Call) or last_word(inner.func) not in RANGES:
        return False
    return len(inner.args) == 1 or (len(inner.args) == 2 and spelled(inner.args[0]) == "0")
