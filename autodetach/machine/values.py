"""The abstract values on which programs run.

Python constants (None, numbers, strings, bytes, Ellipsis) represent themselves; all else is one of these classes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator
from typing import Any, NamedTuple, TypeAlias, TypeVar

from autodetach.machine.graph import Differentiation, Lost, Node, Site, Storage
from autodetach.machine.marks import SUMMED
from autodetach.machine.project import Module

Value: TypeAlias = Any
"""A Python constant or an instance of a class of this module."""

CONSTANTS = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
CONSTANT_TYPES = frozenset(CONSTANTS)
MAX_NESTING = 12
"""Levels of tuples in a key; beyond that, an operand stands for itself, and is equal to no other."""
NUMBER_TYPES = frozenset({bool, int, float, complex})
"""Constants have these types themselves, none that derives from them."""

FIELD_OF_RECORD = "dataclasses.Field"
"""The class of what `dataclasses.fields` gives."""
FROM_NUMBER = "#number"
"""The attribute of an unknown value that has been computed from a number: it is no tensor, unless the rest was."""

Shape: TypeAlias = "tuple[int | None, ...] | None"
_T = TypeVar("_T")


class Sym:
    """A plain value that is not known: a number, a text, the outcome of a test. Equal keys mean equal values.

    `nesting` is how deep tuples stand in the key. `lost` is the history of what a number was read from.
    """

    __slots__ = ("key", "kind", "lo", "lost", "nesting", "tags")

    def __init__(
        self, key: Hashable, kind: str = "", lo: int | None = None, tags: frozenset[object] = frozenset()
    ) -> None:
        self.key = key
        self.nesting = nesting_of(key)
        self.kind = kind
        self.lo = lo
        self.tags = tags
        self.lost: tuple[Lost, ...] = ()

    def __repr__(self) -> str:
        return f"Sym({self.key!r})"


class Opaque:
    """A value of unknown type: an argument, what an unknown callable returned. Perhaps a tensor (then see `node`).

    `owner`: the object that it was taken from, as the layer of a network.
    `lost`: of an array of numpy, the history of the tensors whose values it has.

    Only with evidence from a run: `origin` is the call that returned it, `states` the attributes that carry history.
    """

    __slots__ = ("attrs", "born", "lost", "name", "node", "number", "origin", "owner", "scalar", "states")

    def __init__(self, number: int, name: str = "", node: Node | None = None) -> None:
        self.number = number
        self.name = name
        self.node = node
        self.attrs: dict[object, Value] = {}
        self.scalar = False
        self.born = 0
        self.lost: tuple[Lost, ...] = ()
        self.owner: Opaque | None = None
        self.origin: object = None
        self.states: set[str] = set()

    def __repr__(self) -> str:
        return f"Opaque({self.name or self.number})"


class Tensor:
    """A tensor. `node` is None without history; a leaf that requires grad has a node whose `op` is "leaf".

    `from_grad`: what gave the gradient that it is, or that it was computed from.
    `retains_since`: the time from which a differentiation gives it gradient although it is no leaf (`retain_grad`).
    `order`: "flat" for a transposed matrix, "deep" for another view whose dimensions may not lie in order in memory.
    `sizes`: what `.shape` gave, so that it gives the same again where the shape is not, or not wholly, known.
    `extras`: what the program has put on it, under names that tensors do not have.
    `lost`: of what history it has the values, itself without any, as `torch.tensor(losses)`.
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
        "shape",
        "sizes",
        "storage",
        "view_of",
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
        self.lost: tuple[Lost, ...] = ()
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
    hook, or the `backward` of a function, last took one from its end during a differentiation.
    """

    __slots__ = (
        "again",
        "attrs",
        "born",
        "copied",
        "dropped",
        "exact",
        "filled",
        "holder",
        "items",
        "kind",
        "maxlen",
        "read",
        "room",
        "shared",
        "unwound",
    )

    def __init__(self, kind: str, items: list[Value], born: int = 0, exact: bool = True) -> None:
        self.kind = kind
        self.items = items
        self.born = born
        self.exact = exact
        self.maxlen: Value = None
        self.filled: Sym | None = None
        self.dropped = 0
        self.unwound = 0
        self.holder: tuple[Sequence | Mapping, Value] | None = None
        self.copied: Sequence | None = None
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
    last have been taken from it.
    """

    __slots__ = ("born", "copied", "cut", "default", "exact", "holder", "items", "read", "shared")

    def __init__(self, born: int = 0, exact: bool = True) -> None:
        self.items: dict[Hashable, tuple[Value, Value]] = {}
        self.born = born
        self.exact = exact
        self.default: Value = None
        self.holder: tuple[Sequence | Mapping, Value] | None = None
        self.copied: Mapping | None = None
        self.cut = 0
        self.read = -1
        self.shared = False

    def __repr__(self) -> str:
        return f"dict{[(k, v) for k, v in self.items.values()]!r}"


