"""What an optimizer of PyTorch refuses: a tensor that an operation has made of one that requires grad.

Measured on PyTorch 2.13: all of `torch.optim` raise `ValueError: can't optimize a non-leaf Tensor` where they are made,
and in `add_param_group`, unless they are `differentiable` or the tensor retains its gradient.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence as Listed

from autodetach.machine.classes import RECORDING
from autodetach.machine.core import Core
from autodetach.machine.events import NonLeafOptimized
from autodetach.machine.exceptions import TRY
from autodetach.machine.graph import Node, Site
from autodetach.machine.in_view import tells_all_of_leaves
from autodetach.machine.program_values import Frame
from autodetach.machine.spelling import spelled
from autodetach.machine.state import MAX_LISTED, Raised
from autodetach.machine.swallowing import expects_fault, is_taken
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor, Value

MAKING = frozenset(
    "add sub mul div true_divide pow neg matmul mm mv exp log log1p sqrt square sin cos tanh sigmoid relu softmax "
    "log_softmax softplus abs clamp clone view view_as reshape unsqueeze squeeze transpose permute t T expand repeat "
    "stack cat __getitem__ index_select flip mean sum normalize".split()
)
"""Operations whose result is never what they were given. `float`, `to`, `flatten` and their kin may hand that on."""
HANDING_ON = frozenset("to cuda cpu float double half bfloat16 type contiguous flatten".split())
"""Operations whose result has history if what they were given has."""
MOST_STEPS = 32


def refuse_non_leaves(m: Core, given: Value, options: dict[str, Value], site: Site) -> None:
    """An optimizer is given parameters or groups, with its own options: it raises if one surely is no leaf."""
    if m.unclear or options.get("differentiable", False) is not False or _is_spread(site):
        return
    made = tuple(history for t in _tensors(given) if (history := history_of(m, t)))
    if not made:
        return
    is_expected = is_taken(m, "ValueError") or expects_fault(m)
    if not is_expected and (not _is_all_told(m) or any(isinstance(statement, TRY) for statement, _ in m.trail)):
        return  # by another name, it may be expected all the same
    if not is_expected:
        m.facts.append(NonLeafOptimized(site, made))
        m.type_fault(site, "optimizes what is no leaf")
        for node in {node for history in made for node in history if not node.leaf}:
            node.weak = True  # what is entered behind the end of the program proves nothing of it
    raise Raised("ValueError", m.opaque("ValueError"))


def _is_all_told(m: Core) -> bool:
    """Whether the files that run show what is a leaf, and what has history."""
    frames = {frame.top for _, frame in m.trail}
    trees = {frame.module.tree for frame in frames if frame.module is not None}
    return bool(trees) and all(map(tells_all_of_leaves, trees))


def _is_spread(site: Site) -> bool:
    """Whether a call has options that nobody sees."""
    return isinstance(site.node, ast.Call) and any(k.arg is None for k in site.node.keywords)


def _tensors(given: Value) -> list[Tensor]:
    """The tensors that are parameters: by themselves, by name, or in groups."""
    found: list[Tensor] = []
    for item in given.items[:MAX_LISTED] if isinstance(given, Sequence) else ():
        if isinstance(item, Mapping):
            held = next((value for key, value in item.items.values() if key == "params"), None)
        else:
            held = item
        parts: Listed[Value] = held.items[:MAX_LISTED] if isinstance(held, Sequence) else [held]
        found += (part for part in parts if isinstance(part, Tensor))
    return found


def history_of(m: Core, t: Tensor) -> tuple[Node, ...]:
    """What has surely made a tensor of a leaf, the last operation first and the leaf at the end; or nothing."""
    if t.node is None or t.node.leaf or t.retains_since is not None:
        return ()
    path: list[Node] = []
    node = t.node
    while len(path) < MOST_STEPS:
        path.append(node)
        if not _is_sure(m, node):
            return ()
        if node.leaf:
            return tuple(path) if any(one.op in MAKING for one in path) else ()
        sure = [parent for parent in node.parents if _is_sure(m, parent)]
        if not sure:
            return ()
        node = sure[0]
    return ()


def _is_sure(m: Core, node: Node) -> bool:
    """Whether a node is there, whoever runs the program, and is what it is taken for."""
    if node.weak or node.assumed or node.presumed or node.observed or node in m.made_unclear:
        return False
    if node.leaf:
        return True
    if node.op not in MAKING and node.op not in HANDING_ON:
        return False
    is_other = isinstance(node.site.node, ast.BinOp) and any(
        isinstance(value, Opaque) for at, value in node.site.operands if at is node.site.node.left
    )
    return not is_other and not _is_decorated_elsewhere(node)


def _is_decorated_elsewhere(node: Node) -> bool:
    """Whether a function that was open when a node was made has a decorator that is not in view."""
    place = node.at
    frames: list[object] = [place[1]] if place is not None else []
    chain = node.chain
    while chain is not None:
        if chain[1] is not None:
            frames.append(chain[1][1])
        chain = chain[2]
    return any(isinstance(frame, Frame) and not _is_plain(frame) for frame in frames)


def _is_plain(frame: Frame) -> bool:
    at: Frame | None = frame
    while at is not None:
        if at.function is not None:
            for decorator in getattr(at.function.node, "decorator_list", ()):
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if spelled(called).split(".")[0] not in RECORDING:
                    return False
        at = at.outer
    return True
