"""Where a number is told from a tensor, or leaves for what is not followed: none may come in the place of a tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from autodetach.machine.core import Core, tags_in
from autodetach.machine.events import Escape
from autodetach.machine.graph import Site
from autodetach.machine.passed_counts import ONLY_PASSED, may_be_none
from autodetach.machine.program_values import External
from autodetach.machine.spelling import called_name
from autodetach.machine.told_of_values import TRUTH, is_number, is_truth, may_be_no_tensor
from autodetach.machine.values import FROM_NUMBER, PASSED, Opaque, Sym, Tensor, Value

NUMBERS = frozenset("int float bool complex Number Complex Real Rational Integral ndarray".split())
"""Types of what has no history, numbers and arrays of them."""
OF_HISTORY = "#of history"
"""Marks the type of something that was differentiated."""
RAISING = frozenset({"Div", "FloorDiv", "Mod", "Pow"})
"""Operators by which Python raises an error for some numbers of which tensors give `inf` or `nan`."""
FRACTION = "#fraction"
"""A tag of numbers that were read from tensors which may be no counts: divided by one of these, a sum may raise."""
ROUNDED = "#rounded"
"""A tag of sums of such numbers: in double precision, their last digits are others than those of tensors."""
HARMLESS_POWERS = (0, 1, 2, 3, 4)
"""Exponents that no number which was a tensor is too great for, and no negative one is refused."""
SCRIPTED = "#scripted"
"""Marks a function that PyTorch compiles: what it takes for a tensor must be one."""


def wanted(m: Core, values: Iterable[Value], site: Site, how: str) -> None:
    """Some values go where a tensor may be wanted: which `.item()` gave the numbers among them is noted."""
    tags: set[object] = set()
    for value in values:  # asked of all that PyTorch is given, most of which is tensors
        if type(value) is not Tensor and type(value) is not Opaque:
            tags |= tags_in(value)
    if tags:
        m.escapes.append(Escape((), site, m.tick(), how, frozenset(tags)))


def wanted_of_number(m: Core, value: Value, site: Site, how: str) -> None:
    """What no number has is asked of something: if it is one for certain, a tensor may have been meant."""
    if type(value) is Sym and value.tags and (is_number(value) or is_truth(value)):
        wanted(m, [value], site, how)


def converted(value: Sym, site: Site) -> frozenset[object]:
    """What tells the number that is made of another one, as it would be made of the tensor in its place."""
    if value.kind == "str":
        return truth_of_sums([value])
    return frozenset({site.node, *(value.tags & {FRACTION, ROUNDED, PASSED})}) if value.tags else value.tags


def of_sums(values: Iterable[Value]) -> frozenset[object]:
    """What is left to tell of sums in what Python makes of them, which is the same of numbers and of tensors."""
    tags = frozenset(tag for value in values for tag in tags_in(value))
    return tags & {FRACTION, ROUNDED} if ROUNDED in tags else frozenset()


def truth_of_sums(values: Iterable[Value]) -> frozenset[object]:
    """The same in a truth that Python makes of them, or in a text."""
    return of_sums(values) - {FRACTION}


def asked_for_type(m: Core, value: Value, site: Site) -> None:
    """The type of a value is asked, and a tensor would answer otherwise than a number does."""
    if type(value) is Sym and value.tags and (is_truth(value) or not (m.trail and _is_converted(m, site.node))):
        wanted(m, [value], site, "type")


def tags_of(t: Tensor | None, site: Site) -> frozenset[object]:
    """What tells a number that is read at a place: of a tensor of integers it is taken for a count."""
    tags: set[object] = {site.node} if t is not None and t.is_float is False else {site.node, FRACTION}
    if t is not None and t.extras is not None and sum_in(t) is not None:
        tags.add(ROUNDED)
    if t is not None and t.extras is not None and PASSED in t.extras:
        tags.add(PASSED)
    return frozenset(tags)


def of_truth(m: Core, truth: Value, left: Value, right: Value) -> Value:
    """What a comparison gives: where it compares such a number, a tensor in its place would give one of `bool`."""
    if type(truth) is not Sym:
        return truth
    tags = frozenset(tag for side in (left, right) if type(side) is Sym for tag in side.tags) - {FRACTION, PASSED}
    return m.sym(truth.key, truth.kind, None, tags) if tags else truth


def are_truths(left: Value, right: Value) -> bool:
    """Whether both are True or False, of numbers or of tensors."""
    return all(type(side) is bool or (type(side) is Sym and side.kind in (TRUTH, "bool")) for side in (left, right))


def number_in(value: Value) -> Sym | None:
    """The number by whose place it is known where a value comes from, if it is one, or has been computed from one."""
    if type(value) is Opaque:
        value = value.attrs.get(FROM_NUMBER)
    return value if type(value) is Sym and value.tags and value.tags != ONLY_PASSED else None


def sum_in(value: Value) -> Sym | None:
    """The sum of numbers that something is, or that a tensor was computed from or compared with."""
    if type(value) is Tensor:
        value = value.extras.get(FROM_NUMBER) if value.extras is not None else None
    elif type(value) is Opaque:
        value = value.attrs.get(FROM_NUMBER)
    return value if type(value) is Sym and ROUNDED in value.tags else None


def marked(made: Tensor, *values: Value, is_truth: bool = False) -> None:
    """Have a tensor know of which sum of numbers it was made; what compares it with one tells how that went."""
    number = next((found for value in values if (found := sum_in(value)) is not None), None)
    if number is None:
        return
    if is_truth:
        number = Sym(number.key, TRUTH, None, number.tags - {FRACTION})
    made.extras = (made.extras or {}) | {FROM_NUMBER: number}


def made_of_sums(m: Core, made: Tensor, values: Iterable[Value]) -> None:
    """Have a tensor know that sums of numbers are among the values that it holds."""
    tags = frozenset(tag for value in values for tag in tags_in(value))
    if ROUNDED in tags:
        made.extras = (made.extras or {}) | {FROM_NUMBER: m.fresh("number", tags=tags)}


def computed(m: Core, op: str, left: Value, right: Value, site: Site) -> None:
    """An operator of `RAISING` is applied: by zero, or to what has no such power, a tensor would answer otherwise."""
    if any(type(side) is Opaque and not may_be_no_tensor(side) for side in (left, right)):
        return  # of a tensor and a number, it gives what it gives of two tensors
    one, other = number_in(left), number_in(right)
    if op == "Pow":
        read = [] if right in HARMLESS_POWERS else [one, other]
    elif type(left) is str or (type(left) is Sym and left.kind == "str"):
        return  # a text is formatted
    else:
        read = [one, other] if _may_be_zero(m, other, right) or _is_zero(right, site.node) else []
    values = [number for number in read if number is not None]
    if any(FRACTION in number.tags for number in values):
        wanted(m, values, site, op)


def _may_be_zero(m: Core, divisor: Sym | None, value: Value) -> bool:
    if divisor is not None and FRACTION in divisor.tags and (divisor.lo is None or divisor.lo <= 0):
        return True
    return may_be_none(m.oracle, value)


def _is_zero(divisor: Value, node: ast.AST) -> bool:
    """Whether it is zero in this pass; nobody divides by the length of what is empty, what is in it is not known."""
    if not isinstance(divisor, (int, float)) or divisor != 0:
        return False
    written = node.right if isinstance(node, ast.BinOp) else getattr(node, "value", None)
    return called_name(written) != "len" if isinstance(written, ast.expr) else True


def is_differentiated(value: Value) -> bool:
    """Whether something of which nothing else is known was differentiated: it is a tensor, or what holds some."""
    if not isinstance(value, Opaque) or value.node is None:
        return False
    return bool(value.node.walked_by) and not value.node.weak


def are_apart(left: Value, right: Value) -> bool:
    """Whether one is the type of something that was differentiated, and the other one that of numbers."""
    pairs = ((left, right), (right, left))
    return any(
        isinstance(a, Opaque) and OF_HISTORY in a.attrs and isinstance(b, External) and b.name in NUMBERS
        for a, b in pairs
    )


def _is_converted(m: Core, test: ast.AST) -> bool:
    """Whether a test only chooses how the value is made a number."""
    from autodetach.machine.converters import only_converts

    statement, frame = m.trail[-1]
    function = frame.function.node if frame.function is not None else None
    block = getattr(function, "body", None) or next(([at] for at, there in m.trail if there is frame), [])
    return only_converts(block if isinstance(block, list) else [], statement, function, test)
