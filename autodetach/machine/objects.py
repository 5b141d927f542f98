"""Calls of functions, methods and classes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from autodetach.machine import (
    added_attributes,
    backward_hooks,
    constructor_arguments,
    containers,
    data_sets,
    differentiated_numbers,
    enumerations,
    forward_hooks,
    functional,
    library_objects,
    object_arrays,
    parameter_classes,
    python_builtins,
    records,
    standard_library,
    tensors,
    torch_library,
    unknown,
)
from autodetach.machine.attributes import Attributes
from autodetach.machine.bare_objects import bare_object, can_be_bare, is_open
from autodetach.machine.called_unseen import OF_SHOWN, register_methods
from autodetach.machine.classes import cannot_be_called, decorate, linear_order
from autodetach.machine.cut_by_others import cut_by_call
from autodetach.machine.descriptors import delete_past_class
from autodetach.machine.graph import Differentiation, Site
from autodetach.machine.held import contents
from autodetach.machine.keywords import FURTHER, OUT_OF_VIEW, left_to_default
from autodetach.machine.marks import ITEMS, WEIGHTS
from autodetach.machine.module_tree import is_module
from autodetach.machine.number_readers import SCRIPTED, wanted
from autodetach.machine.optimizers import give_parameters
from autodetach.machine.passed_counts import ONLY_PASSED, of_function
from autodetach.machine.program_values import (
    Class,
    ClassMethod,
    External,
    Frame,
    Function,
    Instance,
    Iterable,
    Method,
    Native,
    StaticMethod,
)
from autodetach.machine.resets import reset_by
from autodetach.machine.set_past_class import deletes_past_class, set_past_class, sets_past_class
from autodetach.machine.state import MAX_DEPTH, MAX_NESTED, MAX_RECURSION, MISSING, Raised
from autodetach.machine.steering import computed_with
from autodetach.machine.swallowing import anything, are_given_back, is_taken, taking
from autodetach.machine.taken_early import note_asked
from autodetach.machine.tallies import is_tally
from autodetach.machine.tasks import is_coroutine
from autodetach.machine.told_of_values import GIVEN, RECORD, is_constant, may_be_no_tensor
from autodetach.machine.values import GradMode, Mapping, Opaque, Sequence, Sym, Tensor, Value
from autodetach.machine.watched_elsewhere import note_given

CONTAINERS = frozenset({Sequence, Mapping, str, bytes})
CLASSES_OF_CONTAINERS: dict[str, type[Sequence | Mapping]] = {
    "builtins.dict": Mapping, "builtins.list": Sequence, "collections.Counter": Mapping,
}  # fmt: skip
DRAWING = ("numpy.random.", "random.")
"""What is drawn there may train, or say in which order, and comes of what these functions are given."""
OF_ITEMS = frozenset({"__getitem__", "__setitem__", "__delitem__", "__contains__"})


class Objects(Attributes):
    """Attributes plus calls. Bodies of functions are run by the layers above."""

    def run_function(self, function: Function, frame: Frame) -> Value:
        raise NotImplementedError

    def generate(self, function: Function, frame: Frame) -> Iterator[Value]:
        raise NotImplementedError

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
            if result.node is not None and not result.node.weak:
                return result
            returned = self.fresh(tags=function.tags & ONLY_PASSED)
            returned.lost = function.lost
            return returned
        if function is None or is_constant(function):
            self.refuse(site, "calls something that is not callable", "TypeError")
        return self.call_unknown("", args, kwargs, site)

    def call_method(self, this: Value, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        if name in backward_hooks.NAMES and args and backward_hooks.takes_hook(this, name):
            return backward_hooks.register(self, this, name, args[0], site)
        kind = type(this)
        if self.named_constants:
            method = enumerations.attribute_of_constant(self, this, name, site)
            if method is not MISSING:
                return self.call(method, args, kwargs, site)
        if kind is Tensor:
            self.spend()
            if this in self.taken_early:
                note_asked(self, this, name, site)
            return tensors.method(self, this, name, args, kwargs, site)
        if kind in CONTAINERS:
            self.spend()
            return containers.method(self, this, name, args, kwargs, site)
        if name in ("item", "detach") and isinstance(this, Opaque) and this.attrs.get(GIVEN) == RECORD:
            self.refuse(site, f"a record has no attribute `{name}`")
        if kind is Opaque and this in self.taken_early:
            note_asked(self, this, name, site)
        if name in ("item", "detach") and may_be_no_tensor(this):
            self.asked.append((site.node, this))
        if kind is Opaque and name not in this.attrs:
            self.spend()
            self._want_of_number(this, name, site)
            return unknown.opaque_method(self, this, name, args, kwargs, site)
        if differentiated_numbers.is_differentiated(self, this, name, site):
            return differentiated_numbers.differentiate_number(self, this, args, kwargs, site)
        return self.call(self.attribute(this, name, site), args, kwargs, site)

    def call_external(self, function: External, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        if function.path.endswith(".__new__") and can_be_bare(args):
            return bare_object(self, args, site)
        if sets_past_class(function, args):
            return set_past_class(self, args[0], args[1], args[2], site)
        if deletes_past_class(function, args):
            delete_past_class(self, args[0], args[1], site)
            return None
        if function.path == "builtins.object.__getattribute__":
            return self.read_past_class(args, site)
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
            tags = of_function(function.path, args)
            if tags:
                return self.fresh(tags=tags)
        if function.path.startswith(DRAWING):
            computed_with(self, [*args, *kwargs.values()], site)
        known = standard_library.HANDLERS.get(function.path)
        if known is not None:
            return known(self, args, kwargs, site)
        if function.path in functional.HANDLERS:
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
            if WEIGHTS in function.attrs:
                return unknown.call_opaque_module(self, function, args, kwargs, site)
            result = self.call_unknown(function.name, args, kwargs, site)
            if result.node is not None:
                result.node.callee = function
            return result

        return call(forward_hooks.run(self, function, args, site, call))

    def call_unknown(self, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Opaque:
        """A callable that is not in view. Functions of the file that it is given may be called by it."""
        values = [*args, *kwargs.values()]
        note_given(self, values, name, site)
        added = added_attributes.added_to(values) if self.adds_attributes else ()
        self.escape([*values, *added], site, name or "call")
        reset_by(self, name, values)
        cut_by_call(self, name, values, site)
        result = self.unknown_result(name, unknown.handed_on(name, values), site)
        give_parameters(self, result, values, site)
        return result

    def run_hooks(self, d: Differentiation, site: Site) -> None:
        backward_hooks.run(self, d, site)

    def call_instance(self, this: Instance, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        raw = self.class_attribute(this.cls, "__call__")
        if raw is not MISSING:
            return self.call(self.bind(raw, this, site), args, kwargs, site)
        if this is not self.entered and cannot_be_called(this.cls) and is_taken(self, "TypeError"):
            raise Raised("TypeError")
        return library_objects.call_instance(self, this, args, kwargs, site)

    def call_function(self, function: Function, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        """Call a function of the program: its body, or what stands for it where calls nest too deep."""
        function.called = True
        (self.called_on if self.grad_enabled else self.called_off).add(function.node)
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
        if is_coroutine(function.node) and isinstance(site.node, ast.Call) and site.node is not self.tasks.awaited:
            with self.tasks.beside(self.tick, is_thread=False):
                if are_given_back(self):
                    return self._kept_error(lambda: self._run_call(function, frame, args, site, active))
                return self._run_call(function, frame, args, site, active)
        return self._run_call(function, frame, args, site, active)

    def _kept_error(self, run: Callable[[], Value]) -> Value:
        """What a coroutine gives, or the error that is given back in its place."""
        try:
            with taking(self, anything):
                return run()
        except Raised as error:
            return self.opaque("error") if error.value is None else error.value

    def _run_call(
        self, function: Function, frame: Frame, args: list[Value], site: Site, active: list[tuple[Frame, list[Value]]]
    ) -> Value:
        mode = self.grad_enabled
        if function.grad_mode is not None:
            self.grad_enabled = bool(function.grad_mode)
        self.ways.append((function.node, self.grad_enabled))
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
            further = rest.pop(FURTHER, None)
            is_open = further is not None and not extra
            bound[spec.vararg.arg] = further if is_open else Sequence("tuple", list(extra), self.clock)
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
        member = enumerations.by_value(self, cls, args)
        if member is not MISSING:
            return member
        constructor_arguments.note(self, cls, raw, args, kwargs)
        made = self._made_by_class(cls, args, kwargs, site)
        if made is not None and not isinstance(made, Instance):
            return made
        this = Instance(cls, self.serial(), self.clock) if made is None else made
        if this.cls is not cls:
            if not (isinstance(this.cls, Class) and cls in linear_order(this.cls)):
                return this
            cls = this.cls
            raw = self.class_attribute(cls, "__init__")
        this.made = site.node
        this.open = is_open(cls)
        if is_module(this):
            register_methods(self, this, OF_SHOWN, site)
        if raw is not MISSING and data_sets.is_data_set(cls):
            data_sets.made(self, this, lambda: self.call(self.bind(raw, this, site), args, kwargs, site))
        elif raw is not MISSING:
            self.call(self.bind(raw, this, site), args, kwargs, site)
        elif records.is_record(cls):
            records.fill(self, this, cls, args, kwargs, site)
        else:
            library_objects.initialise(self, this, args, kwargs, site)
        return this

    def _made_by_class(self, cls: Class, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        """What the `__new__` of a class in view gives; None if it has none, or if that is not known."""
        new = self.class_attribute(cls, "__new__") if can_be_bare([cls]) else MISSING
        if not isinstance(new, (Function, StaticMethod)):
            return None
        made = self.call(new, [cls, *args], kwargs, site)
        return None if isinstance(made, (Opaque, Sym)) else made


def _is_of_container(function: External, args: list[Value]) -> bool:
    """`dict.__getitem__(record, name)`: whether a method is called by its class, on such a container."""
    owner = function.path.rpartition(".")[0]
    kind = CLASSES_OF_CONTAINERS.get(owner)
    held = args[0].attrs.get(ITEMS) if args and isinstance(args[0], Instance) else args[0] if args else None
    if kind is None or not isinstance(held, kind) or function.name == "fromkeys":
        return False
    if is_tally(held) is not (owner == "collections.Counter") and function.name == "update":
        return False  # that of a dict takes the place of what a counter holds
    return function.name in OF_ITEMS or containers.has_method(held, function.name)


def goes_inside(active: list[tuple[Frame, list[Value]]], args: list[Value]) -> bool:
    """Whether a function that calls itself is given a part of what it was given, as where it maps a nested state."""
    outer = [item for value in active[-1][1] if isinstance(value, (Sequence, Mapping)) for item in contents(value)]
    return len(active) < MAX_NESTED and any(
        isinstance(value, (Tensor, Sequence, Mapping)) and any(value is item for item in outer) for value in args
    )
