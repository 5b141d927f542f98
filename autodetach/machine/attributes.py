"""Attributes: how they are looked up, bound and set."""

from __future__ import annotations

from autodetach.machine import (
    added_attributes,
    alike_calls,
    containers,
    cut_parts,
    enumerations,
    finalizers,
    library_constants,
    library_objects,
    open_listings,
    options,
    parameter_classes,
    part_names,
    progress_bars,
    record_tools,
    records,
    settings,
    tensors,
)
from autodetach.machine.attribute_view import AttributeView, names_of_class, replace_attributes
from autodetach.machine.bare_objects import bare_object, can_be_bare
from autodetach.machine.classes import library_bases, linear_order
from autodetach.machine.core import Core
from autodetach.machine.derived import is_added
from autodetach.machine.descriptors import comes_first, delete_past_class, is_set_by_class
from autodetach.machine.events import AttributeSet
from autodetach.machine.graph import Site
from autodetach.machine.graph_reads import note_flag, note_read
from autodetach.machine.held import keeps_history
from autodetach.machine.implicit_calls import special
from autodetach.machine.lent import note_lent
from autodetach.machine.marks import HELD, ITEMS
from autodetach.machine.metaclasses import read_in_metaclass, set_in_class, set_past_metaclass
from autodetach.machine.module_dicts import is_kept_by_name, replace_held
from autodetach.machine.module_tree import (
    BUFFERS,
    MADE_BUFFER,
    is_buffer,
    is_module,
    named_child,
    note_name,
    set_child,
)
from autodetach.machine.number_readers import wanted, wanted_of_number
from autodetach.machine.parametrizations import computed, is_parametrized
from autodetach.machine.passed_counts import of_method
from autodetach.machine.program_values import (
    Class,
    ClassMethod,
    External,
    Function,
    Instance,
    Iterable,
    Method,
    Namespace,
    Native,
    Property,
    StaticMethod,
    Super,
)
from autodetach.machine.set_past_class import hidden_in
from autodetach.machine.sizes import COUNTED, counted_of_sizes
from autodetach.machine.state import MISSING
from autodetach.machine.steering import rated
from autodetach.machine.told_of_values import GIVEN, RECORD, is_number, is_truth
from autodetach.machine.torch_semantics import TENSOR_ATTRIBUTES
from autodetach.machine.values import FROM_NUMBER, SIZES, GradMode, Mapping, Opaque, Sequence, Sym, Tensor, Value

KEPT = (Tensor, Opaque, Sequence, Mapping)
"""What an attribute keeps together with its graph."""
RESUMING = frozenset({"send", "__next__"})
"""What goes on with a generator, as `next` does."""
PASSED_ON = frozenset("__init__ __init_subclass__ __setattr__ __delattr__ __getattr__ __enter__ __exit__".split())
"""What a class hands on to its base, which need not be in view."""
NOT_OF_NUMBERS = TENSOR_ATTRIBUTES - set(dir(float)) - set(dir(int))

OF_TENSORS = frozenset("backward cpu cuda detach dim exp log numel sigmoid sqrt unsqueeze".split())
"""What tensors have, and neither numbers nor arrays."""
OF_BOTH = frozenset("real imag __format__ __float__ __int__ __bool__ __str__ __repr__".split())
"""What numbers have and tensors too, to the same end."""


