"""The values that programs define and import: functions, classes, objects, modules, and the names around them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from autodetach.machine.graph import Site
from autodetach.machine.project import Module
from autodetach.machine.values import Mapping, Value
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import CallableNode


class Frame:
    """The names of a module, class body, function call or comprehension; which way its unknown tests `went`.

    That of a generator whose loops begin no more passes is `ending`; `sent` is what its `yield` gives next, and
    `gone_over` what each of its loops and each `yield from` last went over.
    """

    __slots__ = (
        "activations",
        "cut",
        "declared",
        "ending",
        "function",
        "gone_over",
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
        self.gone_over: dict[ast.AST, Iterable] = {}
        self.went: dict[object, bool] = {}

    def visible(self) -> dict[str, Value]:
        """What is bound here and in what stands around, by its names."""
        inner = self.names
        return inner if self.outer is None else {**self.outer.visible(), **inner}


class NamesOf(Mapping):
    """What `globals()` or `locals()` gives: which names a frame has is only known when somebody asks."""

    __slots__ = ("frame",)

    def __init__(self, born: int, frame: Frame) -> None:
        super().__init__(born, exact=False)
        self.frame = frame


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
        node: CallableNode,
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

    `fields` are those of its own body where Python makes its constructor from them. `meta` is its metaclass, if that is
    in view.
    """

    __slots__ = (
        "bases", "fields", "frame", "frozen", "meta", "name", "names", "node", "of_modules", "order", "qualname",
    )  # fmt: skip

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
        self.meta: Class | None = None


class Instance:
    """An object: of a class of the file, or of a library class that the machine knows (`External`).

    `made`: the call that has made it, where a class was called, or `SimpleNamespace`.
    """

    __slots__ = ("attrs", "born", "cls", "made", "open", "serial")

    def __init__(self, cls: Class | External, serial: int, born: int = 0) -> None:
        self.cls = cls
        self.attrs: dict[str, Value] = {}
        self.open = False
        self.serial = serial
        self.born = born
        self.made: ast.AST | None = None

    def __repr__(self) -> str:
        return f"<{self.cls.name}>"


class Property:
    __slots__ = ("cached", "deleter", "getter", "setter")

    def __init__(self, getter: Value, setter: Value = None, cached: bool = False, deleter: Value = None) -> None:
        self.getter = getter
        self.setter = setter
        self.cached = cached
        self.deleter = deleter


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
    on, and counters are widened to unknown numbers. `length` is None when unknown, and `usual` what it is without
    arguments on the command line, if that tells. `once`: an iterator, it is used up.
    `frame` is that of a generator of the file; its `cut` says that a loop in it was cut off so far. `inner` is what it
    hands on the items of. `taken` is what the call makes of it that takes all: a list, or a sum. `short`: its steps are
    the rows of a tensor, the elements of a display, the results of a network, whose graph is there before the loop, or
    as many as an unknown number says. `listed`: each counts, however many there are: a parameter that an optimizer is
    not seen to have would be taken for one that nobody trains. `latest` is what `next` has got.
    `brief`: what `map` makes keeps little when it is summed. `others` gives those that are unlike the first few.
    """

    __slots__ = (
        "attrs", "brief", "frame", "inner", "latest", "length", "listed", "make", "name", "once", "others", "running",
        "short", "taken", "usual",
    )  # fmt: skip

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
        self.length = self.usual = length
        self.name = name
        self.once = once
        self.short = short
        self.brief = False
        self.listed = listed
        self.others: Callable[[int], Iterator[Value]] | None = None
        self.running: Iterator[Value] | None = None
        self.frame: Frame | None = None
        self.inner: Iterable | None = None
        self.taken: Value = None
        self.latest: Value = None
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
