"""Tests of the remainder of a counter, as they are written: `i % k == 0`, `not i % k`, `(i + 1) % k != 0`."""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.children import nodes_in
from autodetach.machine.spelling import is_dotted, last_word, spelled
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import LOOPS

DEPTH = 4
"""Through how many names a test is followed, and how many operators."""
RANGES = frozenset({"range", "trange"})
SHOWN = frozenset({"tqdm", "track"})
"""What shows how far a loop has come, and gives what it is given."""


class Remainder(NamedTuple):
    """A test whether a counter has a remainder, or whether it has `another` one.

    `value` is that of the counter as each pass of its `loop` begins; where it is negative, as counted from the divisor.
    """

    counter: str
    divisor: ast.expr
    value: int
    another: bool
    loop: ast.AST | None


class _Counts(NamedTuple):
    """What a function, or a file, does to names: what it sets once, where it adds one, and what it sets `otherwise`."""

    once: dict[str, ast.expr]
    counted: dict[str, list[ast.stmt]]
    loops: list[ast.AST]
    otherwise: frozenset[str]


def may_ask(test: ast.AST) -> bool:
    """Whether a test is one of those that may ask for a remainder; most are not."""
    if isinstance(test, ast.BoolOp):
        return may_ask(test.values[-1])
    if isinstance(test, ast.UnaryOp):
        return may_ask(test.operand)
    if isinstance(test, ast.Compare):
        return len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.NotEq))
    return isinstance(test, ast.Name) or (isinstance(test, ast.BinOp) and isinstance(test.op, ast.Mod))


def remainder_asked(test: ast.AST, scope: ast.AST) -> Remainder | None:
    """What a test asks for, in the function or the file where it stands."""
    counts = _counts(scope)
    found = _asked(test, counts, DEPTH)
    if found is None or found.counter in counts.otherwise:
        return None
    steps = counts.counted.get(found.counter, [])
    if len(steps) > 1:
        return None
    for step in steps:
        loop = _innermost(step, counts.loops)
        is_behind = (loop is None or _is_in(test, loop)) and _begin(step) < _begin(test)
        return found._replace(value=found.value - is_behind, loop=loop)
    return found


def _asked(node: ast.AST, counts: _Counts, depth: int) -> Remainder | None:
    if not depth:
        return None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = _asked(node.operand, counts, depth - 1)
        return None if inner is None else inner._replace(another=not inner.another)
    if isinstance(node, ast.BoolOp):  # the others have gone the way that leads to the last
        return _asked(node.values[-1], counts, depth - 1)
    if isinstance(node, ast.Name):
        value = counts.once.get(node.id)
        return None if value is None else _asked(value, counts, depth - 1)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return _compared(node, counts, depth)
    return divided(node)


def _compared(node: ast.Compare, counts: _Counts, depth: int) -> Remainder | None:
    sides = node.left, node.comparators[0]
    for left, right in (sides, sides[::-1]):
        inner = _asked(left, counts, depth - 1) if not isinstance(left, (ast.Compare, ast.UnaryOp)) else None
        value = _offset(right, spelled(inner.divisor)) if inner is not None else None
        if inner is not None and inner.another and value is not None:
            return inner._replace(value=inner.value + value, another=isinstance(node.ops[0], ast.NotEq))
    return None


def divided(node: ast.AST) -> Remainder | None:
    """`(i + 1) % k`: true where there is a remainder."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mod):
        return None
    counter, ahead = node.left, 0
    if isinstance(counter, ast.BinOp) and isinstance(counter.op, (ast.Add, ast.Sub)):
        more = _number(counter.right)
        if more is None:
            return None
        ahead = more if isinstance(counter.op, ast.Add) else -more
        counter = counter.left
    return Remainder(spelled(counter), node.right, -ahead, True, None) if is_dotted(counter) else None


def _offset(node: ast.expr, divisor: str) -> int | None:
    """A number that is written, or `k - 1`, which is -1."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and spelled(node.left) == divisor:
        less = _number(node.right)
        return None if less is None else -less
    return _number(node)


def _number(node: ast.expr) -> int | None:
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


@kept
def _counts(scope: ast.AST) -> _Counts:
    once: dict[str, ast.expr] = {}
    counted: dict[str, list[ast.stmt]] = {}
    loops: list[ast.AST] = []
    stored: list[str] = []
    counting: set[str] = set()
    drawn: set[str] = set()
    for node in nodes_in(scope):
        if isinstance(node, LOOPS):
            loops.append(node)
            if isinstance(node, (ast.For, ast.AsyncFor)):
                counter = _counter(node.target, node.iter)
                counting.update(counter)
                drawn.update({spelled(n) for n in nodes_in(node.target) if is_dotted(n)}.difference(counter))
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            stored.append(spelled(node))
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            once.update(_parts(target, value))
        if isinstance(node, (ast.Assign, ast.AugAssign)) and (name := one_added_to(node)):
            counted.setdefault(name, []).append(node)
    once = {name: value for name, value in once.items() if stored.count(name) == 1}
    return _Counts(once, counted, loops, frozenset(stored).difference(counting, counted) | drawn)


def _counter(target: ast.expr, items: ast.expr) -> set[str]:
    """The name that `range(n)`, `enumerate(items)` or `zip(range(n), items)` counts up by one; none of any other."""
    items = shown(items)
    if not isinstance(items, ast.Call):
        return set()
    called, given = last_word(items.func), items.args
    if called in RANGES:
        by_one = len(given) < 3 or _number(given[2]) == 1
        return {target.id} if by_one and isinstance(target, ast.Name) else set()
    if called not in ("enumerate", "zip") or not isinstance(target, ast.Tuple) or not target.elts:
        return set()
    first = target.elts[0]
    if called == "zip":
        return _counter(first, given[0]) if given else set()
    return {first.id} if isinstance(first, ast.Name) else set()


def shown(items: ast.expr) -> ast.expr:
    """What a progress bar goes over: `loader` of `tqdm(loader)`."""
    while isinstance(items, ast.Call) and last_word(items.func) in SHOWN and items.args:
        items = items.args[0]
    return items


def _parts(target: ast.expr, value: ast.expr) -> dict[str, ast.expr]:
    """What names are set to, as `q` and `r` of `q, r = divmod(i, k)`."""
    if isinstance(target, ast.Name):
        return {target.id: value}
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Call) or spelled(value.func) != "divmod":
        return {}
    rest = target.elts[-1]
    if len(target.elts) != 2 or len(value.args) != 2 or not isinstance(rest, ast.Name):
        return {}
    return {rest.id: ast.copy_location(ast.BinOp(value.args[0], ast.Mod(), value.args[1]), value)}


def one_added_to(statement: ast.stmt) -> str:
    """What a statement adds one to, `step += 1` or `step = step + 1`, as it is spelled; empty of any other."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add) and _number(statement.value) == 1:
        return spelled(statement.target)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    name = spelled(statement.targets[0])
    return name if _is_one_more(statement.value, name) else ""


def _is_one_more(value: ast.expr, name: str) -> bool:
    """`step + 1`"""
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return False
    return spelled(value.left) == name and _number(value.right) == 1


def _innermost(node: ast.stmt, loops: list[ast.AST]) -> ast.AST | None:
    return max((loop for loop in loops if _is_in(node, loop)), key=_begin, default=None)


def _is_in(node: ast.AST, loop: ast.AST) -> bool:
    return _begin(loop) <= _begin(node) <= (getattr(loop, "end_lineno", 0), getattr(loop, "end_col_offset", 0))


def _begin(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
