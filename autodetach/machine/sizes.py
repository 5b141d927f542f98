"""The sizes of a tensor whose shape is not known: whatever is taken out of them is a Python number."""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.machine.core import Core
from autodetach.machine.passes import MOST_PASSES
from autodetach.machine.program_values import Iterable
from autodetach.machine.told_of_values import is_number
from autodetach.machine.values import SIZES, Slice, Sym, Value

COUNTED = frozenset({"numel", "count", "index"})
"""What their methods of these names give is a number."""


def size_at(m: Core, sizes: Value, index: Value) -> Sym:
    """`x.size(index)`, `x.size()[index]`, `x.shape[index]`: the same number."""
    key = ("size", m.key(sizes), m.key(index))
    return m.sym(key, "number", sizes.lo, sizes.tags) if isinstance(sizes, Sym) else m.sym(key, "number", 1)


def part_of_sizes(m: Core, sizes: Sym, index: Value) -> Sym:
    if isinstance(index, Slice):
        return m.fresh(SIZES, sizes.lo, sizes.tags)
    return size_at(m, sizes, index) if is_number(index) else m.sym(("[]", sizes.key, m.key(index)))


def items_of_sizes(m: Core, sizes: Sym) -> Iterable:
    """`for n in x.shape`, `n, c, h, w = x.size()`."""

    def walk(exact: bool) -> Iterator[Value]:
        for i in range(MOST_PASSES):
            yield size_at(m, sizes, i)

    return Iterable(walk, short=True)


def counted_of_sizes(m: Core, sizes: Sym, name: str, args: list[Value]) -> Sym:
    """`x.shape.numel()`, which is `x.numel()`."""
    key = (name, m.key(sizes)) if not args else (name, m.key(sizes), *map(m.key, args))
    return m.sym(key, "number", 1 if name == "numel" and sizes.lo else 0, sizes.tags)
