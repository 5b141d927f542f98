"""The heap of abstract autograd nodes: what is saved, what was walked, what was freed."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from autodetach.machine.activations import Loops
from autodetach.named_tuples import NamedTuple


class Site:
    """Where something happens: the syntax node, the qualified name of its function, and the values of its operands."""

    __slots__ = ("node", "operands", "scope")

    def __init__(self, node: ast.AST, scope: str, operands: tuple[tuple[ast.expr, object], ...] = ()) -> None:
        self.node = node
        self.scope = scope
        self.operands = operands

    @property
    def line(self) -> int:
        """1-based line, 0 for what has no place in the text."""
        return getattr(self.node, "lineno", 0)


DETACHED = "detached"
NUMBER = "number"
COPIED = "copied"
GATHERED = "gathered"
DISCRETE = "discrete"
ARRAY = "array"
OFF = "off"
GRADIENT = "gradient"
COPIES = frozenset({COPIED, GATHERED})
CUTS = frozenset({DETACHED, OFF})


MOST_EARLIER = 3
"""Of so many changes of a storage, besides the last one, the places are kept."""


class Storage:
    """The memory behind a tensor and its views, with PyTorch's version counter.

    `trail`: the statements that were running when it was last changed, outermost first, each with its frame.
    `guessed`: the last change is the step of an optimizer of which nobody knows the parameters. `uncounted`: changes by
    way of `.data`, which has a counter of its own. `earlier`: the last changes before that one, the oldest first.
    `kept`: where a number was read that is kept as it was then, and not computed with. `changed_at`: when it was last
    changed.
    """

    __slots__ = ("changed", "changed_at", "earlier", "guessed", "kept", "trail", "uncounted", "version")

    def __init__(self) -> None:
        self.version = 0
        self.changed: Site | None = None
        self.changed_at = 0
        self.earlier: tuple[Site, ...] = ()
        self.trail: tuple[Place, ...] = ()
        self.guessed = False
        self.uncounted = 0
        self.kept: tuple[Site, ...] = ()

    def change(self, site: Site, trail: tuple[Place, ...], clock: int) -> None:
        """Note a change in place, where something is running."""
        if self.changed is not None:
            self.earlier = (*self.earlier, self.changed)[-MOST_EARLIER:]
        self.version += 1
        self.changed, self.changed_at, self.trail, self.guessed = site, clock, trail, False

    def changed_since(self, version: int) -> list[Site]:
        """The changes behind a version, the oldest first, of so many as are known."""
        known = [*self.earlier, *([] if self.changed is None else [self.changed])]
        return known[-(self.version - version) :] if self.version > version else []

    @property
    def changes(self) -> int:
        """How often it was changed, in whatever way."""
        return self.version + self.uncounted


Place = tuple[ast.stmt, object]
"""A running statement and its frame."""

Chain: TypeAlias = "tuple[Site, Place | None, Any] | None"
"""The calls that are open, innermost first, as a linked list, each with the statement that makes it.

