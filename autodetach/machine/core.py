"""The state of one run and its primitive operations on the graph; knows no Python syntax."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from autodetach.machine.events import (
    AttributeSet,
    Crossing,
    Drawn,
    Escape,
    SecondWalk,
    StaleSaved,
    Step,
    Stored,
    Tail,
    TypeFault,
)
from autodetach.machine.folding import is_copied, order_of_view
from autodetach.machine.graph import (
    Activation,
    Chain,
    Differentiation,
    Loops,
    Node,
    Pass,
    Site,
    Storage,
    diverge,
)
from autodetach.machine.held import graph_in, graph_kept, held_by, stored_in, tensors_in
from autodetach.machine.nested import give_away, holders_of, note_holder
from autodetach.machine.oracle import Oracle, Policy, TestIndex
from autodetach.machine.passes import MAX_PASSES, Ways
from autodetach.machine.project import Project
from autodetach.machine.torch_semantics import VIEWS, Op, unpacked
from autodetach.machine.values import (
    Class,
    Frame,
    Instance,
    Mapping,
    Namespace,
    Opaque,
    Sequence,
    Shape,
    Sym,
    Tensor,
    Value,
    joined,
    key_of,
)
from autodetach.machine.values import Iterable as Iterable_

if TYPE_CHECKING:
    from autodetach.machine.evidence import Evidence, Place

MAX_EXACT = 4
MAX_LISTED = 1024
"""So many parameters of a network are looked at: one that is left out would be taken for one that nobody trains."""
MAX_LOST = 16
"""Of so many tensors with history, the last ones, one without is known to have the values."""
MAX_DEPTH = 24
MAX_RECURSION = 3
MAX_NESTED = 8
"""How often a function may be active at once, and how often if it goes into what it was given, like a nested state."""
FUEL_FOR_IMPORTS = 12_000
"""What the bodies of all imported files may cost in one run, besides what the program itself may."""
HELD = "#held"
"""Marks an unknown object by what it was given when it was made, in view, of a class that is not."""
LEFT_OUT = "#left out"
"""Marks an object of a class that stands in a file of `Core.left_out`."""
WEIGHTS = "#weights"
"""Marks an unknown value that is known to be a module, by one leaf that stands for its parameters."""
OF_MODULES = frozenset({"item", "_modules"})
"""Parts of a module that are modules too, or hold them: what it gives one after the other, or by name."""
STRIDE = 1 << 20
"""More than any entry point takes of time, or of loops."""


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()


class Raised(Exception):
    """The analysed program raises. `name` is the exception's class name as far as it is known.

    `ended` are the statements that it has ended so far, the innermost first.
    """

    def __init__(self, name: str, value: Value = None) -> None:
        super().__init__(name)
        self.name = name
        self.value = value
        self.ended: list[ast.stmt] = []


class OutOfFuel(Exception):
    """The budget of the run is spent."""


class Kept(NamedTuple):
    """What was put into a container, with history or without."""

    container: Sequence | Mapping
    value: Value
    element: ast.expr | None
    site: Site
    how: str


class Core:
    """One run of one program along one path. It `is_over` once nothing is left of it but what Python clears away."""

    is_over = True

    def __init__(self, policy: Policy, fuel: int) -> None:
        self.is_over = False
        self.oracle = Oracle(policy)
        self.options: dict[str, Value] = {}
        self.numeric_options: set[str] = set()
        self.evaluated: set[Node] = set()  # parameters of modules in `eval()` mode
        self.tests = TestIndex()
        self.fuel = fuel
        self.clock = 0
        self.loops: Loops = ()
        self.grad_enabled = True
        self.unclear = 0  # how many contexts are open of which nobody knows whether they turn gradients off
        self.parametrizes = False
        self.parametrized: dict[tuple[Instance, str], Value] | None = None  # what `parametrize.cached()` keeps
        self.cached_since: Loops = ()
        self.depth = 0
        self.activations: list[Activation] = []
        self.expecting: list[bool] = []
        self.nodes: list[Node] = []
        self.differentiations: list[Differentiation] = []
        self.second_walks: list[SecondWalk] = []
        self.stale: list[StaleSaved] = []
        self.crossings: list[Crossing] = []
        self.stored: list[Stored] = []
        self.watched: list[Kept] | None = None  # what is put into containers where gradients are off for a while
        self.filled: list[Stored] = []
        self.attributes_set: list[AttributeSet] = []
        self.held: list[Sequence | Mapping] = []  # containers in containers, each of which knows its holder
        self.drawn: list[Drawn] = []
        self.tails: list[Tail] = []
        self.asked: list[tuple[ast.AST, Value]] = []  # where `item()` or `detach()` is called on what may be no tensor
        self.old_tests: list[tuple[ast.AST, Frame]] = []  # where a tensor is asked whether its type is `Variable`
        self.steps: list[Step] = []
        self.scaled: list[int] = []  # when all gradients were clipped, or unscaled
        self.in_backward = False  # whether what is called at a differentiation runs
        self.hooks: list[Instance] = []  # handles of what is called at each differentiation
        self.named_constants: dict[Hashable, tuple[Class, str]] = {}  # texts and numbers that an enumeration has
        self.counts: dict[Hashable, Hashable] = {}  # by the key of what counts passes: which of all numbers it is
        self.step_hooks: list[Instance] = []  # and at each step of an optimizer
        self.escapes: list[Escape] = []
        self.broken_off: list[TypeFault] = []  # by what the program, or an entry point, ended
        self.type_faults: list[TypeFault] = []
        self.facts: list[object] = []
        self.filled_place: ast.AST | None = None  # of what is added to, as `kept[name]` in `kept[name].append(x)`
        self.project: Project | None = None
        self.namespaces: dict[str, Namespace] = {}
        self.costs: dict[str, int] = {}  # by the path of a file: the fuel of its functions, without what these call
        self.inner_cost = 0  # of the calls in the current one
        self.left_out: set[str] = set()  # the names of files that are at hand, and too much to be looked at
        self.importing = False
        self.import_fuel = FUEL_FOR_IMPORTS
        self.by_gradient: dict[Node, tuple[Differentiation, ...]] = {}  # what was computed with a gradient, and whose
        self.random_nodes: list[tuple[Site, Chain]] = []
        self.leaf_tensors: list[Tensor] = []
        self.open_optimizers: set[object] = set()
        """Those of which nobody knows the parameters: by their names, or themselves."""
        self.in_forward = 0
        self.in_module = False
        self.active: dict[ast.AST, list[tuple[Frame, list[Value]]]] = {}
        self.entered: Value = None
        self.chain: Chain = None
        self.detached_from: Node | None = None
        self.detached_at: ast.AST | None = None
        self.cut: dict[Value, int] = {}
        """What came of `detach`, and when."""
        self.trail: list[tuple[ast.stmt, Frame]] = []
        self.evidence: Evidence | None = None
        self.hidden: list[Tensor] = []
        self.leaf_of_call: dict[tuple[Place, str, str], Tensor] = {}
        self.carried: dict[Hashable, Tensor] = {}
        self.state_names: dict[Tensor, str] = {}
        self.explained: set[tuple[Place, str]] = set()
        self.kept_by: dict[Hashable, Sequence] = {}
        self.contradictions: list[tuple[Site, str]] = []
        self.scopes: list[Frame] = []
        self.ways: Ways = []
        self._pins: list[object] = []
        self._syms: dict[Hashable, Sym] = {}
        self._serial = 0
        self._loops_begun = 0

    # ---- clock, fuel, names of things

    def defines(self, frame: Frame) -> None:
        """Note that a function or class was made in a frame, which it holds, and which holds it."""
        if not self.scopes or self.scopes[-1] is not frame:
            self.scopes.append(frame)

    def tick(self) -> int:
        self.clock += 1
        return self.clock

    def begin_entry(self) -> None:
        """From here on, times and numbers of loops do not depend on how much has been done before."""
        self.clock += STRIDE - self.clock % STRIDE
        self._loops_begun += STRIDE - self._loops_begun % STRIDE

    def spend(self, amount: int = 1) -> None:
        self.fuel -= amount
        if self.fuel < 0:
            raise OutOfFuel

    def charge(self, frame: Frame, fuel: int, inner_cost: int) -> None:
        """Note what a call has cost which began with so much fuel, inside of one whose calls had cost so much."""
        cost = fuel - self.fuel
        module = frame.top.module
        if module is not None:
            self.costs[module.path] = self.costs.get(module.path, 0) + cost - self.inner_cost
        self.inner_cost = inner_cost + cost

    def serial(self) -> int:
        self._serial += 1
        return self._serial

    def sym(self, key: Hashable, kind: str = "", lo: int | None = None, tags: frozenset[object] = frozenset()) -> Sym:
        known = self._syms.get(key)
        if known is None or known.tags != tags:
            known = self._syms[key] = Sym(key, kind, lo, tags)
        return known

    def fresh(self, kind: str = "", lo: int | None = None, tags: frozenset[object] = frozenset()) -> Sym:
        return Sym(("fresh", self.serial()), kind, lo, tags)

    def opaque(self, name: str = "") -> Opaque:
        value = Opaque(self.serial(), name)
        value.born = self.clock
        return value

    def quiet(self, name: str) -> Opaque:
        """An object of a library that keeps no graph, nor do the results of its methods."""
        value = self.opaque(name)
        value.attrs["#quiet"] = True
        return value

    def key(self, value: Value) -> Hashable:
        key = key_of(value)
        if isinstance(key, tuple) and key[0] == "i":
            self._pins.append(value)
        return key

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
        node = Node(self.tick(), op, site, self.loops, parents, operands, saves, saved, assumed, weak)
        node.chain = self.chain
        node.at = self.trail[-1] if self.trail else None
        self.nodes.append(node)
        for parent in parents:
            if parent.loops is self.loops:
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
            self.leaf_tensors.append(tensor)
        return tensor

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
        for t in inputs:
            if type(t) is Tensor and t.from_grad:
                result.from_grad = joined(result.from_grad, t.from_grad)
            if type(t) is Tensor and t.values_of:
                result.values_of = joined(result.values_of, t.values_of)[-MAX_LOST:]
        shares = op.view and name in VIEWS and inputs and isinstance(inputs[0], Tensor)
        if shares:
            result.storage = inputs[0].storage
            result.order = order_of_view(name, inputs[0])
        if not op.differentiable or not self.grad_enabled:
            return result
        if shares:
            result.view_of = inputs[0]
        carriers = [t for t in inputs if isinstance(t, (Tensor, Opaque)) and t.node is not None]
        if not carriers:
            return result
        result.node = self._node_of(name, op, inputs, carriers, site, result.storage, assumed, indexed)
        result.values_of = ()
        if result.from_grad:
            self.by_gradient[result.node] = result.from_grad
        result.is_float = True
        return result

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
        facts = unpacked(
            op,
            [t.node is not None for t in tensors],
            [isinstance(t, Tensor) and t.is_float is False for t in tensors],
            indexed=indexed,
            only_first=len(inputs) > 1 and _may_be_a_number(inputs[-1]),
        )
        saved = [
            (t.storage, t.storage.version)
            for i, t in enumerate(tensors)
            if i in facts.operands and isinstance(t, Tensor) and not is_copied(name, t)
        ]
        if facts.result:
            saved.append((result, result.version))
        parents = tuple(dict.fromkeys(t.node for t in carriers if t.node is not None))
        return self.new_node(
            name,
            site,
            parents,
            tuple(carriers),
            saves=facts.raises,
            saved=tuple(saved),
            assumed=assumed,
            weak=all(p.weak for p in parents),
        )

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
        return result

    def call_left_out(self, name: str, inputs: list[Value], site: Site) -> Opaque:
        """What comes of a callable that is at hand, and too much to be looked at: nothing is assumed of its history."""
        self.escape(inputs, site, name)
        return self.opaque(name)

    def note_random(self, site: Site) -> None:
        """Random numbers are drawn, by whatever calls are open."""
        self.random_nodes.append((site, self.chain))

    def let_go(self, node: Node | None, result: Value, site: Site) -> None:
        """`detach()` is asked of a tensor that has this node."""
        self.cut[result] = self.clock
        self.detached_from, self.detached_at = node, site.node
        if node is not None:
            node.let_go, node.let_go_at = self.loops, self.clock

    def change_in_place(self, tensor: Tensor, site: Site) -> None:
        tensor.storage.version += 1
        tensor.storage.changed, tensor.storage.trail = site, tuple(self.trail)
        tensor.storage.guessed = False

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
        self.steps.append(Step(site, self.loops, self.tick(), tuple(consumed), what, trail, idle, guessed, by_hand))

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
        return [t for t in self.leaf_tensors if t.leaf_node is not None and t.leaf_node.grads]

    def zero(self, leaves: Iterable[Tensor], site: Site) -> None:
        for leaf in (*leaves, *self.hidden):
            if leaf.leaf_node is not None:
                leaf.leaf_node.grads = []
            leaf.grad = None

    # ---- facts

    def type_fault(self, site: Site, text: str, kind: str = "type", lost: tuple[Node, ...] = ()) -> None:
        self.type_faults.append(TypeFault(site, text, kind, lost))

    def refuse(self, site: Site, text: str, name: str = "AttributeError") -> NoReturn:
        """The program does what Python refuses: record it and raise."""
        self.type_fault(site, text)
        raise Raised(name)

    def break_off(self, known: int) -> None:
        """A run ends by an error: by the last of the type faults, if there were only `known` ones when it began."""
        self.broken_off += self.type_faults[known:][-1:]

    def escape(self, values: Iterable[Value], site: Site, how: str) -> None:
        nodes: list[Node] = []
        tags: set[object] = set()
        for value in values:
            found = list(tensors_in(value))
            made = [this for this in found if isinstance(this, Opaque) and HELD in this.attrs]
            found += (t for this in made for kept in this.attrs.values() for t in tensors_in(kept))
            nodes.extend(t.node for t in found if t.node is not None and not t.node.leaf)
            tags.update(tags_in(value))
            give_away(value)
        if nodes or tags:
            self.escapes.append(Escape(tuple(dict.fromkeys(nodes)), site, self.tick(), how, frozenset(tags)))

    def note_read(self, value: Value) -> None:
        """Note that elements of a container may be taken from it: nothing says which."""
        held = held_by(value)
        if isinstance(held, (Sequence, Mapping)):
            held.read = max(held.read, self.clock)

    def store(
        self, container: Sequence | Mapping, value: Value, element: ast.expr | None, site: Site, how: str
    ) -> None:
        note_holder(container, value, self.held)
        if self.watched is not None:
            self.watched.append(Kept(container, value, element, site, how))
        for t in graph_kept(value):
            if t.node is not None and not t.node.leaf:
                version = t.storage.version if isinstance(t, Tensor) else 0
                event = Stored(
                    container, t, t.node, site, element, value, self.loops, self.tick(), how,
                    chain=self.chain, version=version,
                )  # fmt: skip
                self.stored.append(event)
                self._fill(event)

    def _fill(self, event: Stored) -> None:
        """What was stored is in other containers, too, that have held its own since that was made in an open pass."""
        if self.loops:
            for outer, value in holders_of(event.container, self.loops[0].started):
                event = replace(event, container=outer, value=value, how="append", held=set(), inner=event)
                self.filled.append(event)

    def draw(
        self,
        taken: Value,
        items: list[Value],
        *,
        in_order: bool = False,
        more: bool = False,
        place: Hashable = None,
    ) -> Value:
        """One element stands for any of the items, since nobody knows which is read; what was taken."""
        others = [item for item in items if item is not taken]
        self.note_drawn([taken], others, in_order=in_order, more=more, place=place)
        return taken

    def note_drawn(
        self,
        taken: list[Value],
        others: list[Value],
        *,
        in_order: bool = False,
        more: bool = False,
        since: int | None = None,
        place: Hashable = None,
    ) -> None:
        """Some elements of a container are read, and nobody knows which: for what is taken, others may be meant.

        With `more`, the container may hold others than these. They were taken after the clock was `since`, or now.
        """
        own, rest = (
            {t.node: None for v in values for t in graph_in(v, 3) if t.node is not None and not t.node.leaf}
            for values in (taken, others)
        )
        if own and (rest or more):
            clock = self.clock if since is None else since
            self.drawn.append(Drawn(tuple(own), frozenset(rest), clock, in_order, self.loops, place))

    # ---- what the layers above provide

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        raise NotImplementedError

    def call_method(self, this: Value, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        raise NotImplementedError

    def attribute(self, value: Value, name: str, site: Site) -> Value:
        raise NotImplementedError

    def call_unknown(self, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Opaque:
        raise NotImplementedError

    def call_unknown_method(
        self, this: Value, name: str, args: list[Value], kwargs: dict[str, Value], site: Site
    ) -> Opaque:
        return self.call_unknown(name, [this, *args], kwargs, site)

    def run_hooks(self, d: Differentiation, site: Site) -> None:
        raise NotImplementedError

    def eval(self, node: ast.expr, frame: Frame) -> Value:
        raise NotImplementedError

    def subscript(self, this: Value, index: Value, site: Site) -> Value:
        raise NotImplementedError

    def binary(self, op: str, left: Value, right: Value, site: Site) -> Value:
        """A binary operator by the name of its class in `ast`."""
        raise NotImplementedError

    def lookup(self, value: Value, name: str, site: Site) -> Value:
        """As `attribute`, but MISSING where the value certainly has no such attribute."""
        raise NotImplementedError

    def set_attribute(self, value: Value, name: str, new: Value, site: Site) -> None:
        raise NotImplementedError

    def fetched(self, frame: Frame, name: str) -> Value:
        """A name that is bound in a frame; what an imported file imports itself is looked up only then."""
        raise NotImplementedError

    def module_attribute(self, space: Namespace, name: str) -> Value:
        """A name of an imported file."""
        raise NotImplementedError

    def items_of(self, value: Value, site: Site) -> Iterable_:
        """What a loop over `value` runs through."""
        raise NotImplementedError

    def known_truth(self, value: Value, site: Site) -> bool | None:
        """The truth of a value where it is known, or follows from a test that was decided before."""
        raise NotImplementedError

    def truth(self, value: Value, site: Site, default: bool = True, relevant: bool = True) -> bool:
        raise NotImplementedError

    def part(self, value: Opaque, name: str, site: Site, *, named: bool = False) -> Opaque:
        """An attribute or element of something unknown; it has history if the whole has.

        Of a dict, where elements are `named`, that is assumed of each: an accuracy beside the loss is a number.
        """
        child = self.opaque(name)
        child.born = value.born
        child.owner = value
        child.origin = value.origin
        if name in OF_MODULES and WEIGHTS in value.attrs:
            child.attrs[WEIGHTS] = value.attrs[WEIGHTS]
        if value.node is not None and self.grad_enabled:
            child.node = self.new_node(
                "part", site, (value.node,), (value,), saves=False, assumed=named or value.node.assumed,
                weak=value.node.weak,
            )  # fmt: skip
        return child

    def items_first(self, value: Value, index: int, site: Site) -> Value:
        """The element of an iterable that stands for place `index`."""
        items, _ = self.collect(value, site)
        return items[min(index, len(items) - 1)] if items else self.opaque("item")

    def collect(self, value: Value, site: Site, limit: int = 16) -> tuple[list[Value], bool]:
        """The elements of an iterable, and whether these are all: at most `limit`, else a few representatives."""
        items = self.items_of(value, site)
        limit = MAX_LISTED if items.listed else limit
        exact = items.length is not None and items.length <= limit
        result: list[Value] = []
        bound = limit if exact or items.once else MAX_PASSES
        for item in items.start(exact):
            result.append(item)
            if len(result) >= bound:
                return result, exact
        return result, exact or items.whole

    # ---- loops

    def activate(self, node: ast.AST | None, frame: Frame | None, exact: bool) -> Activation:
        activation = Activation(self._loops_begun, node, frame, self.tick(), exact)
        self._loops_begun += 1
        activation.in_forward = self.in_forward > 0
        activation.without_grad = not self.grad_enabled
        activation.trained = self.loops[-1].activation.training.get(node, 0) if self.loops else 0
        activation.inner = self.in_module and isinstance(node, ast.While)
        self.activations.append(activation)
        return activation

    def enter_pass(self, activation: Activation, outer: Loops) -> Pass:
        current = Pass(activation, activation.passes, self.tick())
        activation.passes += 1
        activation.begun.append(len(self.ways))
        self.loops = (*outer, current)
        self.on_pass(current)
        return current

    def activate_over(self, items: Iterable_, node: ast.AST, frame: Frame, exact: bool) -> Activation:
        """Begin a loop over `items`."""
        raise NotImplementedError

    def enter_pass_with(self, item: Value, activation: Activation, outer: Loops) -> None:
        """Begin the pass of an item; what it is tells of the loop."""
        raise NotImplementedError

    def finish(self, activation: Activation) -> None:
        """End a loop."""
        raise NotImplementedError

    def on_pass(self, current: Pass) -> None:
        """Called when a pass begins; a probe looks at the bindings here."""

    @property
    def widening(self) -> bool:
        """Whether an enclosing loop has gone on further than is executed, so that its counters are unknown."""
        return any(p.index > 0 and not p.activation.exact for p in self.loops)

    def truncated_since(self, born: int) -> bool:
        """Whether a loop that began after `born` is executed in fewer passes than the program makes."""
        return any(not p.activation.exact and p.started > born for p in self.loops)


def _may_be_a_number(value: Value) -> bool:
    """Whether the last operand is no tensor, as far as is known: then less is saved."""
    return not isinstance(value, Tensor) and not (isinstance(value, Opaque) and value.node is not None)


def tags_in(value: Value, depth: int = 4) -> set[object]:
    """The marks that numbers inside a value carry (which `.item()` they came from)."""
    if isinstance(value, Sym):
        return set(value.tags)
    if depth <= 0:
        return set()
    tags: set[object] = set()
    if isinstance(value, Sequence):
        for item in value.items[:64]:
            tags |= tags_in(item, depth - 1)
    elif isinstance(value, Mapping):
        for _, item in list(value.items.values())[:64]:
            tags |= tags_in(item, depth - 1)
    elif isinstance(value, Instance):
        for item in list(value.attrs.values())[:64]:
            tags |= tags_in(item, depth - 2)
    return tags


Args = list[Value]
"""Positional arguments."""
Named = dict[str, Value]
"""Arguments by name."""
Handler = Callable[[Core, Args, Named, Site], Value]
"""What is done for a function out of view, and where."""
