"""Builtins that make one value of many: `min`, `max`, `all`, `any`."""

from __future__ import annotations

import ast

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.implicit_calls import compare_in_order
from autodetach.machine.number_readers import truth_of_sums
from autodetach.machine.passed_counts import of_greatest
from autodetach.machine.program_values import Instance
from autodetach.machine.told_of_values import is_number
from autodetach.machine.values import Opaque, Sym, Tensor, Value


def extreme(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    items = m.collect(args[0], site)[0] if len(args) == 1 else list(args)
    keys = compare_in_order(m, items, kwargs.get("key"), site)
    name = site.node.func.id if isinstance(site.node, ast.Call) and isinstance(site.node.func, ast.Name) else "max"
    if items and all(isinstance(i, (int, float)) for i in items) and "key" not in kwargs:
        return min(items) if name == "min" else max(items)
    carrier = next((i for i in items if isinstance(i, (Tensor, Opaque)) and i.node is not None), None)
    number = next((i for i in items if is_number(i)), None)
    if carrier is not None:
        # `max(0, loss)` is that very 0 where the loss is less.
        return carrier if number is None or m.truth(m.fresh("bool"), site) else number
    if items and all(is_number(i) for i in items):
        least = _least(items) if "default" not in kwargs else None
        tags = frozenset(tag for i in items if isinstance(i, Sym) for tag in i.tags)
        tags = tags if name == "min" else of_greatest(tags, items)
        return m.fresh("number", least, tags | truth_of_sums(keys))
    if number is not None:
        return m.fresh()
    return items[-1] if items else m.fresh()


def _least(items: list[Value]) -> int | None:
    """What none of some numbers is less than."""
    bounds = [i.lo if isinstance(i, Sym) else i if isinstance(i, int) else None for i in items]
    known = [b for b in bounds if b is not None]
    return min(known) if len(known) == len(bounds) else None


def all_any(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`all(b.numel() for b in buffers)` is known where the truth of each is, as for one of them."""
    items, exact = m.collect(args[0], site) if args else ([], True)
    truths = [m.known_truth(i, site) for i in items if exact or isinstance(i, Instance)]
    name = site.node.func.id if isinstance(site.node, ast.Call) and isinstance(site.node.func, ast.Name) else "all"
    if exact and (name != "all") in truths:
        return name != "all"
    if exact and None not in truths:
        return name == "all"
    return m.fresh("bool", tags=truth_of_sums(items))
