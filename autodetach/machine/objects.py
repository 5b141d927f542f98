"""Attributes, classes, instances and calls."""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.machine import (
    backward_hooks,
    containers,
    cut_parts,
    forward_hooks,
    functional,
    library_constants,
    library_objects,
    object_arrays,
    options,
    own_functions,
    parameter_classes,
    python_builtins,
    records,
    standard_library,
    tensors,
    torch_library,
    unknown,
)
from autodetach.machine.attribute_view import AttributeView
from autodetach.machine.classes import cannot_be_called, decorate, library_bases, linear_order
from autodetach.machine.core import HELD, MAX_DEPTH, MAX_NESTED, MAX_RECURSION, MISSING, Core, Raised
from autodetach.machine.events import AttributeSet
from autodetach.machine.exceptions import is_ready_for
from autodetach.machine.graph import Differentiation, Site
from autodetach.machine.keywords import OUT_OF_VIEW, left_to_default
from autodetach.machine.module_tree import is_module, named_child, set_child
from autodetach.machine.number_readers import SCRIPTED, wanted
from autodetach.machine.optimizers import give_parameters
from autodetach.machine.parametrizations import computed, is_parametrized
from autodetach.machine.torch_semantics import TENSOR_ATTRIBUTES
from autodetach.machine.values import (
    FROM_NUMBER,
    GIVEN,
    RECORD,
    Class,
    ClassMethod,
    External,
    Frame,
    Function,
    GradMode,
    Instance,
    Iterable,
    Mapping,
    Method,
    Namespace,
    Native,
    Opaque,
    Property,
    Sequence,
    StaticMethod,
    Super,
    Sym,
    Tensor,
    Value,
    contents,
    graph_kept,
    is_constant,
    is_number,
    is_truth,
)

KEPT = (Tensor, Opaque, Sequence, Mapping)
"""What an attribute keeps together with its graph."""
CONTAINERS = frozenset({Sequence, Mapping, str, bytes})
CLASSES_OF_CONTAINERS: dict[str, type[Sequence | Mapping]] = {"builtins.dict": Mapping, "builtins.list": Sequence}
RESUMING = frozenset({"send", "__next__"})
"""What goes on with a generator, as `next` does."""
OF_ITEMS = frozenset({"__getitem__", "__setitem__", "__contains__"})
OF_PYTHON = frozenset(
    f"builtins.{name}" for name in "dict list tuple set frozenset str bytes int float complex".split()
)
"""Classes with methods of their own."""
NOT_OF_NUMBERS = TENSOR_ATTRIBUTES - set(dir(float)) - set(dir(int))


def is_open(cls: Class | External) -> bool:
    """Whether the class has a base that nobody knows here, so that it may have any attribute."""
    if isinstance(cls, External):
        return not library_objects.knows_class(cls.path)
    return any(
        isinstance(b, Opaque)
        or (isinstance(b, External) and _may_have_more(b.path))
        or (isinstance(b, Class) and is_open(b))
        for b in cls.bases
    )


def _may_have_more(path: str) -> bool:
    """Whether a class that is not in view may give its subclasses attributes that nobody knows here."""
    return path in OF_PYTHON or not (library_objects.knows_class(path) or path.startswith("builtins."))


