"""What a run saw: facts with their evidence. What to think of them is the rules' business."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from itertools import islice

from autodetach.machine.activations import Activation, Loops
from autodetach.machine.graph import Chain, Differentiation, Lost, Node, Place, Site, Storage, ancestors, assumed_way
from autodetach.machine.program_values import Instance
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor, Value
from autodetach.named_tuples import NamedTuple

MAX_LOOKED_AT = 2000
"""So many nodes are looked at behind what was handed on."""


def leads_to(nodes: tuple[Node, ...], goals: set[Node]) -> bool:
    """Whether any of the goals is a part of the graph of some nodes, as far as that is looked at."""
    return not goals.isdisjoint(behind(nodes))


def behind(nodes: tuple[Node, ...]) -> Iterator[Node]:
    """The graph of some nodes, as far as that is looked at."""
    return islice(ancestors(nodes), MAX_LOOKED_AT)


class SecondWalk(NamedTuple):
    """A differentiation reaches a node that unpacks a freed tensor: PyTorch raises."""

    node: Node
    first: Differentiation
    second: Differentiation
    path: tuple[Node, ...]

    @property
    def evidence(self) -> tuple[Node, ...]:
        """What it rests on: the way of the second differentiation, and what is not known of that of the first."""
        return (*self.path, *assumed_way(self.first.roots, self.node))


class OldLoss(NamedTuple):
    """A closure that its optimizer calls again and again gives a loss of before, and differentiates nothing."""

    node: Node
    first: Differentiation
    site: Site
    closure: ast.AST


class StaleSaved(NamedTuple):
    """A differentiation needs a saved tensor that was changed in place since: PyTorch raises."""

    node: Node
    storage: Storage
    changed: Site
    by: Differentiation
    path: tuple[Node, ...]

    @property
    def evidence(self) -> tuple[Node, ...]:
        """What it rests on."""
        from autodetach.machine.rests_on import rests_on

        return (*self.path, *rests_on(self.node, self.by.roots))


class TypeFault(NamedTuple):
    """An operation that Python or PyTorch refuses: an attribute that a number has not, a tensor without history.

    `lost` is the history of what a tensor without any was made of.
    """

    site: Site
    text: str
    kind: str
    lost: tuple[Lost, ...] = ()


class LeafChanged(NamedTuple):
    """A leaf that requires grad, or a view of it, is changed in place where autograd records: PyTorch raises.

    `written`: the nodes of what was written, the leaf's own not among them. `by_gradient`: it is an update by a
    gradient. `unused`: nothing has been computed of the leaf yet. `chain` are the open calls. `factor`: what it is
    multiplied with, or divided by, if that was computed from a gradient.
    """

    site: Site
    leaf: Node
    written: tuple[Node, ...]
    by_gradient: bool
    unused: bool
    chain: Chain
    factor: Value = None


class NonLeafOptimized(NamedTuple):
    """An optimizer is given tensors that are no leaves: PyTorch raises.

    `made`: what has surely made each of them, the last operation first, and at the end a leaf.
    """

    site: Site
    made: tuple[tuple[Node, ...], ...]


class AttributeSet(NamedTuple):
    """An object in view was given something with history under a name."""

    owner: Instance
    name: str
    value: Value
    site: Site


class HistoryCopied(NamedTuple):
    """`copy.deepcopy` comes to a tensor that has history and is no leaf: PyTorch raises.

    `whole` is what it was asked to copy. `owner` is the innermost object that has the tensor, under `name`, and
    `container` the innermost list or dict behind that; `owner` is None where no object is on the way. `way` are the
    names of attributes that lead from `whole` to the tensor, or to the container that has it; None where others do.
    """

    site: Site
    node: Node
    tensor: Tensor
    whole: Value
    way: tuple[str, ...] | None
    owner: Instance | None
    name: str
    container: Sequence | Mapping | None
    chain: Chain


class Stored:
    """A value with history was put into a container (or an object that outlives the pass).

    `observed` says how a run has shown that it is kept, where the program does not. `chain` are the open calls. Where
    the container held `value` before that was filled, `inner` is what was put into that one. `gradient_of`: what came
    with it into the container, if the program has set `tensor` as its gradient. `taken`: when something may first have
    taken it from there, if anything has.
    """

    __slots__ = (
        "chain",
        "clock",
        "container",
        "element",
        "gradient_of",
        "held",
        "how",
        "inner",
        "loops",
        "node",
        "observed",
        "site",
        "taken",
        "tensor",
        "value",
        "version",
    )

    def __init__(
        self,
        container: Sequence | Mapping,
        tensor: Tensor | Opaque,
        site: Site,
        element: ast.expr | None,
        value: object,
        loops: Loops,
        clock: int,
        how: str,
        *,
        node: Node,
        chain: Chain = None,
        version: int = 0,
        gradient_of: Tensor | None = None,
    ) -> None:
        self.container = container
        self.tensor = tensor
        self.node = node
        self.site = site
        self.element = element
        self.value = value
        self.loops = loops
        self.clock = clock
        self.how = how
        self.chain = chain
        self.version = version
        self.gradient_of = gradient_of
        self.held: set[int] = set()
        self.observed = ""
        self.inner: Stored | None = None
        self.taken: int | None = None

    def of_holder(self, container: Sequence | Mapping, value: object) -> Stored:
        """What it has put, with what it was put into, into what has held that as `value`."""
        event = Stored(
            container, self.tensor, self.site, self.element, value, self.loops, self.clock, "append",
            node=self.node, chain=self.chain, version=self.version, gradient_of=self.gradient_of,
        )  # fmt: skip
        event.observed, event.inner, event.taken = self.observed, self, self.clock
        return event


class Drawn(NamedTuple):
    """Elements of a container were read whose places are not known: `taken` stand for them, `others` may be meant.

    `in_order`: all of them are read, one after the other, and these stand for those of which nothing is known.
    `place`: what stands for the unknown place of a single one, the same for the same place.
    """

    taken: tuple[Node, ...]
    others: frozenset[Node]
    clock: int
    in_order: bool
    loops: Loops
    place: Hashable = None

    def walked_since(self, clock: int) -> bool:
        """Whether what was taken is differentiated after it was, and after `clock`: then any other may be so."""
        return any(d.number > max(clock, self.clock) for n in self.taken for d in n.walked_by)


class Tail(NamedTuple):
    """So many elements were read from the end of a container, `outputs[-2:]` or `outputs[-1]`: these."""

    container: Sequence
    items: tuple[Value, ...]
    site: Site
    clock: int
    loops: Loops


class Crossing:
    """A node made in one pass has an operand that was made in an earlier pass of the same loop."""

    __slots__ = ("activation", "child", "index", "parent")

    def __init__(self, child: Node, parent: Node, activation: Activation, index: int) -> None:
        self.child = child
        self.parent = parent
        self.activation = activation
        self.index = index


class Step(NamedTuple):
    """Which leaf consumes gradient of which differentiations.

    `what` is "step" (of an optimizer), "update" (the program changes a leaf itself) or "grad" (it reads `.grad`). For
    `idle` leaves there was no gradient; `by_hand`: the program itself has computed one for some of these, or what it
    updates one by. `guessed`: nobody knows which parameters the optimizer has.
    """

    site: Site
    loops: Loops
    clock: int
    consumed: tuple[tuple[Node, tuple[Differentiation, ...]], ...]
    what: str
    trail: tuple[tuple[ast.stmt, object], ...] = ()
    idle: tuple[Node, ...] = ()
    guessed: bool = False
    by_hand: bool = False


class IdleStep(NamedTuple):
    """The step of an optimizer that finds no gradient for any of its parameters."""

    step: Step


class DroppedDetach(NamedTuple):
    """`h.detach()` as a statement: its result is dropped."""

    site: Site
    statement: ast.Expr
    node: Node


class HistoryLost(NamedTuple):
    """What is differentiated has no history, and `lost` all of what it was made of: PyTorch raises.

    `trail`: the statements that were running, outermost first, each with its frame. `off`: so were gradients then. It
    does not raise if its values were made to require grad, as leaves that have `begun` a graph of their own, or if they
    are only a part of what has history, for which they stand `beside` that: what they were made of may be trained.
    `added`: that part is a term, which takes no part in any gradient, whatever it was made of. `asked`: `detach()` or
    `.item()` has asked for its values, which may be wanted for what they are.
    """

    site: Site
    lost: tuple[Lost, ...]
    trail: tuple[Place, ...]
    off: bool
    begun: tuple[Node, ...] = ()
    beside: Node | None = None
    added: bool = False
    asked: bool = False

    @property
    def raises(self) -> bool:
        return not self.begun and self.beside is None


class ViewDetached(NamedTuple):
    """`detach_()` of a view: PyTorch raises. `node` is what the last operation on it has made, if that has history."""

    site: Site
    node: Node | None


class Escape(NamedTuple):
    """A value with history was handed to code that is not in view."""

    nodes: tuple[Node, ...]
    site: Site
    clock: int
    how: str
    tags: frozenset[object] = frozenset()

    def graph(self) -> Iterator[Node]:
        """What was handed on, as far as that is looked at."""
        return behind(self.nodes)

    def reaches(self, goals: set[Node]) -> bool:
        """Whether any of some nodes is a part of the graph that was handed on, as far as that is looked at."""
        return leads_to(self.nodes, goals)


class GraphRead(NamedTuple):
    """`.grad_fn` of a tensor is read: its nodes may be walked, called and asked for what they have saved from now on.

    `asked`: it is only asked whether there is one. `node` is what it was then, `value` the tensor.
    """

    value: Tensor | Opaque
    node: Node | None
    site: Site
    clock: int
    asked: bool

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes at which a walk begins: something unknown may be known to have one only later."""
        return tuple(dict.fromkeys(node for node in (self.node, self.value.node) if node is not None))

    def reaches(self, goals: set[Node]) -> bool:
        """Whether any of some nodes may be walked from there, as far as that is looked at."""
        return not self.asked and leads_to(self.nodes, goals)


class FlagRead(NamedTuple):
    """What `detach()` changes of a tensor is read: whether it requires grad, is a leaf, has kept a gradient."""

    site: Site
    name: str
    answer: bool


class DataRead(NamedTuple):
    """`.data.item()`, `.data[0]`, `.data.numpy()[0]`, `.tolist()[0]` or `[0]` on a tensor proven to be 0-dim.

    `alike`: only another call of the callable that gave it shows that. `swallowed`: the program goes on if it raises.
    """

    site: Site
    tensor: Value
    raises: bool
    alike: bool = False
    swallowed: bool = False


class RenamedKeyword(NamedTuple):
    """A differentiation is told `retain_variables`, which PyTorch has called `retain_graph` since 0.2.

    `swallowed`: the program goes on if that raises.
    """

    site: Site
    call: ast.Call
    keyword: ast.keyword
    on_tensor: bool
    swallowed: bool = False


class NonLeafGrad(NamedTuple):
    """`.grad` of a tensor that is no leaf, or does not require grad: it is None."""

    site: Site
    tensor: Tensor


class UnreachedGrad(NamedTuple):
    """`.grad` of a leaf that no differentiation has reached: it is None, as it is read at `clock`."""

    site: Site
    leaf: Node
    clock: int
