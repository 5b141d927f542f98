"""Builtins that ask what an object is, and has: `isinstance`, `type`, `getattr` and their kin."""

from __future__ import annotations

from autodetach.machine import descriptors, options, tensors
from autodetach.machine.classes import linear_order
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.module_tree import is_module
from autodetach.machine.number_readers import NUMBERS, OF_HISTORY, asked_for_type, is_differentiated
from autodetach.machine.part_names import forget, read_by_part, set_by_part
from autodetach.machine.program_values import Class, External, Function, Instance, Method, Native
from autodetach.machine.records import is_named_tuple
from autodetach.machine.settings import open_written
from autodetach.machine.state import MISSING, Raised
from autodetach.machine.taken_early import note_tested
from autodetach.machine.told_of_values import is_constant, is_number, is_truth
from autodetach.machine.torch_semantics import TENSOR_ATTRIBUTES
from autodetach.machine.values import Mapping, Opaque, Sequence, Sym, Tensor, Value


def isinstance_(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    if len(args) < 2:
        return m.fresh("bool")
    value, classes = args[0], args[1]
    options = classes.items if isinstance(classes, Sequence) else [classes]
    if any(tells_tensors(value, c) for c in options):
        asked_for_type(m, value, site)
    verdicts = [is_instance(value, c) for c in options]
    if m.taken_early:
        note_tested(m, value, site, False not in verdicts and not any(map(_is_any, options)))
    if any(v is True for v in verdicts):
        return True
    if all(v is False for v in verdicts):
        return False
    return m.sym(("isinstance", m.key(value), tuple(m.key(c) for c in options)), "bool")


def _is_any(cls: Value) -> bool:
    return isinstance(cls, External) and cls.name == "object"


def tells_tensors(value: Value, cls: Value) -> bool:
    """Whether a value that is a number is an instance of a class, and a tensor would not be, or the other way round."""
    if is_truth(value):
        return not (isinstance(cls, External) and cls.name == "object")
    return is_number(value) and is_instance(value, cls) is not is_instance(tensors.plain(), cls)


OF_SEQUENCES = ("Sequence", "Iterable", "Collection", "object")
"""What every list and tuple is an instance of."""


def is_instance(value: Value, cls: Value) -> bool | None:
    """Whether `isinstance(value, cls)`, None where that is not known."""
    if is_differentiated(value):
        return False if isinstance(cls, External) and cls.name in NUMBERS else None
    if isinstance(value, (Opaque, Sym)) and not is_number(value):
        return None
    if isinstance(cls, Class):
        if not isinstance(value, Instance):
            return False
        return isinstance(value.cls, Class) and cls in linear_order(value.cls)
    if not isinstance(cls, External):
        return None
    name = cls.name
    if isinstance(value, Tensor):
        return name in ("Tensor", "Variable", "Parameter" if value.parameter else "Tensor", "FloatTensor", "object")
    if name in ("Tensor", "Variable", "Parameter"):
        return False
    if isinstance(value, Sequence):
        return name == value.kind or name in OF_SEQUENCES
    if isinstance(value, Mapping):
        return name in ("dict", "Mapping", "OrderedDict", "MutableMapping", "Iterable", "object")
    if isinstance(value, Sym):
        return name in ("int", "float", "Number", "Real") if name != "bool" else None
    if is_constant(value):
        return any(c.__name__ == name for c in type(value).__mro__) or (
            name in ("Number", "Real") and isinstance(value, (int, float))
        )
    if isinstance(value, Instance):
        if name == "Module":
            return is_module(value)
        names = [c.name for c in linear_order(value.cls)] if isinstance(value.cls, Class) else [value.cls.name]
        if is_named_tuple(value.cls):
            names += ("tuple", *OF_SEQUENCES)
        return name in names or None if value.open else name in names
    if isinstance(value, (Function, Method, Native)):
        return name in ("Callable", "FunctionType", "LambdaType", "object")
    return None


def type_(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    value = args[0] if args else None
    if isinstance(value, Instance):
        return value.cls
    if isinstance(value, Sequence):
        return External("builtins." + value.kind)
    if isinstance(value, Mapping):
        return External("builtins.dict")
    if m.taken_early:
        note_tested(m, value, site, sure=False)
    if isinstance(value, Tensor):
        return External("torch.Tensor")
    if is_constant(value):
        return External("builtins." + type(value).__name__)
    asked_for_type(m, value, site)
    made = m.opaque("type")
    if is_differentiated(value):
        made.attrs[OF_HISTORY] = True
    return made


def callable_(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    value = args[0] if args else None
    if isinstance(value, (Function, Method, Native, Class)):
        return True
    return False if is_constant(value) or isinstance(value, (Sequence, Mapping, Tensor)) else m.fresh("bool")


def has_attribute(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    if len(args) == 2 and is_number(args[0]) and args[1] in TENSOR_ATTRIBUTES and not hasattr(1.0, args[1]):
        asked_for_type(m, args[0], site)
        return False
    if m.taken_early and len(args) == 2 and isinstance(args[1], str):
        note_tested(m, args[0], site, args[1] in TENSOR_ATTRIBUTES and not hasattr("", args[1]))
    if len(args) == 2 and isinstance(args[1], str) and not isinstance(args[0], (Opaque, Sym)):
        try:
            found = m.lookup(args[0], args[1], site)
        except Raised:
            return False
        if found is MISSING:
            return m.fresh("bool") if isinstance(args[0], Instance) and args[0].open else False
        return True
    return m.sym(("hasattr", m.key(args[0]) if args else None, m.key(args[1]) if len(args) > 1 else None), "bool")


def variables(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    return m.attribute(args[0], "__dict__", site) if args else m.opaque("vars")


def get_attribute(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    if len(args) >= 2 and isinstance(args[1], str):
        found = m.lookup(args[0], args[1], site)
        if found is MISSING and len(args) > 2:
            asked_for_type(m, args[0], site)
            return args[2]
        return m.attribute(args[0], args[1], site) if found is MISSING else found
    found = read_by_part(m, args[0], args[1]) if len(args) >= 2 else MISSING
    return m.opaque("attribute") if found is MISSING else found


def set_attribute(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    if len(args) == 3 and isinstance(args[1], str):
        this, name, value = args
        m.set_attribute(this, name, value, site)
    elif len(args) == 3:
        open_written(m, args[0])
        if isinstance(args[0], Instance):
            set_by_part(m, args[0], args[1], args[2], site)
        else:
            if isinstance(args[0], Opaque) and options.OPTIONS in args[0].attrs:
                options.set_elsewhere(m)
            m.escape(args[2:], site, "setattr")
    return None


def delete_attribute(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    if len(args) == 2 and isinstance(args[0], Instance):
        forget(m, args[:1])
        if isinstance(args[1], str):
            descriptors.delete_attribute(m, args[0], args[1], site)
    return None
