"""How far a range goes: whether it has anything in it, by tests of its bounds, and how long it is by default."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable

from autodetach.machine.core import Core
from autodetach.machine.values import Opaque, Sym, Value

COUNTED: dict[str, Callable[[int, int], int]] = {"Add": operator.add, "Sub": operator.sub, "Mult": operator.mul}
"""How a bound is computed of others, as in `range(1, args.steps + 1)`."""
LARGEST = 1 << 31
DEPTH = 4
"""Through how many operators: what is added to itself again and again doubles with each."""


def is_empty(m: Core, start: Value, stop: Value) -> bool:
    """Whether it was decided on this path that `stop` is no more than `start`: a range that counts up has no item."""
    if not isinstance(stop, (Sym, Opaque)) or not isinstance(start, (int, Sym, Opaque)):
        return False
    first, last = _name(m, start), _name(m, stop)
    settled = m.oracle.settled
    if settled(("Lt", first, last)) is False or settled(("LtE", last, first)) is True:
        return True
    if not isinstance(start, int):
        return settled(("==", first, last)) is True or settled(("==", last, first)) is True
    known = m.oracle.equal_to.get(last)
    if known is not None:
        return _is_at_most(known, start)
    if start >= 0 and settled(_truth(stop)) is False:  # `if not t`
        return True
    following = m.key(start + 1)
    return settled(("LtE", following, last)) is False or settled(("Lt", last, following)) is True


def usual_length(m: Core, start: Value, stop: Value, step: Value) -> int | None:
    """How long a range is, or would be without arguments on the command line; None where that is not known.

    By `--steps`, which is 1000 by default, a loop goes on for long: nobody unrolls as many steps of a network.
    """
    first, last, stride = (_usual_number(m, m.key(bound)) for bound in (start, stop, step))
    return None if first is None or last is None or not stride else len(range(first, last, stride))


def _usual_number(m: Core, key: Hashable, depth: int = 0) -> int | None:
    """What a value is by default, by its key, or what is computed of those."""
    known = m.oracle.by_default(key)
    if isinstance(known, tuple) and len(known) == 2 and known[0] == "c":
        return _of_usual_size(known[1])
    made = key[1] if isinstance(key, tuple) and len(key) == 2 and key[0] == "s" else None
    if depth >= DEPTH or not (isinstance(made, tuple) and len(made) == 3 and made[0] in COUNTED):
        return None
    left, right = _usual_number(m, made[1], depth + 1), _usual_number(m, made[2], depth + 1)
    return _of_usual_size(COUNTED[made[0]](left, right)) if left is not None and right is not None else None


def _of_usual_size(number: object) -> int | None:
    return number if type(number) is int and abs(number) < LARGEST else None


def _name(m: Core, value: Value) -> Hashable:
    """A value in the key of a test."""
    return value.key if isinstance(value, Sym) else m.key(value)


def _truth(value: Sym | Opaque) -> Hashable:
    return value.key if isinstance(value, Sym) else ("truth", value.number)


def _is_at_most(key: Hashable, number: int) -> bool:
    """Whether a constant, by its key, is a number that is no more than another one."""
    known = key[-1] if isinstance(key, tuple) and len(key) == 2 and key[0] == "c" else None
    return isinstance(known, (int, float)) and known <= number
