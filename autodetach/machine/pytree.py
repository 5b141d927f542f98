"""`torch.utils._pytree`, and what collates batches: what stands in lists, tuples and dicts is handed on, however deep.

Source: https://github.com/pytorch/pytorch/blob/main/torch/utils/_pytree.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from autodetach.machine import tensors
from autodetach.machine.core import Args, Core, Handler, Named
from autodetach.machine.graph import Site
from autodetach.machine.number_readers import asked_for_type, wanted
from autodetach.machine.object_builtins import is_instance
from autodetach.machine.program_values import External
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor, Value

MAX_DEPTH = 6
STRUCTURE = "#structure"
"""The attribute of what `tree_flatten` gives besides the leaves: the tree that they were in."""
Leaf: TypeAlias = Callable[[Value], Value]


def _is_node(value: Value, depth: int) -> bool:
    """Whether a tree has a branch here: sets are leaves, and what derives from `tuple` is for others to say."""
    if depth <= 0:
        return False
    return isinstance(value, Mapping) or (isinstance(value, Sequence) and value.kind != "set" and not value.attrs)


def _rebuilt(m: Core, tree: Value, leaf: Leaf, depth: int = MAX_DEPTH) -> Value:
    """The same tree of what a function gives for its leaves."""
    if not _is_node(tree, depth):
        return leaf(tree)
    m.note_read(tree)
    if isinstance(tree, Mapping):
        made = Mapping(m.clock, tree.exact)
        made.items.update((key, (k, _rebuilt(m, v, leaf, depth - 1))) for key, (k, v) in list(tree.items.items()))
        return made
    return Sequence(tree.kind, [_rebuilt(m, v, leaf, depth - 1) for v in tree.items], m.clock, tree.exact)


def _leaves(m: Core, tree: Value, depth: int = MAX_DEPTH) -> Iterator[Value]:
    if not _is_node(tree, depth):
        yield tree
        return
    m.note_read(tree)
    for part in [v for _, v in tree.items.values()] if isinstance(tree, Mapping) else list(tree.items):
        yield from _leaves(m, part, depth - 1)


def _listed(m: Core, tree: Value) -> Sequence:
    leaves = list(_leaves(m, tree))
    return Sequence("list", leaves, m.clock, exact=_is_exact(tree))


def _is_exact(tree: Value, depth: int = MAX_DEPTH) -> bool:
    if not _is_node(tree, depth):
        return True
    parts = [v for _, v in tree.items.values()] if isinstance(tree, Mapping) else tree.items
    return tree.exact and all(_is_exact(part, depth - 1) for part in parts)


def _of_tree(name: str, count: int, function: Handler) -> Handler:
    """A function of one tree, the last of so many arguments; given more, or a tree out of view, it may do anything."""

    def run(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
        if len(args) != count or kwargs or isinstance(args[-1], Opaque):
            return m.call_unknown(name, args, kwargs, site)
        return function(m, args, kwargs, site)

    return run


def _map(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    return _rebuilt(m, args[1], lambda leaf: m.call(args[0], [leaf], {}, site))


def _map_in_place(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    for leaf in _leaves(m, args[1]):
        m.call(args[0], [leaf], {}, site)
    return args[1]


def _map_only(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    """`tree_map_only(torch.Tensor, function, tree)`."""

    def mapped(leaf: Value) -> Value:
        asked_for_type(m, leaf, site)
        return leaf if is_instance(leaf, args[0]) is False else m.call(args[1], [leaf], {}, site)

    return _rebuilt(m, args[2], mapped)


def _flatten(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    spec = m.opaque("spec")
    spec.attrs[STRUCTURE] = args[0]
    return Sequence("tuple", [_listed(m, args[0]), spec], m.clock)


def _unflatten(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    spec = args[1] if len(args) == 2 and not kwargs else None
    if not isinstance(spec, Opaque) or STRUCTURE not in spec.attrs:
        return m.call_unknown("tree_unflatten", args, kwargs, site)
    leaves = iter(m.collect(args[0], site, 64)[0])
    return _rebuilt(m, spec.attrs[STRUCTURE], lambda _: next(leaves, None))


def _is_so(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    _map_in_place(m, args, kwargs, site)
    return m.fresh("bool")


def _collate(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    """`default_collate(batch)`: tensors are stacked, in dicts key by key; of numbers one is made with another type."""
    batch = args[0] if args else None
    wanted(m, args, site, "default_collate")
    rows = m.collect(batch, site, 64)[0] if isinstance(batch, Sequence) else []
    return _collated(m, rows, site, MAX_DEPTH) if rows else m.unknown_result("default_collate", args, site)


def _collated(m: Core, rows: list[Value], site: Site, depth: int) -> Value:
    first = rows[0]
    if isinstance(first, Tensor):
        return m.call(External("torch.stack"), [Sequence("list", rows, m.clock)], {}, site)
    if isinstance(first, Mapping) and depth > 0:
        made = Mapping(m.clock, first.exact)
        for key, (word, _) in list(first.items.items()):
            column = [row.items[key][1] for row in rows if isinstance(row, Mapping) and key in row.items]
            made.items[key] = word, _collated(m, column, site, depth - 1)
        return made
    if isinstance(first, Sequence) and first.kind in ("list", "tuple") and depth > 0:
        columns = zip(*(row.items for row in rows if isinstance(row, Sequence)), strict=False)
        return Sequence(first.kind, [_collated(m, list(c), site, depth - 1) for c in columns], m.clock, first.exact)
    if isinstance(first, Opaque):
        return m.unknown_result("default_collate", rows, site)
    return tensors.plain()


def _convert(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    """`default_convert(data)`: a tensor of each array; all else stays what it is."""
    wanted(m, args, site, "default_convert")
    return args[0] if args else m.opaque("default_convert")


OF_TREES: dict[str, Handler] = {
    "tree_map": _of_tree("tree_map", 2, _map), "tree_map_": _of_tree("tree_map_", 2, _map_in_place),
    "tree_map_only": _of_tree("tree_map_only", 3, _map_only),
    "tree_flatten": _of_tree("tree_flatten", 1, _flatten), "tree_unflatten": _unflatten,
    "tree_leaves": _of_tree("tree_leaves", 1, lambda m, args, kwargs, site: _listed(m, args[0])),
    "tree_iter": _of_tree("tree_iter", 1, lambda m, args, kwargs, site: _listed(m, args[0])),
    "tree_all": _of_tree("tree_all", 2, _is_so), "tree_any": _of_tree("tree_any", 2, _is_so),
}  # fmt: skip
HANDLERS: dict[str, Handler] = {
    **{f"utils.{module}.{name}": h for module in ("_pytree", "_cxx_pytree", "pytree") for name, h in OF_TREES.items()},
    "default_collate": _collate, "default_convert": _convert,
}