class NamesOf(Mapping):
    """What `globals()` or `locals()` gives: which names a frame has is only known when somebody asks."""

    __slots__ = ("frame",)

    def __init__(self, born: int, frame: Frame) -> None:
        super().__init__(born, exact=False)
        self.frame = frame


class Frame:
    """The names of a module, class body, function call or comprehension; which way its unknown tests `went`.

    That of a generator whose loops begin no more passes is `ending`; `sent` is what its `yield` gives next.
    """

    __slots__ = (
        "activations",
        "cut",
        "declared",
        "ending",
        "function",
        "is_class",
        "module",
        "names",
        "outer",
        "qualname",
        "returns",
        "sent",
        "started",
        "this",
        "top",
        "went",
    )

    def __init__(self, outer: Frame | None, qualname: str, function: Function | None = None) -> None:
        self.names: dict[str, Value] = {}
        self.outer = outer
        self.top: Frame = self if outer is None else outer.top
        self.module: Module | None = None
        self.qualname = qualname
        self.function = function
        self.is_class = False
        self.declared: dict[str, str] = {}
        self.this: Value = None
        self.returns: list[Value] = []
        self.started = 0
        self.activations = 0
        self.cut = False
        self.ending = False
        self.sent: Value = None
        self.went: dict[object, bool] = {}

    def visible(self) -> dict[str, Value]:
        """What is bound here and in what stands around, by its names."""
        inner = self.names
        return inner if self.outer is None else {**self.outer.visible(), **inner}


class Function:
    """A function of the analysed file, with the frame that it closes over."""

    __slots__ = (
        "attrs",
        "called",
        "defaults",
        "frame",
        "grad_mode",
        "is_generator",
        "kwdefaults",
        "name",
        "node",
        "owner",
        "qualname",
    )

    def __init__(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        frame: Frame,
        name: str,
        qualname: str,
        defaults: list[Value],
        kwdefaults: list[Value],
    ) -> None:
        self.node = node
        self.frame = frame
        self.name = name
        self.qualname = qualname
        self.defaults = defaults
        self.kwdefaults = kwdefaults
        self.attrs: dict[str, Value] = {}
        self.grad_mode: Value = None
        self.is_generator = False
        self.owner: Class | None = None
        self.called = False


class Method:
    """A callable bound to its first argument."""

    __slots__ = ("function", "this")

    def __init__(self, function: Value, this: Value) -> None:
        self.function = function
        self.this = this


class Native:
    """A callable that the machine itself implements."""

    __slots__ = ("attrs", "call", "name", "this")

    def __init__(
        self, name: str, call: Callable[[list[Value], dict[str, Value], Site], Value], this: Value = None
    ) -> None:
        self.name = name
        self.call = call
        self.this = this
        self.attrs: dict[str, Value] = {}


