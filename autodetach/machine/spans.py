"""Between which numbers one is that is not known, as a counter of a loop behind its first pass, or what is made of it.

In `for i in range(12)`, `i * 2 == 0` and `i % 12 == 0` and `12 - i == 12` are true in the first pass, and in no other.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from autodetach.machine.values import Span, Sym, Value

HUGE = 1 << 64
"""How far from zero the ends are told apart."""
MIRRORED = {"Gt": "Lt", "GtE": "LtE"}
"""Which comparison says the same with its sides the other way round."""
MOST_RAISED = 64
"""No greater number is raised to a power, nor to a greater one."""


def span_of(value: Value) -> Span | None:
    """The least and the greatest that a value may be, None where nothing is known of it, or it may be no number."""
    if isinstance(value, (int, float)):
        return None if value != value else _of_usual_size(Span(value, value))
    if not isinstance(value, Sym) or value.kind != "number":
        return None
    return value.span if value.span is not None or value.lo is None else Span(value.lo, math.inf)


def truth_of(value: Value) -> bool | None:
    """Whether a number is another one than zero."""
    span = span_of(value)
    if span is None or span.least <= 0 <= span.most:
        return False if span == (0, 0) else None
    return True


def outcome_of(op: str, left: Value, right: Value) -> bool | None:
    """The outcome of a comparison of two numbers, where it is the same whatever they are."""
    a, b = span_of(left), span_of(right)
    if a is None or b is None:
        return None
    if op in MIRRORED:
        op, a, b = MIRRORED[op], b, a
    is_one = a == b and a.least == a.most
    is_apart = a.most < b.least or b.most < a.least
    surely, never = {
        "Lt": (a.most < b.least, b.most <= a.least),
        "LtE": (a.most <= b.least, b.most < a.least),
        "Eq": (is_one, is_apart),
        "NotEq": (is_apart, is_one),
    }.get(op, (False, False))
    return surely if surely or never else None


def whole(span: Span) -> Span:
    """That of `int(n)`."""
    least, most = (end if math.isinf(end) else int(end) for end in span)
    return Span(least, most)


def span_made(op: str, left: Value, right: Value) -> Span | None:
    """That of the result of an operator."""
    made = MADE.get(op)
    a, b = (span_of(left), span_of(right)) if made is not None else (None, None)
    found = made(a, b) if made is not None and a is not None and b is not None else None
    return None if found is None or math.isnan(found.least) or math.isnan(found.most) else _of_usual_size(found)


def _sum(a: Span, b: Span) -> Span:
    return Span(a.least + b.least, a.most + b.most)


def _difference(a: Span, b: Span) -> Span:
    return Span(a.least - b.most, a.most - b.least)


def _product(a: Span, b: Span) -> Span:
    ends = [one * other if one and other else 0 for one in a for other in b]
    return Span(min(ends), max(ends))


def _quotient(a: Span, b: Span) -> Span | None:
    return Span(a.least / b.least, a.most / b.least) if _is_positive(b) else None


def _whole_quotient(a: Span, b: Span) -> Span | None:
    if not _is_positive(b):
        return None
    least, most = (end if math.isinf(end) else end // b.least for end in a)
    return Span(least, most)


def _remainder(a: Span, b: Span) -> Span | None:
    if not _is_positive(b):
        return None
    return a if a.least >= 0 and a.most < b.least else Span(0, b.least)


def _power(a: Span, b: Span) -> Span | None:
    if a.least < 1 or b.least < 0:
        return None
    least, most = (_raised(a.least, b.least), _raised(a.most, b.most))
    return None if least is None else Span(least, math.inf if most is None else most)


def _raised(base: float, exponent: float) -> float | None:
    is_small = base <= MOST_RAISED and exponent <= MOST_RAISED
    return base**exponent if is_small else None


def _is_positive(span: Span) -> bool:
    """Whether it is one number above zero."""
    return span.least == span.most and span.least > 0


def _of_usual_size(span: Span) -> Span:
    """The same, or a wider one: integers of any size are not mixed with fractions."""
    least = -math.inf if span.least < -HUGE else min(span.least, HUGE)
    return Span(least, math.inf if span.most > HUGE else max(span.most, -HUGE))


MADE: dict[str, Callable[[Span, Span], Span | None]] = {
    "Add": _sum, "Sub": _difference, "Mult": _product, "Div": _quotient, "FloorDiv": _whole_quotient,
    "Mod": _remainder, "Pow": _power,
}  # fmt: skip
