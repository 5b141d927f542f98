"""Something unknown that is cut part by part: `state[0].detach_()`, `state.h = state.h.detach()`.

What else it has nobody knows, so nothing is assumed of its history any more.
"""

from __future__ import annotations

import ast

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.held import graph_in, tensors_in
from autodetach.machine.marks import WEIGHTS
from autodetach.machine.restraints import PerhapsCut
from autodetach.machine.state import MISSING
from autodetach.machine.values import Opaque, Sequence, Tensor, Value
from autodetach.node_types import COMPREHENSIONS

MAX_STEPS = 6
"""From a detached part to the whole that it was taken from."""


def cut_in_place(m: Core, part: Opaque) -> None:
    """`part.detach_()`."""
    if part.node is not None and part.node.op == "part" and part.owner is not None:
        let_go(m, part.owner, surely=_is_gone_over(m, part.node.site) or _is_unpacked_at_once(part.node.site))


def _is_gone_over(m: Core, taken: Site) -> bool:
    """Whether a loop goes over the whole: what it does to a part, it does to all."""
    return any(taken.node in _gone_over(each.activation.node) for each in m.loops)


def _gone_over(loop: ast.AST | None) -> list[ast.expr]:
    if isinstance(loop, (ast.For, ast.AsyncFor)):
        return [loop.iter]
    return [generator.iter for generator in loop.generators] if isinstance(loop, COMPREHENSIONS) else []


def _is_unpacked_at_once(taken: Site) -> bool:
    """Whether a call gave the whole, which has no name: `out, state = model(x, state)`."""
    return isinstance(taken.node, (ast.Tuple, ast.List)) and any(isinstance(e, ast.Call) for e, _ in taken.operands)


def cut_by_store(m: Core, whole: Opaque, key: object, new: Value, *, named: bool) -> None:
    """`whole[key] = new` or, `named`, `whole.key = new` and `whole["key"] = new`: what has that name is detached.

    Of several that have names, all that are known are to be.
    """
    source = whole.attrs.get(key, MISSING) if named else whole
    others = [value for at, value in whole.attrs.items() if at != key] if named else []
    is_last = not any(True for value in others for _ in graph_in(value))
    if isinstance(source, Opaque) and is_last and _is_cut(new, source):
        let_go(m, whole)


def is_of_tensor(index: Value) -> bool:
    """Whether only tensors have such an index: `rows[:, 0]`, `rows[mask]`."""
    return isinstance(index, (Tensor, Sequence))


def _is_cut(new: Value, source: Opaque) -> bool:
    """Whether what is given has no history, and some of it is a part that was detached."""
    values = list(tensors_in(new))
    return all(v.node is None for v in values) and any(
        isinstance(v, Opaque) and _is_taken_from(v, source) for v in values
    )


def _is_taken_from(value: Opaque, source: Opaque) -> bool:
    owner = value.owner
    for _ in range(MAX_STEPS):
        if owner is None or owner is source:
            return owner is source
        owner = owner.owner
    return False


def let_go(m: Core, whole: Tensor | Opaque, *, surely: bool = False) -> None:
    """Nothing is assumed of its history any more, which is no proof that it has none, unless that is `surely` so."""
    if whole.node is not None and not whole.node.leaf and not (isinstance(whole, Opaque) and WEIGHTS in whole.attrs):
        if not surely:
            m.restraints.append(PerhapsCut((whole.node,), m.tick()))
        whole.node = None
