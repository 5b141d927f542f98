"""What is done with a part of something unknown tells that the whole is a list, a dict or a record, and no tensor.

`losses[0].backward()` differentiates a part by itself, and `losses[0] = losses[0].item()` puts a number in its place.
"""

from __future__ import annotations

import ast

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.held import graph_in
from autodetach.machine.marks import WEIGHTS
from autodetach.machine.spelling import spelled
from autodetach.machine.told_of_values import GIVEN, RECORD, is_number
from autodetach.machine.torch_semantics import TENSOR_ATTRIBUTES
from autodetach.machine.values import Opaque, Value


def note_part(part: Opaque) -> None:
    """A part is differentiated by itself: what it was taken from by a number or a name is no tensor."""
    whole = part.owner
    if whole is None or _is_computed(whole):
        return
    if any(_is_place(at) for at, value in whole.attrs.items() if value is part):
        whole.attrs[GIVEN] = RECORD


def number_put(
    m: Core, whole: Opaque, key: tuple[str, object], new: Value, site: Site, source: ast.expr | None
) -> None:
    """`whole[key] = new`: a number in the place of a part leaves no history there, and what else there is nobody knows.

    Of a tensor such a place may be written, too: this is told by a part that was differentiated, or by a number that is
    made of what it replaces.
    """
    if not is_number(new) or _is_computed(whole) or WEIGHTS in whole.attrs:
        return
    place = site.node
    if source is not None and isinstance(place, ast.Subscript) and _reads(source, spelled(place)):
        whole.attrs[GIVEN] = RECORD
    if whole.attrs.get(GIVEN) != RECORD:
        return
    others = (value for at, value in whole.attrs.items() if at != key) if _is_place(key) else ()
    if whole.node is not None and not whole.node.weak and not any(True for value in others for _ in graph_in(value)):
        whole.node = m.new_node("parts", site, (whole.node,), weak=True)  # other parts may still have it


def _is_computed(whole: Opaque) -> bool:
    """Whether an operation of tensors has made it: `loss.view(-1)`."""
    return whole.node is not None and not whole.node.called and whole.node.op in TENSOR_ATTRIBUTES


def _is_place(at: object) -> bool:
    """Whether a part was taken out by a number or a name that is known."""
    if isinstance(at, str):
        return not at.startswith("#") and at not in TENSOR_ATTRIBUTES
    return isinstance(at, tuple) and isinstance(at[1], tuple) and at[1][:1] == ("c",)


def _reads(source: ast.expr, place: str) -> bool:
    return any(isinstance(node, ast.Subscript) and spelled(node) == place for node in ast.walk(source))
