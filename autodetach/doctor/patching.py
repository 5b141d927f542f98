"""Functions of PyTorch that several observers stand in for at once, and that are as before when the last one leaves."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Make = Callable[[Callable[..., Any]], Callable[..., Any]]
"""From a function to the one that stands in for it."""

_lock = threading.RLock()
_piles: list[_Pile] = []


@dataclass(eq=False, slots=True)
class _Pile:
    """What stands in for one attribute, the latest on top."""

    owner: Any
    name: str
    original: Any
    layers: list[tuple[object, Make]] = field(default_factory=list)
    top: Any = None

    def build(self) -> None:
        function = self.original
        for _, make in self.layers:
            function = make(function)
        setattr(self.owner, self.name, function)
        self.top = function

    @property
    def is_bare(self) -> bool:
        """Whether nobody else has put something on top, which is not ours to take away."""
        return getattr(self.owner, self.name) is self.top


def replace(owner: Any, name: str, make: Make) -> Callable[[], None]:
    """Let what `make` gives stand in for an attribute; returns what ends that, in whatever order several of them end.

    What somebody else has put on top in the meantime stays there, so a function that `make` gave may still be called.
    """
    layer = (object(), make)
    with _lock:
        pile = next((p for p in _piles if p.owner is owner and p.name == name and p.is_bare), None)
        if pile is None:
            pile = _Pile(owner, name, getattr(owner, name))
            _piles.append(pile)
        pile.layers.append(layer)
        pile.build()
    taken = pile

    def restore() -> None:
        with _lock:
            taken.layers.remove(layer)
            if taken.is_bare:
                taken.build()
            if not taken.layers:
                _piles.remove(taken)

    return restore
