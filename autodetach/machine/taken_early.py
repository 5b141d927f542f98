"""What is taken of a generator that is not run to its end here, and yields something else there.

`next(steps)` and `zip(names, steps)` leave open how far a program comes: a loss may as well be the text or the summary
that stands behind the losses.
"""

from __future__ import annotations

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.held import tensors_in
from autodetach.machine.program_values import Iterable
from autodetach.machine.values import Opaque, Tensor, Value
from autodetach.machine.yielded_behind import goes_on_behind


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
