"""Whether a range has anything in it, as far as that follows from tests of its bounds: `if t > 0`, `range(t)`."""

from __future__ import annotations

from collections.abc import Hashable

from autodetach.machine.core import Core
from autodetach.machine.values import Opaque, Sym, Value


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


def _name(m: Core, value: Value) -> Hashable:
    """A value in the key of a test."""
    return value.key if isinstance(value, Sym) else m.key(value)


def _truth(value: Sym | Opaque) -> Hashable:
    return value.key if isinstance(value, Sym) else ("truth", value.number)


def _is_at_most(key: Hashable, number: int) -> bool:
    """Whether a constant, by its key, is a number that is no more than another one."""
    known = key[-1] if isinstance(key, tuple) and len(key) == 2 and key[0] == "c" else None
    return isinstance(known, (int, float)) and known <= number
