"""What one run records of autograd: nodes, changes in place, parameter steps."""

from __future__ import annotations

from collections.abc import Iterable

from autodetach.machine.activations import diverge
from autodetach.machine.added_values import note_sum
from autodetach.machine.detached_sums import note_detached
from autodetach.machine.events import Crossing, Escape, IdleStep, Step
from autodetach.machine.folding import is_copied, order_of_view
from autodetach.machine.graph import COPIES, CUTS, DISCRETE, OFF, Differentiation, Lost, Node, Site, Storage
from autodetach.machine.held import MAX_LOST, compared, graph_in, lost_of, stored_in, unsure
from autodetach.machine.passed_counts import note_counted, sizes_passed
from autodetach.machine.restraints import SumDetached
from autodetach.machine.state import State
from autodetach.machine.torch_facts import Shape as OpShape
from autodetach.machine.torch_semantics import RANDOM, VIEWS, Op, unpacked
from autodetach.machine.values import (
    Opaque,
    Shape,
    Tensor,
    Value,
    gradients_in,
    joined,
    lost_in,
    marked_in,
    scaled_by_gradient,
)


class Tape(State):
    """The graph of a run, as PyTorch would make it."""

    # ---- nodes

    def new_node(
        self,
        op: str,
        site: Site,
        parents: tuple[Node, ...] = (),
        operands: tuple[object, ...] = (),
        *,
        saves: bool = False,
        saved: tuple[tuple[Storage, int], ...] = (),
        assumed: bool = False,
        weak: bool = False,
    ) -> Node:
        """Record an operation. `saves`: backward raises once it is freed; `saved`: what it needs as it was then."""
        node = Node(self.tick(), op, site, self.loops, parents, operands, saves, saved, assumed, weak)
        node.chain = self.chain
        node.at = self.trail[-1] if self.trail else None
        self.nodes.append(node)
        for parent in parents:
            if parent.loops is self.loops or not parent.loops:
                continue
            apart = diverge(parent.loops, self.loops)
            if apart is not None:
                self.crossings.append(Crossing(node, parent, apart[1].activation, apart[1].index))
        return node

    def leaf(self, site: Site, shape: Shape = None) -> Tensor:
        """A new leaf tensor that requires grad."""
        return self.require_grad(Tensor(None, shape, True), site)

    def require_grad(self, tensor: Tensor, site: Site) -> Tensor:
        if tensor.node is not None and tensor.node.weak:
            tensor.node = None  # who asks for a gradient knows that nothing before has a history
        if tensor.node is None and tensor.leaf_node is not None:
            tensor.node = tensor.leaf_node  # it was frozen for a while
            tensor.node.frozen = False
            tensor.node.thawed += (self.clock,)
        elif tensor.node is None:
            tensor.node = tensor.leaf_node = self.new_node("leaf", site)
            tensor.is_float = True
            # A copy of a leaf is another leaf.
            if lost := tuple(one for one in tensor.lost if not (one.node.leaf and one.how in COPIES)):
                self.begun[tensor.node] = lost
            self.leaf_tensors.append(tensor)
        return tensor

    def note_lost(self, result: Tensor, inputs: Iterable[Value], site: Site, how: str = "") -> None:
        """Have a tensor without history know what its inputs have lost; and what is lost here, if `how` says so."""
        found: list[tuple[Lost, ...]] = []
        weights: list[tuple[Lost, ...]] = []
        is_sure = True
        for t in inputs:
            if isinstance(t, (Tensor, Opaque)) and t.node is not None:
                found.append((lost_of(t.node, site, how),))
            elif type(t) is Tensor:
                found.append(t.lost)
                if t.weights:
                    weights.append(t.weights)
            elif type(t) is Opaque:
                is_sure = False
        lost = joined(*found)[-MAX_LOST:]
        if lost:
            result.lost = lost if is_sure or how else unsure(lost)
        if weights and not how:
            values = joined(*weights)[-MAX_LOST:]
            result.weights = values if is_sure else unsure(values)

    def derive(
        self,
        name: str,
        op: Op,
        inputs: list[Value],
        site: Site,
        shape: Shape = None,
        *,
        assumed: bool = False,
        is_float: bool | None = None,
        indexed: bool = False,
    ) -> Tensor:
        """The tensor that an operation makes of `inputs`, with a node if grad mode and the inputs ask for one."""
        result = Tensor(None, shape, is_float)
        result.born = self.clock
        result.from_grad = gradients_in(inputs)
        if result.from_grad:
            result.scaled = scaled_by_gradient(inputs)
        if op.differentiable:
            result.extras = marked_in(inputs)
        note_counted(result, name, inputs)
        if shape is None or None in shape:
            result.sizes = sizes_passed(self.fresh, name, inputs, is_alike=op.shape is OpShape.SAME)
        shares = op.view and name in VIEWS and inputs and isinstance(inputs[0], Tensor)
        if shares:
            result.storage = inputs[0].storage
            result.order = order_of_view(name, inputs[0])
        if not op.differentiable or not self.grad_enabled:
            self.note_lost(result, inputs, site, OFF if op.differentiable else DISCRETE)
            if name in RANDOM:  # what was drawn could be given its reward in old versions, and be differentiated
                result.lost = unsure(result.lost)
            return result
        if shares:
            result.view_of = inputs[0]
        carriers = [t for t in inputs if isinstance(t, (Tensor, Opaque)) and t.node is not None]
        if not carriers:
            self.note_lost(result, inputs, site)
            if result.lost and op.shape is OpShape.LOSS:
                result.lost = compared(result.lost, site.node)
            return result
        result.node = self._node_of(name, op, inputs, carriers, site, result.storage, assumed, indexed)
        lost = lost_in(inputs)
        if copied := tuple(one for one in lost if one.how in COPIES):
            self.beside[result.node] = copied
        if lost:
            self.note_cut_off(result.node, lost)
        note_sum(self, name, result.node, inputs)
        if result.from_grad:
            self.by_gradient[result.node] = result.from_grad
        result.is_float = True
        return result

    def note_cut_off(self, node: Node, lost: tuple[Lost, ...]) -> None:
        """Have a node with history know what was detached, or made where gradients are off, of what it is made of."""
        if cut := tuple(one for one in lost if one.how in CUTS):
            self.cut_off[node] = cut

    def _node_of(
        self,
        name: str,
        op: Op,
        inputs: list[Value],
        carriers: list[Tensor | Opaque],
        site: Site,
        result: Storage,
        assumed: bool,
        indexed: bool = False,
    ) -> Node:
        tensors = [t for t in inputs if isinstance(t, (Tensor, Opaque))]
        discrete = [isinstance(t, Tensor) and t.is_float is False for t in tensors]
        only_first = len(inputs) > 1 and _may_be_a_number(inputs[-1])
        facts = unpacked(op, [t.node is not None for t in tensors], discrete, indexed=indexed, only_first=only_first)
        saved = [
            (t.storage, t.storage.version)
            for i, t in enumerate(tensors)
            if i in facts.operands and isinstance(t, Tensor) and not is_copied(name, t)
        ]
        if facts.result:
            saved.append((result, result.version))
        parents = tuple(dict.fromkeys(t.node for t in carriers if t.node is not None))
        made = self.new_node(
            name,
            site,
            parents,
            tuple(carriers),
            saves=facts.raises,
            saved=tuple(saved),
            assumed=assumed,
            weak=all(p.weak for p in parents),
        )
        if facts.operands and any(p.weak for p in parents):
            made.saved_for = saved_for(op, tensors, discrete, facts.operands)
        return made

    def unknown_result(self, name: str, inputs: list[Value], site: Site) -> Opaque:
        """What an unknown callable returns: it has history if its arguments have, as far as can be assumed."""
        result = self.opaque(name)
        if not self.grad_enabled:
            return result
        given = [*inputs, *(item for v in inputs if isinstance(v, Opaque) for item in stored_in(v))]
        carriers = list({id(t): t for v in given for t in graph_in(v)}.values())[:32]
        strong = [t for t in carriers if t.node is not None and not t.node.weak and not t.node.leaf]
        if strong:  # the weights of a module that it is given take part
            strong += [t for t in carriers if isinstance(t, Tensor) and t.parameter and t not in strong]
        nodes = tuple(dict.fromkeys(t.node for t in (strong or carriers) if t.node is not None))
        result.node = self.new_node(
            name or "call", site, nodes, tuple(strong or carriers), saves=True, assumed=True, weak=not strong
        )
        result.node.called = True
        by_gradient = gradients_in(given)
        if by_gradient:
            self.by_gradient[result.node] = by_gradient
        return result

    def note_random(self, site: Site) -> None:
        """Random numbers are drawn, by whatever calls are open."""
        self.random_nodes.append((site, self.chain))

    def note_state(self, site: Site) -> None:
        """A layer changes what it keeps besides its parameters: running statistics, a step of the power iteration."""
        self.stateful.append((site, self.chain))

    def let_go(self, node: Node | None, result: Value, site: Site) -> None:
        """`detach()` is asked of a tensor that has this node."""
        self.cut[result] = self.clock
        self.detached_from, self.detached_at = node, site.node
        if node is not None:
            node.let_go, node.let_go_at = self.loops, self.clock
            if node.op == "add" and note_detached(node, self.trail):
                self.restraints.append(SumDetached(node, self.loops))

    def change_in_place(self, tensor: Tensor, site: Site) -> None:
        tensor.storage.change(site, tuple(self.trail), self.clock)
        at: Tensor | None = tensor
        while at is not None:
            for read in at.storage.kept:  # the tensor in its place would show what it is now
                self.escapes.append(Escape((), read, self.tick(), "changed", frozenset({read.node})))
            at.storage.kept = ()
            if at.data_of is not None:
                at.data_of.storage.uncounted += 1
            at = at.data_of or at.view_of

    # ---- parameters

    def step(self, leaves: list[Tensor], site: Site, what: str = "step", *, guessed: bool = False) -> None:
        """A parameter step: the gradient of `leaves` is consumed, and those that have some change in place.

        `guessed`: whether it is a step of these is not known.
        """
        consumed = []
        for leaf in leaves:
            if leaf.leaf_node is not None and leaf.leaf_node.grads:
                consumed.append((leaf.leaf_node, tuple(leaf.leaf_node.grads)))
                if what == "step":
                    self.change_in_place(leaf, site)
                    leaf.storage.guessed = guessed
        if what == "step":
            consumed += self._consumed_out_of_view(leaves, site)
        without = [t for t in leaves if t.leaf_node is not None and not t.leaf_node.grads]
        idle = tuple(t.leaf_node for t in without if t.leaf_node is not None)
        by_hand = what == "step" and any(isinstance(t.grad, Tensor) and t.grad.grad_of is not t for t in without)
        trail = tuple(self.trail)
        step = Step(site, self.loops, self.tick(), tuple(consumed), what, trail, idle, guessed, by_hand)
        self.steps.append(step)
        if what == "step" and idle and not (consumed or guessed or by_hand) and self.cut_off:
            self.facts.append(IdleStep(step))

    def _consumed_out_of_view(self, leaves: list[Tensor], site: Site) -> list[tuple[Node, tuple[Differentiation, ...]]]:
        """The gradient of weights that only a run has shown: any optimizer may have them, if no others are known of it.

        One that has others may have them too, so that nothing may be cut off from them.
        """
        consumed = []
        for leaf in self.hidden:
            if leaf not in leaves and leaf.leaf_node is not None and leaf.leaf_node.grads:
                consumed.append((leaf.leaf_node, tuple(leaf.leaf_node.grads)))
                if not leaves:
                    self.change_in_place(leaf, site)
        return consumed

    def steps_read(
        self, leaf: Tensor, site: Site, what: str = "grad", given_by: tuple[Differentiation, ...] = ()
    ) -> None:
        """The gradient of a leaf is read ("grad"), or the leaf is changed ("update"), by the program itself.

        What it is changed by was `given_by` these: where its gradient is another one now, by the last of them. What
        `torch.autograd.grad` gives is consumed when it is given, and then only changes the leaf.
        """
        if leaf.node is None:
            return
        grads = tuple(leaf.node.grads)
        if given_by and set(given_by).isdisjoint(grads):
            taken = [d for d in given_by if d.kind != "grad" and leaf.node in d.walked]
            grads = (max(taken, key=lambda d: d.number),) if taken else grads
        if grads or given_by:
            consumed, idle = (((leaf.node, grads),), ()) if grads else ((), (leaf.node,))
            trail, by_hand = tuple(self.trail), not grads
            self.steps.append(Step(site, self.loops, self.tick(), consumed, what, trail, idle, by_hand=by_hand))

    def consume(self, targets: list[Tensor], d: Differentiation, site: Site) -> None:
        """The program takes the gradient for some leaves from `torch.autograd.grad`."""
        consumed = tuple((t.node, (d,)) for t in targets if t.node is not None and t.node.leaf)
        self.steps.append(Step(site, self.loops, self.tick(), consumed, "grad", tuple(self.trail)))

    def leaves(self) -> list[Tensor]:
        """All leaves that have gradient, for an optimiser whose parameters are not known."""
        self.leaves_asked = True
        return [t for t in self.leaf_tensors if t.leaf_node is not None and t.leaf_node.grads]

    def zero(self, leaves: Iterable[Tensor]) -> None:
        """The gradient of some leaves is cleared, and of those that only a run has shown."""
        for leaf in (*leaves, *self.hidden):
            if leaf.leaf_node is not None:
                self.clear(leaf.leaf_node)
            leaf.grad = None

    def clear(self, node: Node) -> None:
        """A leaf has no gradient from now on."""
        node.grads = []
        self.cleared.append((node, self.clock))


def saved_for(
    op: Op, tensors: list[Tensor | Opaque], discrete: list[bool], noticed: frozenset[int]
) -> dict[Storage, tuple[Node, ...]]:
    """What is saved only if others require grad of which nobody knows whether they do, each with the nodes of these."""
    nodes = [t.node for t in tensors]
    certain = unpacked(op, [n is not None and not n.weak for n in nodes], discrete).operands
    found: dict[Storage, tuple[Node, ...]] = {}
    for i in noticed - certain:
        operand = tensors[i]
        if isinstance(operand, Tensor):
            found[operand.storage] = tuple(n for n in (*nodes[:i], *nodes[i + 1 :]) if n is not None and n.weak)
    return found


def _may_be_a_number(value: Value) -> bool:
    """Whether the last operand is no tensor, as far as is known: then less is saved."""
    return not isinstance(value, Tensor) and not (isinstance(value, Opaque) and value.node is not None)
