"""Keys and places that only the loops around them count."""

from __future__ import annotations

import ast
from collections.abc import Hashable

from autodetach.machine.arguments import written_at
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.remainders import RANGES, shown
from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.values import Sequence, Sym, Value


def counted_place(m: Core, this: Sequence, index: Value) -> int | None:
    """The place that a counter of a loop means, whose passes go on: each another element, as long as there are some."""
    if not this.items or not isinstance(index, Sym) or index.lo is None or not m.loops:
        return None
    return min(max(index.lo, 0), len(this.items) - 1)


def counted_key(m: Core, key: Value, site: Site) -> Hashable | None:
    """What stands for a key that only loops count, as in `kept[f"layer{i}"]`: when these begin anew, so does it."""
    counted = _counted_where_written(m, site)
    if counted is None:
        name = m.key(key)
        named = _by_counts(m, name)
        counted = None if named == name else named
    return counted


def counter_of(loop: ast.For) -> str:
    """The name that counts the passes of a loop over `range(n)` or `enumerate(items)`; empty where none does."""
    items, target = shown(loop.iter), loop.target
    callee = last_word(items.func) if isinstance(items, ast.Call) else ""
    if callee == "reversed" and isinstance(items, ast.Call) and items.args and isinstance(items.args[0], ast.Call):
        callee = spelled(items.args[0].func)
    if callee == "enumerate":
        target = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
    return target.id if (callee == "enumerate" or callee in RANGES) and isinstance(target, ast.Name) else ""


def _counted_where_written(m: Core, site: Site) -> Hashable | None:
    node = site.node
    is_method = isinstance(node, ast.Call) and last_word(node.func) in ("setdefault", "__setitem__")
    index = node.slice if isinstance(node, ast.Subscript) else written_at(site, 0) if is_method else None
    if index is None:
        return None
    asked = {n.id for n in ast.walk(index) if isinstance(n, ast.Name)}
    if any(isinstance(n, (ast.Attribute, ast.Call)) for n in ast.walk(index)):
        return None
    found: list[int] = []
    for current in reversed(m.loops):
        loop = current.activation.node
        if not asked or not isinstance(loop, ast.For):
            break
        found.append(current.index)
        asked.discard(counter_of(loop))
    return None if asked or not found else ("counted", site.node, *found)


def _by_counts(m: Core, key: Hashable) -> Hashable:
    """A key with each number of a range in the place of what counts there, in whatever function it was made of it."""
    if not isinstance(key, tuple):
        return key
    known = m.counts.get(key) or m.counts.get(("s", key))
    return known if known is not None else tuple(_by_counts(m, part) for part in key)
