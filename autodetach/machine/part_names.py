"""Attributes of whose names only a part is known, as of `setattr(self, f"state_{user}", state)`, or of a buffer.

What stands under such a name is kept in a table of its own for each way in which these names are made. Whatever
touches an attribute that one of them may mean, or may detach them all, ends what is known of that table.
"""

from __future__ import annotations

from collections.abc import Iterable

from autodetach.machine.arguments import written_at
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.held import graph_in
from autodetach.machine.program_values import Instance
from autodetach.machine.state import MISSING
from autodetach.machine.unknown_keys import any_of
from autodetach.machine.values import Mapping, Sym, Tensor, Value
from autodetach.named_tuples import NamedTuple

TABLE = "#named:"
"""Stands in front of what is known of names, under which an object has the table of what they mean."""


class Part(NamedTuple):
    """How a name that is made begins, and how it ends."""

    begin: str
    end: str

    @property
    def table(self) -> str:
        return f"{TABLE}{self.begin}*{self.end}"

    def fits(self, name: str) -> bool:
        is_long = len(name) > len(self.begin) + len(self.end)
        return is_long and name.startswith(self.begin) and name.endswith(self.end)


def part_of(name: Value) -> Part | None:
    """What is known of a name that was put together: `f"h_{i}"`, `"h_" + i`, `"h_%s" % i`, `"h_{}".format(i)`."""
    key = name.key if isinstance(name, Sym) else None
    if not isinstance(key, tuple) or len(key) < 2:
        return None
    how, *pieces = key
    if how in ("text", "Add"):
        begin, end = _text(pieces[0]), _text(pieces[-1])
    elif how in (".format", "Mod"):
        written = _text(pieces[0])
        opening, closing = "{}" if how == ".format" else "%s"
        begin = written.partition(opening)[0]
        end = written.rpartition(closing)[2] if closing in written else ""
    else:
        return None
    return Part(begin, end) if begin or end else None


def _text(key: object) -> str:
    """The text whose key that is; empty where it is that of something else."""
    return key[2] if isinstance(key, tuple) and len(key) == 3 and key[:2] == ("c", "str") else ""


def set_by_part(m: Core, this: Instance, name: Value, value: Value, site: Site, at: int = 2) -> None:
    """`setattr(this, name, value)`: the value is argument `at`. What has no history may take the place of any other."""
    m.escape([value], site, "setattr")
    this.open = True  # it has an attribute whose name nobody knows
    part = part_of(name)
    if part is None:
        forget(m, [this])
        return
    m.names_parts = True
    table = this.attrs.setdefault(part.table, Mapping(this.born, exact=False))
    if not any(graph_in(value)):
        table.items.clear()
    table.items[m.key(name)] = (name, value)
    m.store(table, value, written_at(site, at), site, "key")


def read_by_part(m: Core, this: Value, name: Value) -> Value:
    """`getattr(this, name)`: what has been put there under a name that is made in the same way, or MISSING."""
    part = part_of(name) if m.names_parts and isinstance(this, Instance) else None
    table = this.attrs.get(part.table) if part is not None else None
    if table is None:
        return MISSING
    key = m.key(name)
    return table.items[key][1] if key in table.items else any_of(m, table, name)


def touch(m: Core, this: Instance, name: str) -> None:
    """An attribute is read or set under a known name: whether it is one of those that were made, nobody knows."""
    fitting = [table for table in this.attrs if table.startswith(TABLE) and _known_in(table).fits(name)]
    for table in fitting:
        del this.attrs[table]
    before = this.attrs.get(name)
    if fitting and isinstance(before, Tensor) and before.node is None:
        this.attrs[name] = m.opaque(name)


def _known_in(table: str) -> Part:
    begin, _, end = table.removeprefix(TABLE).partition("*")
    return Part(begin, end)


def forget(m: Core, objects: Iterable[Instance]) -> None:
    """All attributes of some objects are at hand, under whatever name: nothing is known of what was made of these."""
    for this in objects if m.names_parts else ():
        for table in [table for table in this.attrs if table.startswith(TABLE)]:
            del this.attrs[table]
