"""What the doctor says: plain data."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from autodetach.doctor.frames import Site
from autodetach.doctor.holders import Binding

MAX_CALLS = 3


class Kind(enum.Enum):
    """What went wrong: the faces of a graph that lives too long or too short."""

    FREED = "freed graph"
    """PyTorch raised: a differentiation needs what an earlier one has freed."""
    CHANGED = "changed tensor"
    """PyTorch raised: a differentiation needs a tensor that was changed in place since."""
    SCALAR = "indexed scalar"
    """PyTorch raised: an element was asked of a tensor that has no dimension."""
    GROWTH = "growing graph"
    """No error: what a name holds grows with every pass."""
    RETAINED = "unused retained graph"
    """No error: `retain_graph=True` kept a graph that nobody walked again."""
    LEFT = "graph left behind"
    """No error: what outlives a test still holds graph that the test has built."""

    @property
    def raises(self) -> bool:
        """Whether PyTorch raises an error."""
        return self in (Kind.FREED, Kind.CHANGED, Kind.SCALAR)


@dataclass(frozen=True, slots=True)
class Step:
    """A line of the story; `site` is None where the run did not show which line it was. `calls` are the user's lines
    that had called what stands there, outwards."""

    site: Site | None
    text: str
    calls: tuple[Site, ...] = ()

    @staticmethod
    def at(sites: Sequence[Site], text: str) -> Step:
        """The step of a line with the nearest of those that had called it, all of them outwards."""
        # A comprehension is a function of its own, called from its own line.
        outer = [s for s, inner in zip(sites[1:], sites, strict=False) if (s.path, s.line) != (inner.path, inner.line)]
        return Step(sites[0] if sites else None, text, tuple(outer[:MAX_CALLS]))


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One fault that was observed.

    `site` is the line that it is about: that of the failing call, of the statement that fills a holder, or of the call
    that retains. `binding` names what holds the graph, where a name was found. `nodes` and `bytes` are what is held at
    the end of a growth, or by one retained graph; `bytes` are those of tensors that nodes have saved for their
    backward, without parameters. Of a growth, `first_nodes` is what was held at the first look, and `nodes_per_pass`
    what each pass added since.
    """

    kind: Kind
    message: str
    site: Site | None
    binding: Binding | None = None
    story: tuple[Step, ...] = ()
    others: tuple[Binding, ...] = ()
    nodes: int = 0
    bytes: int = 0
    first_nodes: int = 0
    nodes_per_pass: float = 0.0

    @property
    def lines(self) -> frozenset[tuple[str, int]]:
        """All lines that the diagnosis speaks of, by file."""
        sites = [self.site, *(site for step in self.story for site in (step.site, *step.calls))]
        return frozenset((site.path, site.line) for site in sites if site is not None)