class Objects(Core):
    """Core plus attribute access and calls. Bodies of functions are run by the layers above."""

    def run_function(self, function: Function, frame: Frame) -> Value:
        raise NotImplementedError

    def generate(self, function: Function, frame: Frame) -> Iterator[Value]:
        raise NotImplementedError

    # ---- attributes

    def class_attribute(self, cls: Class | External, name: str, after: Class | None = None) -> Value:
        """The raw entry for `name` in the order of look-up (behind `after`), or MISSING."""
        if isinstance(cls, External):
            return MISSING
        order = cls.order or linear_order(cls)
        if after is not None and after in order:
            order = order[order.index(after) + 1 :]
        for c in order:
            if isinstance(c, Class) and name in c.names:
                return c.names[name]
        return MISSING

    def bind(self, raw: Value, this: Value, site: Site) -> Value:
        if isinstance(raw, Property):
            return self.call(raw.getter, [this], {}, site)
        if isinstance(raw, StaticMethod):
            return raw.function
        if isinstance(raw, ClassMethod):
            return Method(raw.function, this.cls if isinstance(this, Instance) else this)
        if isinstance(raw, (Function, Native)) and isinstance(this, Instance):
            return Method(raw, this)
        if isinstance(raw, Instance) and isinstance(this, Instance):
            getter = self.class_attribute(raw.cls, "__get__")
            if getter is not MISSING:
                return self.call(self.bind(getter, raw, site), [this, this.cls], {}, site)
        return raw

    def lookup(self, value: Value, name: str, site: Site) -> Value:
        kind = type(value)
        if kind is Instance:
            return self._instance_attribute(value, name, site)
        if kind is Opaque:
            return self._opaque_attribute(value, name, site)
        if kind is External:
            return library_constants.constant(value.path + "." + name)
        if kind is Tensor:
            return tensors.attribute(self, value, name, site)
        if kind is Class:
            return self._class_lookup(value, name, site)
        if kind is Super:
            return self._super_attribute(value, name, site)
        if isinstance(value, Namespace):
            return self.module_attribute(value, name)
        if isinstance(value, (Function, Native, Method)):
            return self._function_attribute(value, name)
        if isinstance(value, (Sequence, Mapping, str, bytes)):
            return containers.attribute(self, value, name)
        if isinstance(value, Iterable):
            if name in RESUMING and value.frame is not None and value.once:
                return Native(name, lambda args, kwargs, s: self._resumed(value, args, s), value)
            return value.attrs.get(name, MISSING)
        if isinstance(value, GradMode) and name in ("__enter__", "__exit__"):
            return Native(name, lambda args, kwargs, s: self._switch(value, s, back=name == "__exit__"), value)
        if isinstance(value, Property) and name in ("setter", "getter", "deleter"):
            return self._property_part(value, name)
        if is_number(value):
            if name in NOT_OF_NUMBERS:
                return MISSING
            return self.fresh("number") if name in ("real", "imag") else self._bound_unknown(value, name)
        if value is None:
            return MISSING if not name.startswith("__") else self.fresh()
        return self._bound_unknown(value, name)

    def _switch(self, mode: GradMode, site: Site, *, back: bool) -> Value:
        """`no_grad().__enter__()`, called by the program itself, and `__exit__`."""
        if not back:
            mode.previous.append(self.grad_enabled)
            self.grad_enabled = mode.enabled if isinstance(mode.enabled, bool) else self.truth(mode.enabled, site)
        elif mode.previous:
            self.grad_enabled = bool(mode.previous.pop())
        return None

    def attribute(self, value: Value, name: str, site: Site) -> Value:
        found = self.lookup(value, name, site)
        if found is not MISSING:
            return found
        is_plain = is_number(value) or is_truth(value)
        if value is None or is_plain or isinstance(value, (Sequence, Mapping, str, bytes)):
            kind = "None" if value is None else "a number" if is_plain else f"a {type(value).__name__.lower()}"
            self.refuse(site, f"{kind} has no attribute `{name}`")
        if isinstance(value, Instance):
            if not value.open and name in NOT_OF_NUMBERS:
                self.refuse(site, f"a {value.cls.name} has no attribute `{name}`")
            fresh = self.opaque(name)
            value.attrs[name] = fresh
            return fresh
        return self.opaque(name)

    def _resumed(self, generator: Iterable, args: list[Value], site: Site) -> Value:
        """`generator.send(value)`: what it yields next, with the value in the place of the `yield` before."""
        if generator.frame is not None:
            generator.frame.sent = args[0] if args else None
        return self.call(External("builtins.next"), [generator], {}, site)

    def _property_part(self, value: Property, name: str) -> Native:
        """`@x.setter` and its kin, as decorators."""

        def changed(args: list[Value], kwargs: dict[str, Value], site: Site) -> Property:
            getter = args[0] if name == "getter" else value.getter
            return Property(getter, args[0] if name == "setter" else value.setter, value.cached)

        return Native(name, changed)

    def _bound_unknown(self, value: Value, name: str) -> Value:
        if isinstance(value, Sym):
            if (is_number(value) or is_truth(value)) and name in NOT_OF_NUMBERS:
                return MISSING
            return self.sym((".", value.key, name))
        return Native(name, lambda args, kwargs, site: self.fresh("number" if is_number(value) else ""), value)

    def _instance_attribute(self, this: Instance, name: str, site: Site) -> Value:
        raw = self.class_attribute(this.cls, name)
        if isinstance(raw, Property):
            if raw.cached and name in this.attrs:
                return this.attrs[name]
            result = self.bind(raw, this, site)
            if raw.cached:
                this.attrs[name] = result
            return result
        if name in this.attrs:
            return computed(self, this, name, site) if is_parametrized(self, this, name) else this.attrs[name]
        if raw is not MISSING:
            return self.bind(raw, this, site)
        if name in records.OF_NAMED_TUPLES and isinstance(this.cls, Class) and records.is_named_tuple(this.cls):
            return records.named_tuple_attribute(self, this.cls, this, name)
        if name == "__class__":
            return this.cls
        if name == "__dict__":
            view = Mapping(this.born)
            view.items = AttributeView(this)
            return view
        for path in library_bases(this.cls):
            found = library_objects.instance_attribute(self, this, path, name, site)
            if found is not MISSING:
                return found
        getter = self.class_attribute(this.cls, "__getattr__")
        if getter is not MISSING and not name.startswith("__"):
            return self.call(getter, [this, name], {}, site)
        return MISSING

    def _super_attribute(self, value: Super, name: str, site: Site) -> Value:
        this = value.this
        cls = this.cls if isinstance(this, Instance) else this
        raw = self.class_attribute(cls, name, after=value.cls) if isinstance(cls, Class) else MISSING
        if raw is not MISSING:
            return self.bind(raw, this, site)
        if isinstance(this, Instance):
            for path in library_bases(this.cls):
                found = library_objects.instance_attribute(self, this, path, name, site)
                if found is not MISSING:
                    return found
        if name == "__new__" and parameter_classes.makes_parameter(this):
            return Native(name, lambda args, kwargs, s: self.call(parameter_classes.PARAMETER, args[1:], kwargs, s))
        if name in ("__init__", "__new__", "__init_subclass__", "__setattr__", "__getattr__", "__enter__", "__exit__"):
            return Native(name, lambda args, kwargs, s: self._super_init(this, name, args, kwargs, s))
        return self.opaque(name)

    def _super_init(self, this: Value, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        if name == "__setattr__" and len(args) == 2 and isinstance(args[0], str) and isinstance(this, Instance):
            this.attrs[args[0]] = args[1]
        elif name == "__init__" and isinstance(this, Instance):
            library_objects.initialise(self, this, args, kwargs, site)
        return None

    def _class_lookup(self, cls: Class, name: str, site: Site) -> Value:
        raw = self.class_attribute(cls, name)
        if raw is not MISSING:
            return self.bind(raw, cls, site) if isinstance(raw, (StaticMethod, ClassMethod)) else raw
        if name in ("__name__", "__qualname__"):
            return cls.name
        if name in records.OF_NAMED_TUPLES and records.is_named_tuple(cls):
            return records.named_tuple_attribute(self, cls, None, name)
        for path in library_bases(cls):
            if path.endswith("autograd.Function") and name == "apply":
                return Native("apply", lambda args, kwargs, s: own_functions.apply_function(self, cls, args, kwargs, s))
            found = library_objects.class_attribute(self, path, name)
            if found is not MISSING:
                return found
        return self.opaque(name)

    def _opaque_attribute(self, value: Opaque, name: str, site: Site) -> Value:
        if name not in TENSOR_ATTRIBUTES:
            has_names(value)
        self._want_of_number(value, name, site)
        if name in value.attrs:
            return value.attrs[name]
        if name in ("shape", "device", "dtype", "ndim"):
            child: Value = self.opaque(name)
        elif name in ("data", "grad"):
            child = self.opaque(name)
            child.scalar = value.scalar and name == "data"
            child.owner = value if name == "data" else None
        else:
            child = self.part(value, name, site)
        if options.OPTIONS in value.attrs:
            child = options.attribute(self, name, child)
        value.attrs[name] = child
        return child

    def _want_of_number(self, value: Opaque, name: str, site: Site) -> None:
        """Note that something wants an attribute of tensors, and of no number, of what has come of a number."""
        if FROM_NUMBER in value.attrs and name in NOT_OF_NUMBERS:
            self.escape([value.attrs[FROM_NUMBER]], site, "attribute")

    def _function_attribute(self, value: Value, name: str) -> Value:
        inner = value.function if isinstance(value, Method) else value
        if isinstance(inner, Function):
            if name in inner.attrs:
                return inner.attrs[name]
            if name in ("__name__", "__qualname__"):
                return inner.name
        if isinstance(inner, Native) and name in inner.attrs:
            return inner.attrs[name]
        if isinstance(inner, Native) and name == "__name__":
            return inner.name
        if name == "__self__" and isinstance(value, Method):
            return value.this
        return MISSING if not name.startswith("__") else self.fresh()

    def set_attribute(self, value: Value, name: str, new: Value, site: Site) -> None:
        if isinstance(value, Instance):
            raw = self.class_attribute(value.cls, name)
            if isinstance(raw, Property) and not raw.cached:
                if raw.setter is not None:
                    self.call(raw.setter, [value, new], {}, site)
                return
            setter = self.class_attribute(value.cls, "__setattr__")
            if setter is not MISSING:
                self.call(setter, [value, name, new], {}, site)
            elif "#items" in value.attrs and is_module(value) and named_child(value, name) is not None:
                set_child(value, name, new)
            else:
                value.attrs[name] = new
                if isinstance(new, KEPT) and any(t.node is not None and not t.node.leaf for t in graph_kept(new)):
                    self.attributes_set.append(AttributeSet(value, name, new, site))
        elif isinstance(value, Class):
            value.names[name] = new
        elif isinstance(value, Namespace):
            value.frame.names[name] = new
        elif isinstance(value, Tensor):
            tensors.set_attribute(self, value, name, new, site)
        elif isinstance(value, (Opaque, Function, Native)):
            if isinstance(value, Opaque):
                cut_parts.cut_by_store(value, name, new, named=True)
            value.attrs[name] = new
            if isinstance(value, Opaque) and HELD not in value.attrs:
                self.escape([new], site, name)
        elif isinstance(value, Method) and isinstance(value.function, Function):
            value.function.attrs[name] = new
        elif isinstance(value, (Iterable, Sequence)):
            value.attrs[name] = new

    # ---- calls

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        self.spend()
        kind = type(function)
        if kind is Function:
            return self.call_function(function, args, kwargs, site)
        if kind is Method:
            return self.call(function.function, [function.this, *args], kwargs, site)
        if kind is Native:
            return function.call(args, kwargs, site)
        if kind is Class:
            return self.instantiate(function, args, kwargs, site)
        if kind is Instance:
            return self.call_instance(function, args, kwargs, site)
        if kind is External:
            return self.call_external(function, args, kwargs, site)
        if isinstance(function, (StaticMethod, ClassMethod)):
            return self.call(function.function, args, kwargs, site)
        if isinstance(function, GradMode):
            return decorate(function, args[0]) if args and isinstance(args[0], Function) else function
        if isinstance(function, Opaque):
            return self.call_opaque(function, args, kwargs, site)
        if isinstance(function, Sym):
            result = self.call_unknown("", args, kwargs, site)
            return result if result.node is not None and not result.node.weak else self.fresh()
        if function is None or is_constant(function):
            self.refuse(site, "calls something that is not callable", "TypeError")
        return self.call_unknown("", args, kwargs, site)

    def call_method(self, this: Value, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        if name in backward_hooks.NAMES and args and backward_hooks.takes_hook(this, name):
            return backward_hooks.register(self, this, name, args[0])
        kind = type(this)
        if kind is Tensor:
            self.spend()
            return tensors.method(self, this, name, args, kwargs, site)
        if kind in CONTAINERS:
            self.spend()
            return containers.method(self, this, name, args, kwargs, site)
        if name in ("item", "detach") and isinstance(this, Opaque) and this.attrs.get(GIVEN) == RECORD:
            self.refuse(site, f"a record has no attribute `{name}`")
        if name in ("item", "detach") and may_be_no_tensor(this):
            self.asked.append((site.node, this))
        if kind is Opaque and name not in this.attrs:
            self.spend()
            self._want_of_number(this, name, site)
            return unknown.opaque_method(self, this, name, args, kwargs, site)
        return self.call(self.attribute(this, name, site), args, kwargs, site)

    def call_external(self, function: External, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        if function.path.startswith("builtins."):
            if _is_of_container(function, args):
                return self.call_method(args[0], function.name, args[1:], kwargs, site)
            return python_builtins.call_builtin(self, function.name, args, kwargs, site)
        if function.name == "__init__" and args and isinstance(args[0], Instance):
            library_objects.initialise(self, args[0], args[1:], kwargs, site)
            return None
        method = self._method_of_base(function, args, site)
        if method is not None:
            return method.call(args[1:], kwargs, site)
        if function.path.startswith("numpy."):
            made = object_arrays.call(self, function.path, args, kwargs, site)
            if made is not None:
                return made
        known = standard_library.FUNCTIONS.get(function.path)
        if known is not None:
            return known(self, args, kwargs, site)
        if function.path in functional.FUNCTIONS:
            return functional.call(self, function.path, args, kwargs, site)
        return torch_library.call(self, function.path, args, kwargs, site)

    def _method_of_base(self, function: External, args: list[Value], site: Site) -> Native | None:
        """What `nn.Module.train(self, mode)` calls: a method by the name of a class that is not in view."""
        owner, _, name = function.path.rpartition(".")
        if not args or not is_module(args[0]) or not owner.rpartition(".")[2][:1].isupper():
            return None
        found = library_objects.instance_attribute(self, args[0], owner, name, site)
        return found if isinstance(found, Native) else None

    def call_opaque(self, function: Opaque, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        def call(args: list[Value]) -> Opaque:
            if "#weights" in function.attrs:
                return unknown.call_opaque_module(self, function, args, kwargs, site)
            return self.call_unknown(function.name, args, kwargs, site)

        return call(forward_hooks.run(self, function, args, site, call))

    def call_unknown(self, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Opaque:
        """A callable that is not in view. Functions of the file that it is given may be called by it."""
        values = [*args, *kwargs.values()]
        self.escape(values, site, name or "call")
        result = self.unknown_result(name, unknown.handed_on(name, values), site)
        give_parameters(self, result, values, site)
        return result

    def run_hooks(self, d: Differentiation, site: Site) -> None:
        backward_hooks.run(self, d, site)

    def call_instance(self, this: Instance, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        raw = self.class_attribute(this.cls, "__call__")
        if raw is not MISSING:
            return self.call(self.bind(raw, this, site), args, kwargs, site)
        if is_ready_for(self.trail, "TypeError") and cannot_be_called(this.cls) and this is not self.entered:
            raise Raised("TypeError")
        return library_objects.call_instance(self, this, args, kwargs, site)

    def call_function(self, function: Function, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        function.called = True
        if SCRIPTED in function.attrs:
            wanted(self, [*args, *kwargs.values()], site, "script")
        active = self.active.get(function.node)
        if active is None:
            active = self.active[function.node] = []
        if self.depth >= MAX_DEPTH or (len(active) >= MAX_RECURSION and not goes_inside(active, args)):
            result = self.call_unknown(function.name, args, kwargs, site)
            if result.node is not None and len(active) >= MAX_RECURSION:
                result.node.weak = True  # it is a call in which the recursion has not ended
            return result
        frame = Frame(function.frame, function.qualname, function)
        frame.started = self.clock
        self.bind_arguments(function, frame, args, kwargs)
        if function.is_generator:
            made = Iterable(lambda exact: self._generator(function, frame), None, function.name, once=True)
            made.frame = frame
            return made
        mode = self.grad_enabled
        if function.grad_mode is not None:
            self.grad_enabled = bool(function.grad_mode)
        self.depth += 1
        chain = self.chain
        self.chain = (site, self.trail[-1] if self.trail else None, chain)
        active.append((frame, args))
        fuel, inner_cost, self.inner_cost = self.fuel, self.inner_cost, 0
        try:
            return self.run_function(function, frame)
        finally:
            self.charge(frame, fuel, inner_cost)
            self.depth -= 1
            self.chain = chain
            active.pop()
            if function.grad_mode is not None:
                self.grad_enabled = mode

    def _generator(self, function: Function, frame: Frame) -> Iterator[Value]:
        return self.generate(function, frame)

    def bind_arguments(self, function: Function, frame: Frame, args: list[Value], kwargs: dict[str, Value]) -> None:
        """Put arguments under their names; what is missing becomes unknown, never an error."""
        spec = function.node.args
        names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
        rest = dict(kwargs)
        bound = frame.names
        for name, value in zip(names, args, strict=False):
            bound[name] = value
        extra = args[len(names) :]
        first_default = len(names) - len(function.defaults)
        for i, name in enumerate(names):
            if name in bound:
                continue
            if name in rest:
                bound[name] = rest.pop(name)
            else:
                default = function.defaults[i - first_default] if i >= first_default else MISSING
                bound[name] = left_to_default(self, name, default, rest)
        for a, default in zip(spec.kwonlyargs, function.kwdefaults, strict=False):
            bound[a.arg] = rest.pop(a.arg) if a.arg in rest else left_to_default(self, a.arg, default, rest)
        if spec.vararg is not None:
            bound[spec.vararg.arg] = Sequence("tuple", list(extra), self.clock)
        if spec.kwarg is not None:
            others = rest.pop(OUT_OF_VIEW, None)
            mapping = Mapping(self.clock, exact=others is None)
            mapping.items = {self.key(name): (name, value) for name, value in rest.items()}
            bound[spec.kwarg.arg] = mapping if rest or not isinstance(others, Opaque) else others
        if names and names[0] in bound and function.owner is not None:
            frame.this = bound[names[0]]

    def instantiate(self, cls: Class, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        raw = self.class_attribute(cls, "__init__")
        if parameter_classes.makes_parameter(cls):
            new = self.class_attribute(cls, "__new__")
            return parameter_classes.parameter_of(self, cls, new, raw, args, kwargs, site)
        this = Instance(cls, self.serial(), self.clock)
        this.open = is_open(cls)
        if raw is not MISSING:
            self.call(self.bind(raw, this, site), args, kwargs, site)
        elif records.is_record(cls):
            records.fill(self, this, cls, args, kwargs, site)
        else:
            library_objects.initialise(self, this, args, kwargs, site)
        return this


def _is_of_container(function: External, args: list[Value]) -> bool:
    """`dict.__getitem__(record, name)`: whether a method is called by its class, on such a container."""
    kind = CLASSES_OF_CONTAINERS.get(function.path.rpartition(".")[0])
    held = args[0].attrs.get("#items") if args and isinstance(args[0], Instance) else args[0] if args else None
    if kind is None or not isinstance(held, kind) or function.name == "fromkeys":
        return False
    return function.name in OF_ITEMS or containers.has_method(held, function.name)


def has_names(value: Opaque) -> None:
    """Note that something is asked for a part of it by name, as no tensor is: `out.loss`, `out["loss"]`."""
    if GIVEN in value.attrs:
        value.attrs[GIVEN] = RECORD


def may_be_no_tensor(value: Value) -> bool:
    """Whether nothing tells that something unknown is a tensor."""
    if isinstance(value, Opaque):
        return (value.node is None or value.node.weak or GIVEN in value.attrs) and not value.scalar
    return isinstance(value, Sym) and not value.kind


def goes_inside(active: list[tuple[Frame, list[Value]]], args: list[Value]) -> bool:
    """Whether a function that calls itself is given a part of what it was given, as where it maps a nested state."""
    outer = [item for value in active[-1][1] if isinstance(value, (Sequence, Mapping)) for item in contents(value)]
    return len(active) < MAX_NESTED and any(
        isinstance(value, (Tensor, Sequence, Mapping)) and any(value is item for item in outer) for value in args
    )
