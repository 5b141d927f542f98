"""What code out of view may cut in place, by a statement of its own: `state.reset()`, `detach_in_place(state)`.

What a library gives beside its outputs may be an object of a class of its own, whose `detach()` gives nothing back.
Unless something tells that it is a tensor, nothing is assumed of its history any more, once that has been walked.
"""

from __future__ import annotations

import ast

from autodetach.machine.core import Core
from autodetach.machine.cut_parts import cut_in_place, let_go
from autodetach.machine.graph import Node, Site, is_walked_again
from autodetach.machine.held import tensors_in
from autodetach.machine.marks import OUT_OF_VIEW, WEIGHTS
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Opaque, Tensor, Value

WORDS = ("reset", "detach", "clear", "forget")
"""By which code out of view says that it begins a state anew."""
MAX_PASSES = 8
"""So many calls back is looked for the tensor with which a state began."""


def cut_by_method(m: Core, this: Opaque, name: str, given: list[Value], site: Site) -> None:
    """`state.detach()`, which does nothing to tensors, `state.reset()`, which they have not, and `net.reset(state)`."""
    if given:
        cut_by_call(m, name, given, site)
    if says_so(name) and name != "detach_" and _is_of_library(this) and _is_alone(m, site):
        callee = site.node.func if isinstance(site.node, ast.Call) else None
        read = callee.value if isinstance(callee, ast.Attribute) else None
        if name != "detach" or not (_is_retained(this) or _is_tensor(m, this, read)):
            cut_in_place(m, this)
            let_go(m, this)


def cut_by_call(m: Core, name: str, given: list[Value], site: Site) -> None:
    """`reset_states(state)`, and `detach_in_place(h)` of what surely is a tensor."""
    if not says_so(name) or not _is_alone(m, site):
        return
    for value in given:
        for held in tensors_in(value):
            is_cut = isinstance(held, Tensor) and "detach" in name.lower() and _was_walked(held)
            if is_cut or (isinstance(held, Opaque) and _is_of_library(held)):
                m.cut[held] = m.clock
                let_go(m, held)


def says_so(name: str) -> bool:
    """Whether a name tells of states that begin anew."""
    lowered = name.lower()
    return any(word in lowered for word in WORDS)


def _is_alone(m: Core, site: Site) -> bool:
    statement = m.trail[-1][0] if m.trail else None
    return isinstance(statement, ast.Expr) and statement.value is site.node


def _is_of_library(this: Opaque) -> bool:
    """Whether it is, or is a part of, what code out of view has given, of which a graph has been walked."""
    whole = _whole(this.node) if this.node is not None else None
    if whole is None or this.scalar or WEIGHTS in this.attrs or not _was_walked(this):
        return False
    return _is_out_of_view(whole)


def _is_out_of_view(made: Node) -> bool:
    """Whether a function or network out of view gave it."""
    return made.called or any(isinstance(v, Tensor) and OUT_OF_VIEW in (v.extras or ()) for v in made.operands)


def _was_walked(this: Tensor | Opaque) -> bool:
    node = this.node
    return node is not None and not node.leaf and bool(node.walked_by or _whole(node).walked_by)


def _is_retained(this: Opaque) -> bool:
    """Whether its graph was kept where it was walked, and not for another walk so far: it goes on, or in vain."""
    node = this.node
    walks = [d for n in (node, _whole(node)) for d in n.walked_by] if node is not None else []
    return any(d.retain and not is_walked_again(d) for d in walks)


def _whole(node: Node) -> Node:
    while node.op == "part" and len(node.parents) == 1:
        node = node.parents[0]
    return node


def _is_tensor(m: Core, this: Opaque, read: ast.expr | None) -> bool:
    """Whether arithmetic or a function of PyTorch took it, or it has the name of a tensor that began it."""
    node = this.node
    if node is not None and any(_computes(made, node) for made in m.nodes if node in made.parents):
        return True
    name = spelled(read) if read is not None else ""
    given: Value = this
    for _ in range(MAX_PASSES):
        if not isinstance(given, Opaque) or given.node is None:
            break
        given = next((v for e, v in _whole(given.node).site.operands if spelled(e) == name), None)
    return isinstance(given, Tensor)


def _computes(made: Node, node: Node) -> bool:
    """Whether arithmetic, or a function or network of PyTorch, made it, and not what may be a method of an object."""
    at = made.site.node
    if not isinstance(at, ast.Call):
        return isinstance(at, (ast.BinOp, ast.UnaryOp, ast.AugAssign))
    if made.op == "part" or made.assumed or _is_out_of_view(made):
        return False
    method_of = at.func.value if isinstance(at.func, ast.Attribute) else None
    receiver = next((v for e, v in made.site.operands if e is method_of), None)
    return not (isinstance(receiver, (Tensor, Opaque)) and receiver.node is node)
