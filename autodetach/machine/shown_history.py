"""What a differentiation shows of the graph: where it begins, there is a scalar, and history that nobody knew of."""

from __future__ import annotations

from itertools import takewhile

from autodetach.machine.alike_calls import is_scalar_alike, note_scalar
from autodetach.machine.core import Core
from autodetach.machine.events import DataRead
from autodetach.machine.graph import Node, ancestors
from autodetach.machine.values import Opaque


def know_as_scalar(m: Core, root: Opaque) -> None:
    """What is differentiated without a gradient is a scalar, and was one where its value was read before."""
    data = root.attrs.get("data")
    if not root.scalar and isinstance(data, Opaque) and data.owner is root:
        data.scalar = True
        m.facts += (read for read in m.unproven if read.tensor is data)
    root.scalar = True
    if root.node is not None and note_scalar(root.node):
        m.facts += (read._replace(alike=True) for read in m.unproven if is_scalar_alike(_source(read)))


def _source(read: DataRead) -> Node | None:
    owner = read.tensor.owner if isinstance(read.tensor, Opaque) else None
    return None if owner is None or owner.scalar else owner.node


def strengthen_alone(node: Node) -> list[Node]:
    """Learn that a node stands for history, and nothing of where it comes from."""
    learned = [node] if node.weak else []
    node.weak = False
    return learned


def is_known(node: Node) -> bool:
    """Whether all of a graph is known, so that what it does not lead to it certainly does not need."""
    return not any(n.assumed or n.weak for n in ancestors([node]))


def strengthen(node: Node) -> list[Node]:
    """What is differentiated has history: and so has that of which it is certainly made. Gives what nobody knew of.

    An unknown callable may have put it there by itself, whatever it was given (`critic(batch)`), unless that is a part
    of what has history for certain (`rnn(x, h)`). And of two values of which nothing is known, the first is more likely
    to have brought it: `cross_entropy(logits, labels)`. The parts of a sum have it if all were made of one value.
    """
    at = node
    learned: list[Node] = []
    if at.op == "part" and len(at.parents) == 1:
        at.assumed = at.parents[0].assumed  # of a dict, this one is a tensor
    while at.weak:
        at.weak = False
        learned.append(at)
        if len(at.parents) != 1:
            learned += _of_one_source(at)
            break
        below = at.parents[0]
        if not _is_of_history(below) if at.called else _comes_second(at, below):
            break
        at = below
    return learned


def _of_one_source(node: Node) -> list[Node]:
    """Of what has history for certain, all that nobody knew to have it, if it can have come from one value only."""
    pending, found, sources = [node], set[Node](), set[Node]()
    while pending:
        at = pending.pop()
        if any(_comes_second(at, parent) for parent in at.parents):
            return []
        for parent in at.parents:
            if not parent.weak or parent.loops != node.loops:
                return []  # what was there before this pass may be something else by now
            if parent.called or parent.op == "part" or not parent.parents:
                sources.add(parent)
            elif parent not in found:
                found.add(parent)
                pending.append(parent)
    if len(sources) != 1:
        return []
    learned = [*found, *sources]
    for at in learned:
        at.weak = False
    return learned


def hand_on(m: Core, learned: list[Node]) -> None:
    """What operations had made of values before these were known to have history has it, too.

    A part of them may be a number, and so may what an unknown callable made of them.
    """
    if not learned:
        return
    oldest = min(node.number for node in learned)
    since = list(takewhile(lambda node: node.number > oldest, reversed(m.nodes)))
    m.spend(len(since) // 8)
    known = set(learned)
    for node in reversed(since):
        if node.weak and not node.called and node.op != "part" and not known.isdisjoint(node.parents):
            node.weak = False
            known.add(node)


def _is_of_history(node: Node) -> bool:
    """Whether a node is a part of a whole that has history for certain."""
    while node.weak and node.op == "part" and len(node.parents) == 1:
        node = node.parents[0]
    return not node.weak


def _comes_second(node: Node, parent: Node) -> bool:
    """Whether an operand of which nothing is known stands in front of the one that has a node."""
    for _, value in node.site.operands:
        if getattr(value, "node", None) is parent:
            return False
        if isinstance(value, Opaque) and value.node is None:
            return True
    return False
