"""What an iterator has behind the first few items that is unlike these, see `unlike`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.program_values import Iterable
from autodetach.machine.unlike import MAX_LOOKED_AT, unlike
from autodetach.machine.values import PASSED, Mapping, Opaque, Sequence, Sym, Tensor, Value

Others = Callable[[int], Iterator[Value]]
"""Gives those that are unlike the first items, of which it is told how many there are."""
COUNTING = frozenset({"endless", "range"})
CALLING = frozenset({"dropwhile", "filter", "map", "starmap", "takewhile"})
"""What asks functions for each item."""
MAX_COLUMNS = 8


def others_in(m: Core, items: list[Value]) -> Others:
    """Those in a list, which stand for all that are like them."""

    def others(passed: int) -> Iterator[Value]:
        for item, alike in unlike(items, passed, m.places):
            m.note_drawn([item], alike, in_order=True)
            yield item

    return others


def others_by_keys(m: Core, this: Mapping) -> Others:
    """The keys of those in a dict."""

    def others(passed: int) -> Iterator[Value]:
        rows: list[Value] = [Sequence("tuple", [key, value], m.clock) for key, value in this.items.values()]
        return (row.items[0] for row in others_in(m, rows)(passed))

    return others


def each_made(inner: Iterable, make: Callable[[Value], Value]) -> Others | None:
    """Those of which something else is made each, as by `map`."""
    given = inner.others
    return None if given is None else lambda passed: (make(item) for item in given(passed))


def each_passing(inner: Iterable, passes: Callable[[Value], bool]) -> Others | None:
    """Those that pass a test."""
    given = inner.others
    return None if given is None else lambda passed: (item for item in given(passed) if passes(item))


def side_by_side(m: Core, parts: list[Iterable]) -> Others | None:
    """Those of `zip`; beside what is known may stand what counts."""
    known = [part.others is not None and part.name not in CALLING for part in parts]
    rest = [part for is_known, part in zip(known, parts, strict=True) if not is_known]
    if not any(known) or any(part.name not in COUNTING for part in rest):
        return None

    def others(passed: int) -> Iterator[Value]:
        columns = [
            list(islice(part.make(True), MAX_LOOKED_AT)) if is_known else []
            for is_known, part in zip(known, parts, strict=True)
        ]
        rows = [[_at(m, column, i) for column in columns] for i in range(max(map(len, columns)))]
        return others_in(m, [Sequence("tuple", row, m.clock) for row in rows])(passed)

    return others


def _at(m: Core, column: list[Value], i: int) -> Value:
    """An element of a list of which not all are known, or a number of what counts."""
    return column[min(i, len(column) - 1)] if column else m.fresh("number", lo=i)


def one_of(m: Core, this: Sequence, item: Value, at: Value, site: Site) -> Value:
    """An element that is taken by its place, where others may stand there; gives it back.

    Where some of them are tensors and others numbers that were read of tensors, a method of tensors may find none.
    """
    is_certain = this.exact or (isinstance(at, int) and at in (0, -1))
    if not is_certain and any(_is_number_beside(other, item) for other in this.items[:MAX_LOOKED_AT]):
        m.asked.append((site.node, m.fresh()))
    return item


def _is_number_beside(other: Value, item: Value) -> bool:
    """Whether something is a number that was read of a tensor where another thing is a tensor; or parts of the two."""
    if type(other) is Sequence and type(item) is Sequence and len(other.items) == len(item.items) <= MAX_COLUMNS:
        return any(map(_is_number_beside, other.items, item.items))
    return type(other) is Sym and bool(other.tags - {PASSED}) and type(item) in (Tensor, Opaque)
