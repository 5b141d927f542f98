"""What holds more graph with every pass: a chain of nodes, or a container."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable

from autodetach.machine.activations import Activation, Loops, Pass, pass_of, within
from autodetach.machine.alike_calls import is_given_alike
from autodetach.machine.events import Stored
from autodetach.machine.graph import Chain, Differentiation, Node, ancestors
from autodetach.machine.held import graph_in
from autodetach.machine.program_values import Frame
from autodetach.machine.restraints import SumDetached
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word
from autodetach.machine.tails import Tails
from autodetach.machine.torch_semantics import OPS
from autodetach.machine.values import Value
from autodetach.named_tuples import NamedTuple

LINEAR = frozenset(
    "add sub mul div lerp maximum minimum neg true_divide addcmul addcdiv rsub clone stack cat __setitem__".split()
)
PICKED = frozenset({"part", "__getitem__", "copy_slices"})
"""What only picks or puts back a part of a sum, as in `sums[i] += loss`."""
MOVED = frozenset("to cpu cuda float double half bfloat16 type type_as contiguous".split())
"""What only says where a sum is, or of which type, as in `total.to(loss) + loss`."""
OF_NETWORKS = frozenset("parameters named_parameters modules named_modules children named_children".split())


class Element(NamedTuple):
    """What is put into a growing binding in one pass: its expression (None where there is none in view) and value.

    `chain` are the calls that were open when it was put there.
    """

    expression: ast.expr | None
    value: Value
    node: Node
    chain: Chain = None


class Growth(NamedTuple):
    """A binding whose reachable nodes grow with every pass of `activation`.

    `dead`: the graph of the elements was walked in the same pass, so that nodes are kept but few saved tensors.
    `freeing` is the differentiation that did so. `stored` is where the tensor was put into a container, `keeper` where
    that was put into the one that grows: the same, if there is but one. `link` is what a chain has of an earlier pass.
    `tails`: each pass differentiates what it has put there, and reads no more of the container than that. `ends`: it
    lives as long as the call of a function that is called again and again. `through` are the places that a chain leads
    through from one pass to the next.
    """

    kind: str  # "chain" or "store"
    run: Run
    activation: Activation
    node: Node
    elements: tuple[Element, ...]
    dead: bool
    freeing: Differentiation | None
    linear: bool
    certain: bool
    starts_as_number: bool
    stored: Stored | None = None
    used: bool = False
    keeper: Stored | None = None
    link: Node | None = None
    tails: Tails | None = None
    ends: bool = False
    through: frozenset[ast.AST] = frozenset()


def is_over_network(loop: ast.AST | None) -> bool:
    """Whether a loop runs over the parameters or layers of a network, of which it has as many as it had before."""
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return False
    return any(isinstance(n, ast.Call) and last_word(n.func) in OF_NETWORKS for n in ast.walk(loop.iter))


def goes_over_network(activation: Activation) -> bool:
    """Whether a loop runs over what a network has, also where a list holds it, of which there is as much as before.

    So a penalty of some parameters, which nothing differentiates where it is in view, is no growth.
    """
    return activation.over_parameters or is_over_network(activation.node)


def makers_of_returned(frame: Frame) -> set[Node]:
    """All graph behind what a function has returned."""
    return set(ancestors(t.node for value in frame.returns for t in graph_in(value) if t.node is not None))


def is_returned(run: Run, node: Node, frame: Frame) -> bool:
    """Whether a function has returned something that is made of what the place of a node makes."""
    made = {n for n in run.machine.nodes if n.site.node is node.site.node}
    return not made.isdisjoint(makers_of_returned(frame))


def trains(run: Run, activation: Activation) -> bool:
    """Whether a loop steps parameters: it unrolls nothing, however few passes an example makes."""
    return any(
        s.what != "grad" and (s.consumed or s.by_hand) and pass_of(s.loops, activation) is not None
        for s in run.machine.steps
    )


def is_whole(freeing: Differentiation | None) -> bool:
    """Whether others may still differentiate what a pass has made, since nothing has freed it: see `freed_within`."""
    return freeing is None or freeing.retain


def freed_within(elements: tuple[Element, ...], within_pass: Pass) -> Differentiation | None:
    """A differentiation in the same pass that walked an element, or the graph of this pass behind it."""
    for element in elements:
        stack, seen = [element.node], set[Node]()
        while stack:
            node = stack.pop()
            if node in seen or node.leaf:
                continue
            seen.add(node)
            for d in node.walked_by:
                is_here = within_pass in d.loops or _is_walked_for(node, d, within_pass)
                if is_here and not d.create_graph and not (node.weak and node is not element.node):
                    return d
            stack.extend(p for p in node.parents if within_pass in p.loops)
    return None


def is_asked_for(node: Node, current: Pass) -> bool:
    """Whether a generator has made it when the loop asked for what this pass, or one before it, runs with."""
    loop = current.activation
    return pass_of(node.loops, loop) is None and loop.started < node.number < current.started


def _is_walked_for(node: Node, d: Differentiation, current: Pass) -> bool:
    """Whether a generator has made a node, and differentiated it, before it gave it to this pass of its loop."""
    return is_asked_for(node, current) and pass_of(d.loops, current.activation) is None and d.number < current.started


def saved_in_pass(nodes: Iterable[Node], within_pass: Pass | None) -> list[Node]:
    """What a pass saves for some nodes."""
    return [n for n in ancestors(nodes) if n.saves and not n.leaf and within_pass in n.loops]


def is_kept_anyway(node: Node, within_pass: Pass, open_there: Loops) -> bool:
    """Whether most of what a pass, or a generator for it, saves for a node waits for a differentiation behind the loop.

    So it is in a batch of tasks, whose losses are gathered, and outputs beside them. `open_there` are the loops that
    are open in the pass.
    """
    around = tuple(itertools.takewhile(lambda p: p.activation is not within_pass.activation, open_there))
    saving = [
        n
        for n in ancestors([node])
        if n.saves and not n.leaf and (within_pass in n.loops or is_asked_for(n, within_pass))
    ]
    waiting = [n for n in saving if any(is_behind(d, within_pass, around) for d in n.walked_by)]
    return 2 * len(waiting) > len(saving)


def is_behind(d: Differentiation, within_pass: Pass, around: Loops) -> bool:
    """Whether a differentiation follows the loop of a pass, in the same passes of the loops around that."""
    return (
        pass_of(d.loops, within_pass.activation) is None and within(d.loops, around) and d.number > within_pass.started
    )


def proven(node: Node) -> bool:
    """Whether a value has history for certain: it was differentiated, or some way to a leaf has no unknown callable.

    A sibling of what is differentiated (`loss, accuracy = model.step(x)`) may well be a number.
    """
    stack, seen = [node], set[Node]()
    while stack:
        n = stack.pop()
        if n in seen:
            continue
        seen.add(n)
        if n.walked_by or is_given_alike(n):
            return True
        if n.op == "part" and any(p.walked_by for p in n.parents):
            continue
        if not (n.assumed or n.parents or n.op == "part"):
            return True
        if not n.assumed or n.op in OPS or n.op == "part":
            stack.extend(n.parents)
    return False


def is_detached_behind(run: Run, node: Node, activation: Activation, elements: Iterable[Element]) -> bool:
    """Whether a sum of what stands beside losses is detached behind its loop: a number has no `detach()`.

    And of a tensor without history nobody wants it, as a rule.
    """
    if not any(e.node.op == "part" and any(p.walked_by for p in e.node.parents) for e in elements):
        return False
    sums = (fact for fact in run.machine.restraints if isinstance(fact, SumDetached))
    return any(s.node.site.node is node.site.node and pass_of(s.loops, activation) is None for s in sums)
