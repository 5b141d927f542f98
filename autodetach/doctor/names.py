"""The names of what is in a graph when a differentiation fails: now, and when last looked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from types import FrameType
from typing import Any

from autodetach.doctor.frames import Site
from autodetach.doctor.holders import Binding, Search
from autodetach.doctor.journal import Call, Journal
from autodetach.doctor.nodes import Node, address_of
from autodetach.doctor.scan import breadth_first
from autodetach.doctor.stores import stores

MAX_NEAR = 100


class Names:
    """Looks once at what all names hold, from a frame outwards."""

    def __init__(self, search: Search, journal: Journal, frame: FrameType) -> None:
        self._search = search
        self._journal = journal
        self._frame = frame
        self._holding: dict[Node, list[Binding]] = {}
        self._holders: dict[Binding, Binding] = {}
        for held in search.held(frame):
            self._holding.setdefault(held.tensor.grad_fn, []).append(held.binding)
            self._holders[held.binding] = held.holder

    def of(self, node: Node) -> list[Binding]:
        """The names that hold a tensor of this node, or held it when last looked: the plainest first."""
        names = self._holding.get(node)
        if names is None and len(self._journal.threads) < 2:
            names = self._journal.names(node._sequence_nr())
        return sorted(names or (), key=plainness)

    def of_first(self, nodes: Iterable[Node]) -> tuple[Node | None, list[Binding]]:
        """The first of these nodes that has names, and they."""
        return next(((node, names) for node in nodes if (names := self.of(node))), (None, []))

    def nearest(self, roots: list[Node]) -> Binding | None:
        """The name of what is differentiated, or of the nearest below it that has one."""
        for node in islice(breadth_first(roots), MAX_NEAR):
            if node in self._holding:
                return min(self._holding[node], key=plainness)
        return None

    def newest_of(self, call: Call) -> tuple[Binding | None, Node | None]:
        """Of the named tensors whose graph this call has walked, the one that was built last."""
        walked = call.sequences or ()
        nodes = [node for node in self._holding if node._sequence_nr() in walked]
        if not nodes:
            return None, None
        newest = max(nodes, key=lambda node: node._sequence_nr())
        return min(self._holding[newest], key=plainness), newest

    def of_tensor(self, tensor: Any) -> Binding | None:
        """The plainest name of a tensor, with history or without, or of one that shares its memory."""
        address = address_of(tensor)
        names = [
            binding
            for binding, other in self._search.tensors(self._frame)
            if other is tensor or (address and address_of(other) == address)
        ]
        return min(names, key=plainness, default=None)

    def other(self, node: Node, binding: Binding, built: Iterable[Site], function: str) -> Binding | None:
        """Another name of the tensor that tells more of its way: the one that was bound where it was built, the one
        that it had in `function` when that differentiated, or that of what else holds it."""
        known = sorted((name for name in self._holding.get(node, ()) if _is_other(name, binding)), key=plainness)
        known = known or sorted(self._hidden(node, binding), key=plainness)
        lines = set(built)
        bound = [name for name in known if not lines.isdisjoint(stores(name))]
        seen = () if len(self._journal.threads) > 1 else self._journal.all_names(node._sequence_nr())
        there = [n for n in seen if n.function == function and n.path.isidentifier() and _is_other(n, binding)]
        return next(iter((*bound, *sorted(there, key=plainness), *known)), None)

    def holder_of(self, binding: Binding) -> Binding:
        """The container that it is an element of, or itself."""
        return self._holders.get(binding, binding)

    def _hidden(self, node: Node, binding: Binding) -> list[Binding]:
        """Names by which the tensor is reached when the variable that leads to it by the shortest way is left out."""
        found: list[Binding] = []
        scopes = (
            (file, function, {n: v for n, v in variables.items() if n != binding.root}, owner)
            for file, function, variables, owner in self._search.scopes(self._frame)
        )
        for held in self._search.held_in(scopes):
            if held.tensor.grad_fn is node and _is_other(held.binding, binding):
                found.append(held.binding)
                self._holders[held.binding] = held.holder
        return found


def _is_other(name: Binding, binding: Binding) -> bool:
    """Whether the two read differently: `self.h` and `net.h` do not."""
    one, two = _said(name), _said(binding)
    return name.root != binding.root and not (one <= two or two <= one)


def _said(name: Binding) -> set[str]:
    """The names on the way but an object that the way begins with."""
    words = re.findall(r"[A-Za-z_]\w*", re.sub(r"\[[^]]*\]", "", name.path))
    return set(words[1:] if name.path.startswith(f"{name.root}.") else words)


def plainness(binding: Binding) -> tuple[bool, bool, int, int]:
    """What is reached by attributes first, which outlives a pass by its nature; then variables, then elements."""
    steps = binding.path.replace("[", ".").count(".")
    return "[" in binding.path, "." not in binding.path, steps, len(binding.path)
