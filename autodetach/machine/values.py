"""The abstract values on which programs run: what they compute with; what they define is in `program_values`.

Python constants (None, numbers, strings, bytes, Ellipsis) represent themselves; all else is one of these classes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, MutableMapping
from typing import Any, TypeAlias, TypeVar

from autodetach.machine.extents import Extent
from autodetach.machine.graph import Differentiation, Lost, Node, Storage
from autodetach.named_tuples import NamedTuple

Value: TypeAlias = Any
"""A Python constant or an instance of a class of this module or of `program_values`."""

CONSTANTS = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
CONSTANT_TYPES = frozenset(CONSTANTS)
MAX_NESTING = 12
"""Levels of tuples in a key; beyond that, an operand stands for itself, and is equal to no other."""
NUMBER_TYPES = frozenset({bool, int, float, complex})
"""Constants have these types themselves, none that derives from them."""

FIELD_OF_RECORD = "dataclasses.Field"
"""The class of what `dataclasses.fields` gives."""
FROM_NUMBER = "#number"
"""The attribute of an unknown value that has been computed from a number: it is no tensor, unless the rest was.

Of a tensor, what says that it has been computed from, or compared with, a sum of numbers that were read from tensors.
"""
SIZES = "sizes"
"""The kind of what `x.shape` and `x.size()` give of a shape that is not known; its `lo` is a bound of each size."""
PASSED = "#passed"
"""A tag of numbers that count what passes a test, and the mark of a tensor that says what does, or holds a count."""

Shape: TypeAlias = "tuple[int | None, ...] | None"
_T = TypeVar("_T")


class Span(NamedTuple):
    """Between which numbers one is, both of which it may be."""

    least: float
    most: float


class Sym:
    """A plain value that is not known: a number, a text, the outcome of a test. Equal keys mean equal values.

    `nesting` is how deep tuples stand in the key. `lost` is the history of what a number was read from. `span` is
    between which numbers one is, where more is known of that than `lo`, a whole number that it is not below: see
    `span_of`. Of a counter, `lo` is also where it has come to, for which it stands as an index.
    """

    __slots__ = ("key", "kind", "lo", "lost", "nesting", "span", "tags")

    def __init__(
        self,
        key: Hashable,
        kind: str = "",
        lo: int | None = None,
        tags: frozenset[object] = frozenset(),
        span: Span | None = None,
    ) -> None:
        self.key = key
        self.nesting = nesting_of(key)
        self.kind = kind
        self.lo = lo
        self.tags = tags
        self.lost: tuple[Lost, ...] = ()
        self.span = span

    def __repr__(self) -> str:
        return f"Sym({self.key!r})"


class Opaque:
    """A value of unknown type: an argument, what an unknown callable returned. Perhaps a tensor (then see `node`).

    `owner`: the object that it was taken from, as the layer of a network. `giver`: the one whose method gave it.
    `lost`: of an array of numpy, the history of the tensors whose values it has.

    Only with evidence from a run: `origin` is the call that returned it, `states` the attributes that carry history.
    """

    __slots__ = ("attrs", "born", "giver", "lost", "name", "node", "number", "origin", "owner", "scalar", "states")

    def __init__(self, number: int, name: str = "", node: Node | None = None) -> None:
        self.number = number
        self.name = name
        self.node = node
        self.attrs: dict[object, Value] = {}
        self.scalar = False
        self.born = 0
        self.lost: tuple[Lost, ...] = ()
        self.owner: Opaque | None = None
        self.giver: Opaque | None = None
        self.origin: object = None
        self.states: set[str] = set()

    def __repr__(self) -> str:
        return f"Opaque({self.name or self.number})"


class Tensor:
    """A tensor. `node` is None without history; a leaf that requires grad has a node whose `op` is "leaf".

    `from_grad`: what gave the gradient that it is, or that it was computed from. `scaled`: if that went into it only as
    numbers, such as a norm, the nodes of whose values they have scaled.
    `retains_since`: the time from which a differentiation gives it gradient although it is no leaf (`retain_grad`).
    `order`: "flat" for a transposed matrix, "deep" for another view whose dimensions may not lie in order in memory.
    `sizes`: what `.shape` gave, so that it gives the same again where the shape is not, or not wholly, known.
    `extras`: what the program has put on it, under names that tensors do not have.
    `lost`: of what history it has the values, itself without any, as `torch.tensor(losses)`.
    `weights`: of which parameters it has the values, itself without history, as `layer.weight.data.norm()`.
    """

    __slots__ = (
        "born",
        "data_of",
        "extras",
        "from_grad",
        "grad",
        "grad_of",
        "is_float",
        "leaf_node",
        "lost",
        "node",
        "order",
        "parameter",
        "retains_since",
        "scaled",
        "shape",
        "sizes",
        "storage",
        "view_of",
        "weights",
    )

    def __init__(
        self,
        node: Node | None = None,
        shape: Shape = None,
        is_float: bool | None = None,
        storage: Storage | None = None,
    ) -> None:
        self.node = node
        self.shape = shape
        self.is_float = is_float
        self.storage = storage if storage is not None else Storage()
        self.grad: Value = None
        self.parameter = False
        self.data_of: Tensor | None = None
        self.grad_of: Tensor | None = None
        self.from_grad: tuple[Differentiation, ...] = ()
        self.scaled: tuple[Node, ...] = ()
        self.lost: tuple[Lost, ...] = ()
        self.weights: tuple[Lost, ...] = ()
        self.leaf_node: Node | None = node if node is not None and node.leaf else None
        self.view_of: Tensor | None = None
        self.retains_since: int | None = None
        self.sizes: Value = None
        self.born = 0
        self.order = ""
        self.extras: dict[str, Value] | None = None

    @property
    def is_leaf(self) -> bool:
        return self.node is None or self.node.leaf

    def __repr__(self) -> str:
        return f"Tensor({self.node.op if self.node else 'plain'}, {self.shape})"


class Sequence:
    """A list, tuple, set or deque; `exact` is false once its length is no longer known.

    `dropped` is the time at which an item was last taken out. `filled`: whether there is anything in it, where a filter
    decides that and it is not known which elements pass. `holder`: what it was last put into, and as which value;
    `shared`: into something else before. `copied`: what it was made from as a copy, element by element. `room`: the
    places behind those that are known were begun with a constant, as in `[None] * n`; `again`: they hold the same
    elements again, as in `[loss] * n`. `read` is when an element may last have been taken from it, `unwound` when a
    hook, or the `backward` of a function, last took one from its end during a differentiation. `turn` is the key of the
    `k` of a ring, `ring[t % k] = x`. `extent`: which part of a longer list it was made from as a slice.
    """

    __slots__ = (
        "again",
        "attrs",
        "born",
        "copied",
        "dropped",
        "exact",
        "extent",
        "filled",
        "holder",
        "items",
        "kind",
        "maxlen",
        "read",
        "room",
        "shared",
        "turn",
        "unwound",
    )

    def __init__(self, kind: str, items: list[Value], born: int = 0, exact: bool = True) -> None:
        self.kind = kind
        self.items = items
        self.born = born
        self.exact = exact
        self.maxlen: Value = None
        self.turn: Hashable = None
        self.filled: Sym | None = None
        self.dropped = 0
        self.unwound = 0
        self.holder: tuple[Sequence | Mapping, Value] | None = None
        self.copied: Sequence | None = None
        self.extent: Extent | None = None
        self.room = False
        self.again = False
        self.read = -1
        self.shared = False
        self.attrs: dict[str, Value] = {}

    def __repr__(self) -> str:
        return f"{self.kind}{self.items!r}"


class Mapping:
    """A dict: hashable form of the key -> (key, value); `exact` is false once it may hold other keys.

    `holder`: what it was last put into, and as which value; `shared`: into something else before. `copied`: what it was
    made from as a copy. `cut` is when what has no history last took another one's place, `read` when an element may
    last have been taken from it, `dropped` when one last left it. `turn` is the key of the `k` of a ring,
    `ring[t % k] = x`.
    """

    __slots__ = ("born", "copied", "cut", "default", "dropped", "exact", "holder", "items", "read", "shared", "turn")

    def __init__(self, born: int = 0, exact: bool = True) -> None:
        self.items: MutableMapping[Hashable, tuple[Value, Value]] = {}
        self.born = born
        self.exact = exact
        self.default: Value = None
        self.holder: tuple[Sequence | Mapping, Value] | None = None
        self.copied: Mapping | None = None
        self.cut = 0
        self.dropped = 0
        self.read = -1
        self.shared = False
        self.turn: Hashable = None

    def __repr__(self) -> str:
        return f"dict{[(k, v) for k, v in self.items.values()]!r}"


class Slice:
    __slots__ = ("lower", "step", "upper")

    def __init__(self, lower: Value, upper: Value, step: Value) -> None:
        self.lower = lower
        self.upper = upper
        self.step = step


class GradMode:
    """`torch.no_grad()` and its kin, as context manager and as decorator. `enabled` may be unknown (a Sym)."""

    __slots__ = ("enabled", "previous")

    def __init__(self, enabled: Value) -> None:
        self.enabled = enabled
        self.previous: list[Value] = []


def joined(*origins: tuple[_T, ...]) -> tuple[_T, ...]:
    """Of what several tensors come, each once: what gave their gradients, or whose values they have."""
    return tuple(dict.fromkeys(one for several in origins for one in several)) if any(origins) else ()


def gradients_in(values: Iterable[Value]) -> tuple[Differentiation, ...]:
    """What gave the gradients that some tensors are, or that they were computed from."""
    found: tuple[Differentiation, ...] = ()
    for value in values:
        if type(value) is Tensor and value.from_grad:
            found = joined(found, value.from_grad)
    return found


def lost_in(values: Iterable[Value]) -> tuple[Lost, ...]:
    """Of what history some tensors have the values, themselves without any."""
    found: tuple[Lost, ...] = ()
    for value in values:
        if type(value) is Tensor and value.lost and value.node is None:
            found = joined(found, value.lost)
    return found


def marked_in(values: Iterable[Value]) -> dict[str, Value] | None:
    """What is put on a tensor that is made of some values, if one of these was computed from a number."""
    for value in values:
        if type(value) is Tensor and value.extras is not None and FROM_NUMBER in value.extras:
            return {FROM_NUMBER: value.extras[FROM_NUMBER]}
    return None


def scaled_by_gradient(inputs: list[Value]) -> tuple[Node, ...]:
    """Of which nodes an operation has the values, if gradients go into it as numbers only, or as what these scaled."""
    scaled: list[tuple[Node, ...]] = []
    for t in inputs:
        if type(t) is not Tensor:
            continue
        if not t.from_grad:
            scaled.append((t.node,) if t.node is not None else tuple(one.node for one in (*t.weights, *t.lost)))
        elif t.scaled or t.shape == ():
            scaled.append(t.scaled)
        else:
            return ()
    return joined(*scaled)


def nesting_of(key: Hashable) -> int:
    """How deep tuples stand in tuples."""
    if type(key) is not tuple:
        return 0
    deepest = 0
    for part in key:
        if type(part) is tuple and (nesting := nesting_of(part)) > deepest:
            deepest = nesting
    return 1 + deepest