class Attributes(Core):
    """Core plus attribute access."""

    def class_attribute(self, cls: Class | External, name: str, after: Class | None = None) -> Value:
        """The raw entry for `name` in the order of look-up (behind `after`), or MISSING."""
        if not isinstance(cls, Class):
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
        constant = enumerations.attribute_of_constant(self, value, name, site) if self.named_constants else MISSING
        if constant is not MISSING:
            return constant
        if isinstance(value, (Sequence, Mapping, str, bytes)):
            return containers.attribute(self, value, name)
        if isinstance(value, Iterable):
            if name in RESUMING and value.frame is not None and value.once:
                return Native(name, lambda args, kwargs, s: self._resumed(value, args, s), value)
            return progress_bars.attribute(self, value, name)
        if isinstance(value, GradMode) and name in ("__enter__", "__exit__"):
            return Native(name, lambda args, kwargs, s: self._switch(value, s, back=name == "__exit__"), value)
        if isinstance(value, Property) and name in ("setter", "getter", "deleter"):
            return self._property_part(value, name)
        if is_number(value):
            if name in NOT_OF_NUMBERS:
                return MISSING
            return self.fresh("number") if name in ("real", "imag") else self._bound_unknown(value, name, site)
        if value is None:
            return MISSING if not name.startswith("__") else self.fresh()
        return self._bound_unknown(value, name, site)

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
            if not (value.open or name not in NOT_OF_NUMBERS or is_added(self.classes, value.cls, name)):
                self.refuse(site, f"a {value.cls.name} has no attribute `{name}`")
            # A module may be wrapped by another one, which has more than it.
            if not (value.open or is_module(value) or is_added(self.classes, value.cls, name)):
                self.type_fault(site, f"a {value.cls.name} has no attribute `{name}`", "missing")
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
            parts = {"getter": value.getter, "setter": value.setter, "deleter": value.deleter} | {name: args[0]}
            return Property(cached=value.cached, **parts)

        return Native(name, changed)

    def _bound_unknown(self, value: Value, name: str, site: Site) -> Value:
        if isinstance(value, Sym):
            if (is_number(value) or is_truth(value)) and name in NOT_OF_NUMBERS:
                return MISSING
            if name in OF_TENSORS:
                wanted(self, [value], site, "attribute")
            elif name not in OF_BOTH:
                wanted_of_number(self, value, site, "attribute")
            if value.kind == SIZES and name in COUNTED:
                return Native(name, lambda args, kwargs, site: counted_of_sizes(self, value, name, args), value)
            part = self.sym((".", value.key, name), tags=of_method(value, name))
            part.lost = value.lost
            return part
        return Native(name, lambda args, kwargs, site: self.fresh("number" if is_number(value) else ""), value)

    def _instance_attribute(self, this: Instance, name: str, site: Site) -> Value:
        asked = special(self, this, ("__getattribute__",), [name], site) if self.asks_for_all else MISSING
        return self.attribute_past_class(this, name, site) if asked is MISSING else asked

    def attribute_past_class(self, this: Instance, name: str, site: Site) -> Value:
        """What `object.__getattribute__` gives."""
        raw = self.class_attribute(this.cls, name)
        if isinstance(raw, Property):
            if raw.cached and name in this.attrs:
                return this.attrs[name]
            result = self.bind(raw, this, site)
            if raw.cached:
                this.attrs[name] = result
            return result
        if self.names_parts and raw is MISSING:
            part_names.touch(self, this, name)
        if type(raw) is Instance and comes_first(raw):
            return self.bind(raw, this, site)
        if name in this.attrs:
            return computed(self, this, name, site) if is_parametrized(self, this, name) else this.attrs[name]
        if raw is not MISSING:
            return self.bind(raw, this, site)
        if (hidden := hidden_in(this, name)) is not MISSING:
            return hidden
        if name in records.OF_NAMED_TUPLES and isinstance(this.cls, Class) and records.is_named_tuple(this.cls):
            return records.named_tuple_attribute(self, this.cls, this, name)
        if name in record_tools.OF_RECORDS:
            return record_tools.attribute_of_record(self, this.cls, name)
        if name == "__class__":
            return this.cls
        if name == "__dict__":
            part_names.forget(self, [this])
            view = Mapping(this.born)
            view.items = AttributeView(this)
            return view
        for path in library_bases(this.cls):
            found = library_objects.instance_attribute(self, this, path, name, site)
            if found is not MISSING:
                return found
        if name == "__new__":
            return Native(name, lambda args, kwargs, s: bare_object(self, args, s))
        getter = self.class_attribute(this.cls, "__getattr__")
        if getter is not MISSING and not name.startswith("__"):
            return self.call(getter, [this, name], {}, site)
        return open_listings.listing(self, this, name) if this.open and name in open_listings.LISTINGS else MISSING

    def _super_attribute(self, value: Super, name: str, site: Site) -> Value:
        this = value.this
        cls = this.cls if isinstance(this, Instance) else this
        raw = MISSING
        if isinstance(this, Class) and this.meta is not None and value.cls in linear_order(this.meta):
            raw = self.class_attribute(this.meta, name, after=value.cls)
        elif isinstance(cls, Class):
            raw = self.class_attribute(cls, name, after=value.cls)
        if raw is not MISSING:
            return self.bind(raw, this, site)
        if isinstance(this, Instance):
            for path in library_bases(this.cls):
                found = library_objects.instance_attribute(self, this, path, name, site)
                if found is not MISSING:
                    return found
        if name == "__new__" and parameter_classes.makes_parameter(this):
            return Native(name, lambda args, kwargs, s: self.call(parameter_classes.PARAMETER, args[1:], kwargs, s))
        if name == "__new__":
            return Native(name, lambda args, kwargs, s: bare_object(self, args, s) if can_be_bare(args) else None)
        if name == "__getattribute__" and isinstance(this, Instance):
            return Native(name, lambda args, kwargs, s: self.read_past_class([this, *args], s))
        if name in PASSED_ON:
            return Native(name, lambda args, kwargs, s: self._super_init(this, name, args, kwargs, s))
        return self.opaque(name)

    def read_past_class(self, args: list[Value], site: Site) -> Value:
        """`object.__getattribute__(this, name)`."""
        if not (len(args) == 2 and isinstance(args[0], Instance) and isinstance(args[1], str)):
            return self.opaque("attribute")
        found = self.attribute_past_class(args[0], args[1], site)
        return self.opaque(args[1]) if found is MISSING else found

    def _super_init(self, this: Value, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        if name == "__delattr__" and len(args) == 1 and isinstance(args[0], str) and isinstance(this, Instance):
            delete_past_class(self, this, args[0], site)
        elif name == "__setattr__" and len(args) == 2 and isinstance(args[0], str) and isinstance(this, Class):
            set_past_metaclass(self, this, args[0], args[1], site)
        elif name == "__setattr__" and len(args) == 2 and isinstance(args[0], str) and isinstance(this, Instance):
            if is_set_by_class(self, this, args[0], args[1], site):
                return None
            if is_buffer(this, args[0]):
                wanted(self, args[1:], site, "buffer")
            this.attrs[args[0]] = args[1]
        elif name == "__init__" and isinstance(this, Instance):
            library_objects.initialise(self, this, args, kwargs, site)
        return None

    def _class_lookup(self, cls: Class, name: str, site: Site) -> Value:
        raw = self.class_attribute(cls, name)
        if cls.meta is not None:
            found = read_in_metaclass(self, cls, name, site, own=raw is not MISSING)
            if found is not MISSING:
                return found
        if raw is not MISSING:
            return self.bind(raw, cls, site) if isinstance(raw, (StaticMethod, ClassMethod)) else raw
        if name in ("__name__", "__qualname__"):
            return cls.name
        if name == "__dict__":
            return names_of_class(cls, self.clock)
        if name == "__members__":
            return enumerations.by_names(self, cls)
        if name in records.OF_NAMED_TUPLES and records.is_named_tuple(cls):
            return records.named_tuple_attribute(self, cls, None, name)
        if name in record_tools.OF_RECORDS:
            return record_tools.attribute_of_record(self, cls, name)
        for path in library_bases(cls):
            if path.endswith("autograd.Function") and name == "apply":
                from autodetach.machine.own_functions import apply_function

                return Native("apply", lambda args, kwargs, s: apply_function(self, cls, args, kwargs, s))
            found = library_objects.class_attribute(self, path, name)
            if found is not MISSING:
                return found
        if name == "__new__":
            return Native(name, lambda args, kwargs, s: bare_object(self, args, s))
        return self.opaque(name)

    def _opaque_attribute(self, value: Opaque, name: str, site: Site) -> Value:
        if name not in TENSOR_ATTRIBUTES:
            has_names(value)
        self._want_of_number(value, name, site)
        if name == "grad_fn":
            note_read(self, value, site)
        elif name == "requires_grad" and value.node is not None and not value.node.weak:
            note_flag(self, name, True, site)
        if name in value.attrs:
            return value.attrs[name]
        if name == "shape" and options.OPTIONS not in value.attrs:
            child: Value = self.fresh(SIZES)
        elif name in ("shape", "device", "dtype", "ndim"):
            child = self.opaque(name)
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
            if name == "__defaults__" and inner.defaults:
                return Sequence("tuple", list(inner.defaults), self.clock)
        if isinstance(inner, Native) and name in inner.attrs:
            return inner.attrs[name]
        if isinstance(inner, Native) and name == "__name__":
            return inner.name
        if name == "__self__" and isinstance(value, Method):
            return value.this
        if name == "__func__" and isinstance(value, Method):
            return inner
        if name == "__get__" and isinstance(value, Function):
            return Native(name, lambda args, kwargs, s: _bound_by_hand(value, args), value)
        return MISSING if not name.startswith("__") else self.fresh()

    def set_attribute(self, value: Value, name: str, new: Value, site: Site) -> None:
        if isinstance(value, Instance):
            if self.names_parts:
                part_names.touch(self, value, name)
            if name == "__class__" and isinstance(new, Class):
                value.cls = new
                return
            if is_set_by_class(self, value, name, new, site):
                return
            setter = self.class_attribute(value.cls, "__setattr__")
            if setter is not MISSING:
                self.call(setter, [value, name, new], {}, site)
            elif ITEMS in value.attrs and is_module(value) and named_child(value, name) is not None:
                set_child(value, name, new)
            elif isinstance(new, Mapping) and name == "__dict__":
                replace_attributes(value, new)
            elif isinstance(new, Mapping) and is_kept_by_name(value, name):
                replace_held(value, name, new)
            else:
                if is_buffer(value, name):
                    wanted(self, [new], site, "buffer")
                elif type(new) is Opaque and MADE_BUFFER in new.attrs and is_module(value):
                    note_name(value, BUFFERS, name)
                rated(self, value, name, new, site)
                value.attrs[name] = new
                settings.set_surely(self, value, name)
                if isinstance(new, KEPT) and keeps_history(new):
                    self.attributes_set.append(AttributeSet(value, name, new, site))
                    finalizers.note_kept(self, value, new, site)
        elif isinstance(value, Class):
            set_in_class(self, value, name, new, site)
        elif isinstance(value, Namespace):
            value.frame.names[name] = new
        elif isinstance(value, Tensor):
            tensors.set_attribute(self, value, name, new, site)
            if name not in TENSOR_ATTRIBUTES and name != "grad":
                added_attributes.note(self, value, name, new, site)
        elif isinstance(value, (Opaque, Function, Native)):
            if isinstance(value, Opaque):
                rated(self, value, name, new, site)
                cut_parts.cut_by_store(self, value, name, new, named=True)
                alike_calls.set_otherwise(value)
                settings.set_surely(self, value, name)
            value.attrs[name] = new
            if isinstance(value, Opaque) and HELD not in value.attrs:
                self.escape([new], site, name)
            else:
                note_lent(self, [new])
        elif isinstance(value, External):
            note_lent(self, [new])
        elif isinstance(value, Method) and isinstance(value.function, Function):
            value.function.attrs[name] = new
        elif isinstance(value, (Iterable, Sequence)):
            value.attrs[name] = new


def has_names(value: Opaque) -> None:
    """Note that something is asked for a part of it by name, as no tensor is: `out.loss`, `out["loss"]`."""
    if GIVEN in value.attrs:
        value.attrs[GIVEN] = RECORD


def _bound_by_hand(function: Function, args: list[Value]) -> Value:
    """`function.__get__(this)`: of no object, it is the function itself."""
    return Method(function, args[0]) if args and args[0] is not None else function
