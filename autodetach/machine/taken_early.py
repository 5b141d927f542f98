"""What is taken of a generator that is not run to its end here, and yields something else there.

`next(steps)` and `zip(names, steps)` leave open how far a program comes: a loss may as well be the text or the summary
that stands behind the losses.
"""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.children import nodes_in
from autodetach.machine.core import Core
from autodetach.machine.generators import yields
from autodetach.machine.graph import Site
from autodetach.machine.held import tensors_in
from autodetach.machine.program_values import Iterable
from autodetach.machine.values import Opaque, Tensor, Value
from autodetach.node_types import LOOPS


def note_taken(m: Core, items: Iterable, item: Value) -> Value:
    """An item was taken of what may be a generator, not by a loop over it; gives the item back."""
    while items.inner is not None:
        items = items.inner
    function = items.frame.function if items.frame is not None else None
    if function is not None and goes_on_behind(function.node):
        m.taken_early.update(tensors_in(item, 2))
    return item


def note_asked(m: Core, this: Tensor | Opaque, name: str, site: Site) -> None:
    """A method of it is called: what is no tensor would raise here, and nobody asks behind that."""
    m.taken_early.discard(this)
    if name in ("item", "detach"):
        m.asked.append((site.node, m.fresh()))


@kept
def goes_on_behind(node: ast.AST) -> bool:
    """Whether a generator yields in a loop, and again in a statement that stands behind that."""
    blocks = (getattr(inner, "body", None) for inner in (node, *nodes_in(node)))
    return any(_goes_on_in(block) for block in blocks if isinstance(block, list))


def _goes_on_in(block: list[ast.stmt]) -> bool:
    loops = [i for i, statement in enumerate(block) if isinstance(statement, LOOPS) and yields(statement)]
    return bool(loops) and any(map(yields, block[loops[0] + 1 :]))