class External:
    """Something that was imported, by its dotted path (`torch.nn.functional.relu`), or a builtin (`builtins.len`)."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    def __repr__(self) -> str:
        return f"External({self.path})"


class Namespace:
    """A file of the project that was imported; `begun` once its body is run, or was, and `done` when it was.

    `waiting` are the files that have taken all its names by a star before that.
    """

    __slots__ = ("begun", "done", "frame", "module", "waiting")

    def __init__(self, module: Module, frame: Frame) -> None:
        self.module = module
        self.frame = frame
        self.begun = False
        self.done = False
        self.waiting: list[Frame] = []

    def __repr__(self) -> str:
        return f"<module {self.module.name}>"


class Deferred:
    """What a file imports: looked for when its name is read, and most names never are.

    `name` of the module `dotted`, as it is written in the file of the frame `importer`. While it is `sought`, the files
    that are run for it see something unknown in its place, as a circle of imports does.
    """

    __slots__ = ("dotted", "importer", "name", "sought")

    def __init__(self, importer: Frame, dotted: str, name: str) -> None:
        self.importer = importer
        self.dotted = dotted
        self.name = name
        self.sought = False


class Field(NamedTuple):
    """A field of a record; its `default` is a function that makes the value, where it is a `factory`.

    `argument` is its name in the constructor, None if that does not take it, and only `by_name`. What is not `kept` is
    handed to `__post_init__` alone. `description` is what `field(...)` gave.
    """

    name: str
    default: Value
    factory: bool = False
    argument: str | None = None
    by_name: bool = False
    kept: bool = True
    converter: Value = None
    description: Instance | None = None


class Class:
    """A class of the analysed file. `bases` are Class, External or Opaque.

    `order` is kept by `linear_order`, and `of_modules` by `is_module`.

    `fields` are those of its own body where Python makes its constructor from them.
    """

    __slots__ = ("bases", "fields", "frame", "frozen", "name", "names", "node", "of_modules", "order", "qualname")

    def __init__(
        self, node: ast.ClassDef, name: str, qualname: str, bases: list[Value], names: dict[str, Value]
    ) -> None:
        self.node = node
        self.name = name
        self.qualname = qualname
        self.bases = bases
        self.names = names
        self.fields: list[Field] | None = None
        self.frozen = False
        self.order: list[Class | External] | None = None
        self.of_modules: bool | None = None


class Instance:
    """An object: of a class of the file, or of a library class that the machine knows (`External`)."""

    __slots__ = ("attrs", "born", "cls", "open", "serial")

    def __init__(self, cls: Class | External, serial: int, born: int = 0) -> None:
        self.cls = cls
        self.attrs: dict[str, Value] = {}
        self.open = False
        self.serial = serial
        self.born = born

    def __repr__(self) -> str:
        return f"<{self.cls.name}>"


class Property:
    __slots__ = ("cached", "getter", "setter")

    def __init__(self, getter: Value, setter: Value = None, cached: bool = False) -> None:
        self.getter = getter
        self.setter = setter
        self.cached = cached


class StaticMethod:
    __slots__ = ("function",)

    def __init__(self, function: Value) -> None:
        self.function = function


class ClassMethod:
    __slots__ = ("function",)

    def __init__(self, function: Value) -> None:
        self.function = function


class Super:
    """What `super()` gives: attribute look-up that starts behind `cls` in the order of `this`."""

    __slots__ = ("cls", "this")

    def __init__(self, cls: Class | None, this: Value) -> None:
        self.cls = cls
        self.this = this


class Iterable:
    """Something to loop over (`range`, `zip`, a generator, a data loader).

    `make(exact)` starts an iterator; when `exact` is false the loop stops after a few passes though the program goes
    on, and counters are widened to unknown numbers. `length` is None when unknown. `once`: an iterator, it is used up.
    `frame` is that of a generator of the file; its `cut` says that a loop in it was cut off so far. `inner` is what it
    hands on the items of. `short`: its steps are the rows of a tensor, the elements of a display, the results of a
    network, whose graph is there before the loop, or as many as an unknown number says. `listed`: each counts, however
    many there are: a parameter that an optimizer is not seen to have would be taken for one that nobody trains.
    """

    __slots__ = ("attrs", "frame", "inner", "length", "listed", "make", "name", "once", "running", "short")

    def __init__(
        self,
        make: Callable[[bool], Iterator[Value]],
        length: int | None = None,
        name: str = "",
        once: bool = False,
        short: bool = False,
        listed: bool = False,
    ) -> None:
        self.make = make
        self.length = length
        self.name = name
        self.once = once
        self.short = short
        self.listed = listed
        self.running: Iterator[Value] | None = None
        self.frame: Frame | None = None
        self.inner: Iterable | None = None
        self.attrs: dict[str, Value] = {}

    @property
    def whole(self) -> bool:
        """Whether it yields what the program yields, as far as it has run."""
        return self.frame is not None and not self.frame.cut

    def start(self, exact: bool) -> Iterator[Value]:
        if not self.once:
            return self.make(exact)
        if self.running is None:
            self.running = self.make(exact)
        return self.running


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


def is_constant(value: Value) -> bool:
    return type(value) in CONSTANT_TYPES


GIVEN = "#given"
"""Marks what a module that is not in view has given, be it a tensor or a record of several: nothing has told yet."""
RECORD = "record"
"""What is said by that mark once a part was asked for by its name."""
TRUTH = "truth"
"""The kind of a symbol that is True or False for certain: what a comparison of numbers gives."""


MEMBER = "#member"
"""Marks a member of an enumeration, by the names of its class and its own: it is equal to no other."""


def is_member(value: Value) -> bool:
    """Whether a value is a member of an enumeration of the file that is neither a text nor a number."""
    return type(value) is Instance and MEMBER in value.attrs


def is_truth(value: Value) -> bool:
    """What a comparison of numbers gives: True or False, nobody knows which."""
    return type(value) is Sym and value.kind == TRUTH


def is_number(value: Value) -> bool:
    """A Python number for certain (bool included)."""
    kind = type(value)
    return kind in NUMBER_TYPES or (kind is Sym and value.kind == "number")


def may_be_no_tensor(value: Value) -> bool:
    """Whether nothing tells that something unknown is a tensor."""
    if isinstance(value, Opaque):
        attrs = value.attrs
        return (value.node is None or value.node.weak or GIVEN in attrs or SUMMED in attrs) and not value.scalar
    if isinstance(value, External):  # `math.tau`, `sys.maxsize`
        return not value.path.startswith("torch")
    return isinstance(value, Sym) and not value.kind


def nesting_of(key: Hashable) -> int:
    """How deep tuples stand in tuples."""
    if type(key) is not tuple:
        return 0
    deepest = 0
    for part in key:
        if type(part) is tuple and (nesting := nesting_of(part)) > deepest:
            deepest = nesting
    return 1 + deepest


def key_of(value: Value) -> Hashable:
    """A hashable form of a value: equal for equal constants, identity otherwise."""
    kind = type(value)
    if kind is Sym:
        # A key that has its operands' keys in it, in each twice (`x + k * (m - x)`), doubles with every pass of a loop.
        return ("s", value.key if value.nesting < MAX_NESTING else value)
    if kind is Opaque:
        return ("o", value.number)
    if kind in CONSTANT_TYPES:
        if isinstance(value, (bool, int, float)):
            return ("c", value)
        return ("c", kind.__name__, value)
    if isinstance(value, Sequence) and value.kind == "tuple":
        return ("t", tuple(key_of(v) for v in value.items))
    if isinstance(value, External):
        return ("x", value.path)
    if kind is Instance and MEMBER in value.attrs:
        return ("c", "member", value.attrs[MEMBER])
    return ("i", id(value))


def is_scalar(value: Value) -> bool:
    """Proven to be a 0-dim tensor (or a tensor of one element, where `backward()` was called on it)."""
    if isinstance(value, Tensor):
        return value.shape == ()
    return isinstance(value, Opaque) and value.scalar
