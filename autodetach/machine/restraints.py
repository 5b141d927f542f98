"""What a run saw that tells nothing by itself, and keeps others from telling."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from autodetach.machine.activations import Loops
from autodetach.machine.events import behind, leads_to
from autodetach.machine.graph import Differentiation, Node, Site
from autodetach.machine.values import Opaque, Tensor
from autodetach.named_tuples import NamedTuple


class CallableGiven(NamedTuple):
    """Code that is not in view is given what it may call at any time: functions, by their `codes`, or a `backward`.

    `nodes`: the graphs that this, and what else it is given, may walk. `is_bound`: arguments may be bound already.
    """

    nodes: tuple[Node, ...]
    codes: tuple[ast.AST, ...]
    is_bound: bool

    def reaches(self, goals: set[Node]) -> bool:
        """Whether any of some nodes may be walked, as far as that is looked at."""
        return leads_to(self.nodes, goals)


class NetworkGiven(NamedTuple):
    """Code that is not in view is given a network, and may train it by what its methods, the `codes`, compute.

    `trains`: its name says that it does, or it is given an optimizer as well.
    """

    codes: frozenset[ast.AST]
    trains: bool


class WeightNormed(NamedTuple):
    """A layer computes a weight when it is called, and keeps it until the next call: `weight_norm(layer)`."""

    site: Site


class WeightShared(NamedTuple):
    """Code out of view has computed a weight that several calls of a layer share, and what it saves is not known."""

    node: Node


class GraphLent(NamedTuple):
    """Code that is not in view is given values with history in a call that may keep them, whatever its name tells."""

    nodes: tuple[Node, ...]

    def reaches(self, goals: set[Node]) -> bool:
        """Whether any of some nodes is a part of the graph that was given, as far as that is looked at."""
        return leads_to(self.nodes, goals)


class PerhapsCut(NamedTuple):
    """From `clock` on, no history is assumed of what code out of view has given: it may have been cut, or not."""

    nodes: tuple[Node, ...]
    clock: int

    def graph(self) -> Iterator[Node]:
        """What is still its graph if it has not been cut, as far as that is looked at."""
        return behind(self.nodes)


class SumDetached(NamedTuple):
    """A running sum is detached in these passes, which tells that its terms have history."""

    node: Node
    loops: Loops


class ToldApart(NamedTuple):
    """A tensor is a key, is compared by `is`, is looked for, or what the program has put on it is read.

    Two tensors with the same value are told apart then.
    """

    tensor: Tensor | Opaque


class GradientWatched(NamedTuple):
    """From `clock` on, a hook is told what gradient comes to some nodes."""

    site: Site
    nodes: tuple[Node, ...]
    clock: int


class RetainedRead(NamedTuple):
    """`.grad` of a tensor that is no leaf, but was told to retain it: what some differentiations gave it."""

    site: Site
    given_by: tuple[Differentiation, ...]


Restraint: TypeAlias = (
    CallableGiven | GradientWatched | GraphLent | NetworkGiven | PerhapsCut | RetainedRead | SumDetached | ToldApart
    | WeightNormed | WeightShared
)  # fmt: skip