What follows is a chain, too: mypyc has no types that contain themselves.
"""


SURE: Mapping[Storage, tuple[Node, ...]] = {}
"""Of a node that saves all its memory whatever else requires grad."""


class Node:
    """A backward node, or a leaf that accumulates gradient (`op == "leaf"`).

    `links`: the parents, each as often as results of it are given to the node, as both `h` and `c` of a cell are.
    `weak` nodes stand for values that may have no history at all; they never prove a fault. `assumed` nodes have
    history only if an unknown callable hands on that of its arguments; `called` ones are what it gave back, and
    `callee` is that callable if it is a value. `observed` says what a run has shown of it. `let_go`: in which passes
    `detach()` was last asked of it, and `let_go_at` when. `presumed`: of a leaf, that it is known to be the weight of a
    network, but not to be trained. `thawed`: when it was to require grad again. `moved`: of a leaf, that something was
    taken for it which may be a copy, as on another device. `saved_for`: memory that is saved only if one of these
    nodes, of other operands, has a history.
    """

    __slots__ = (
        "assumed",
        "at",
        "called",
        "callee",
        "chain",
        "freed_by",
        "frozen",
        "grads",
        "let_go",
        "let_go_at",
        "links",
        "loops",
        "moved",
        "number",
        "observed",
        "op",
        "operands",
        "parents",
        "presumed",
        "saved",
        "saved_for",
        "saves",
        "site",
        "thawed",
        "walked_by",
        "weak",
    )

    def __init__(
        self,
        number: int,
        op: str,
        site: Site,
        loops: Loops,
        parents: tuple[Node, ...],
        operands: tuple[object, ...] = (),
        saves: bool = False,
        saved: tuple[tuple[Storage, int], ...] = (),
        assumed: bool = False,
        weak: bool = False,
    ) -> None:
        self.number = number
        self.op = op
        self.site = site
        self.loops = loops
        self.parents = parents
        self.links = _links(parents, operands) if len(operands) > 1 and parents else parents
        self.operands = operands
        self.saves = saves
        self.saved = saved
        self.saved_for: Mapping[Storage, tuple[Node, ...]] = SURE
        self.assumed = assumed
        self.weak = weak
        self.freed_by: Differentiation | None = None
        self.walked_by: list[Differentiation] = []
        self.grads: list[Differentiation] = []
        self.chain: Chain = None
        self.at: Place | None = None
        self.called = False
        self.callee: object = None
        self.let_go: Loops | None = None
        self.let_go_at = 0
        self.frozen = False
        self.moved = False
        self.presumed = False
        self.thawed: tuple[int, ...] = ()
        self.observed = ""

    @property
    def leaf(self) -> bool:
        return self.op == "leaf"


def _links(parents: tuple[Node, ...], operands: tuple[object, ...]) -> tuple[Node, ...]:
    given = [getattr(operand, "node", None) for operand in {id(o): o for o in operands}.values()]
    if len(set(given)) == len(given):
        return parents
    return tuple(p for p in parents for _ in range(given.count(p) or 1))


class Lost(NamedTuple):
    """History of `node` that what was made at `place` does not have, though it was made of its value.

    `how`: it was DETACHED, read as a NUMBER, COPIED into a new tensor, GATHERED into one with others that stood in a
    list, put into an operation without gradient (DISCRETE, as `argmax`), or computed with where gradients are OFF; or
    the GRADIENT was taken without `create_graph`.
    `sure`: whatever else the value was made of has no history either. `sizes`: the shape of what was copied, gathered
    or read; None where that is not known. `loops`: of the value of a parameter, where it was read. `compared`: where a
    loss of PyTorch was given it, and nothing that has history.
    """

    node: Node
    place: ast.AST
    how: str
    sure: bool = True
    sizes: tuple[int | None, ...] | None = None
    loops: Loops = ()
    compared: ast.AST | None = None


class Differentiation:
    """One call of `backward` or `torch.autograd.grad`.

    `perhaps`: what stands, in all that it walks, for other elements of a container of which nobody knows. `within`: the
    one that has called the hook in which this one stands, and goes on behind it; `calls_itself`: that calls it again.
    """

    __slots__ = (
        "call",
        "calls_itself",
        "create_graph",
        "kind",
        "loops",
        "number",
        "operands",
        "perhaps",
        "raised",
        "retain",
        "retain_written",
        "root_expression",
        "roots",
        "scope",
        "site",
        "trail",
        "walked",
        "within",
    )

    def __init__(
        self,
        number: int,
        site: Site,
        loops: Loops,
        roots: tuple[Node, ...],
        call: ast.Call,
        kind: str,
        *,
        retain: bool,
        retain_written: ast.keyword | ast.expr | None,
        create_graph: bool,
        root_expression: ast.expr | None = None,
        operands: tuple[object, ...] = (),
        trail: tuple[tuple[ast.stmt, object], ...] = (),
    ) -> None:
        self.number = number
        self.site = site
        self.loops = loops
        self.roots = roots
        self.call = call
        self.kind = kind
        self.scope = site.scope
        self.retain = retain
        self.retain_written = retain_written
        self.create_graph = create_graph
        self.root_expression = root_expression
        self.operands = operands
        self.trail = trail
        self.walked: list[Node] = []
        self.raised = False
        self.perhaps: frozenset[Node] = frozenset()
        self.within: Differentiation | None = None
        self.calls_itself = False


def is_walked_again(d: Differentiation) -> bool:
    """Whether a later differentiation walks some of the same graph, or one goes on with it behind a hook."""
    others = (other for n in d.walked if not n.leaf for other in n.walked_by)
    return any(other.number > d.number or other is d.within for other in others)


def trail_of(node: Node) -> tuple[Place, ...]:
    """The statements that were running when a node was made, outermost first: one a call."""
    own = () if node.at is None else (node.at,)
    return tuple(reversed((*own, *places_in(node.chain))))


def calls_of(chain: Chain) -> Iterator[Site]:
    """Open calls, innermost first."""
    while chain is not None:
        site, _, chain = chain
        yield site


def places_in(chain: Chain) -> Iterator[Place]:
    """The statements that make the open calls, innermost first."""
    while chain is not None:
        _, place, chain = chain
        if place is not None:
            yield place


def ancestors(roots: Iterable[Node]) -> Iterator[Node]:
    """Every node that is reachable from `roots`, each once, children before their own parents are expanded."""
    seen: set[Node] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node
        stack.extend(node.parents)


def assumed_way(roots: Iterable[Node], goal: Node) -> tuple[Node, ...]:
    """What is assumed on a way from `roots` down to a node: nothing where a way is known from end to end."""
    came: dict[Node, Node | None] = dict.fromkeys(roots)
    sure, doubtful = [n for n in came if not n.assumed], [n for n in came if n.assumed]
    while sure or doubtful:
        node = (sure or doubtful).pop()
        if node is goal:
            break
        for parent in node.parents:
            if parent not in came:
                came[parent] = node
                (doubtful if parent.assumed else sure).append(parent)
    found: list[Node] = []
    at: Node | None = goal
    while at is not None:
        found += [at] if at.assumed else []
        at = came.get(at)
    return tuple(found)


def leading_to(leaf: Node, order: Iterable[Node]) -> set[Node]:
    """Of nodes by their number, those from which a path through these leads down to a leaf."""
    on_path: set[Node] = set()
    for node in order:  # parents are older than their children, in-place rebinding included
        if node is leaf or not on_path.isdisjoint(node.parents):
            on_path.add(node)
    return on_path


def with_leaves(nodes: Iterable[Node]) -> set[Node]:
    """Of these nodes, with all that is behind them, those through which gradient comes to a leaf."""
    found: set[Node] = set()
    for node in sorted(nodes, key=lambda n: n.number):
        if node.leaf or not found.isdisjoint(node.parents):
            found.add(node)
    return found


def take_turns(node: Node, d: Differentiation) -> bool:
    """Whether one method made what another one walks, and somebody else calls both: perhaps in turn, for each batch.

    If the first frees it itself, the second comes too late whatever their turns.
    """
    if not node.loops or not d.loops:
        return False
    maker, walker = node.loops[0].activation, d.loops[0].activation
    if maker is walker or maker.node is not None or walker.node is not None:
        return False
    return node.freed_by is None or not node.freed_by.loops or node.freed_by.loops[0].activation is not maker
