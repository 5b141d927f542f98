"""Tables that are read by an option of the command line, as `{"small": Small, "large": Large}[args.model]`."""

from __future__ import annotations

from collections.abc import Hashable

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.told_of_values import TRUTH, is_constant
from autodetach.machine.values import Mapping, Value


def entries_by_default(m: Core, this: Mapping, key: Value, site: Site) -> list[Hashable]:
    """The names of the entries that an unknown key may stand for, of which something is presumed; else none.

    As by `if args.model == "small"`, the default is taken first, and any other is a variation of that.
    """
    name = m.key(key)
    default = m.oracle.equal_to.get(name, m.oracle.by_default(name))
    if default is None or default not in this.items or len(this.items) < 2:
        return []
    if all(is_constant(value) for _, value in this.items.values()):
        return []
    is_chosen = m.truth(m.sym(("==", name, default), TRUTH), site)
    return [default] if is_chosen else [other for other in this.items if other != default]
