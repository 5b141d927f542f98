"""Methods of classes in view that Python calls by itself: to show an object, to compare it, to take it for a number."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from autodetach.machine.classes import linear_order
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.held import contents, held_by, tensors_in
from autodetach.machine.marks import is_mark
from autodetach.machine.number_readers import wanted
from autodetach.machine.program_values import Class, External, Function, Instance, Method, Native
from autodetach.machine.state import MISSING
from autodetach.machine.steering import ordered
from autodetach.machine.values import CONSTANT_TYPES, Mapping, Sequence, Sym, Tensor, Value

TO_STRING = ("__str__", "__repr__")
TO_NUMBER = ("__float__", "__index__", "__int__")
MAX_SHOWN = 16
"""Elements of a container that are each looked at."""
CONVERSION = re.compile(r"%(?:\(\w+\))?[-#0 +*.\d]*([a-zA-Z%])")


def own_method(this: Value, *names: str) -> Method | None:
    """The first of some methods that the class of an object defines in view."""
    if not isinstance(this, Instance) or not isinstance(this.cls, Class):
        return None
    order = [cls for cls in linear_order(this.cls) if isinstance(cls, Class)]
    found = (cls.names[name] for name in names for cls in order if name in cls.names)
    return next((Method(value, this) for value in found if isinstance(value, Function)), None)


def special(m: Core, this: Value, names: Iterable[str], args: list[Value], site: Site) -> Value:
    """What the first of some methods gives that a class in view defines; MISSING if it has none of them."""
    method = own_method(this, *names)
    return MISSING if method is None else m.call(method, args, {}, site)


def as_mapping(m: Core, value: Value, site: Site) -> Value:
    """What `**value` and `dict(value)` take it for: an object with `keys` in view gives an item for each of them."""
    keys = special(m, value, ("keys",), [], site) if held_by(value) is value else MISSING
    if keys is MISSING:
        return held_by(value)
    names, exact = m.collect(keys, site)
    result = Mapping(m.clock, exact)
    result.items = {m.key(name): (name, m.subscript(value, name, site)) for name in names}
    return result


# ---- as text


def show(m: Core, values: Iterable[Value], site: Site, names: tuple[str, ...] = TO_STRING, depth: int = 3) -> None:
    """`str()` of some values, or `repr()`: those of objects call their methods, those of containers their elements'."""
    for value in values:
        if isinstance(value, Instance):
            if special(m, value, names, [], site) is MISSING and depth > 0:
                show(m, _parts(value), site, ("__repr__",), depth - 1)
        elif isinstance(value, (Sequence, Mapping)) and depth > 0:
            show(m, contents(value)[:MAX_SHOWN], site, ("__repr__",), depth - 1)


def _parts(this: Instance) -> list[Value]:
    """What Python shows of an object whose class does not say how: the fields of a record, the elements of a list."""
    if isinstance(this.cls, Class) and this.cls.fields is not None:
        return [value for name, value in this.attrs.items() if not is_mark(name)]
    held = held_by(this)
    return [] if held is this else [held]


def formatted(m: Core, value: Value, spec: Value, site: Site) -> None:
    """`format(value, spec)`, as f-strings call it."""
    if isinstance(value, (Instance, Sequence, Mapping)) and special(m, value, ("__format__",), [spec], site) is MISSING:
        show(m, [value], site)


def formatted_by_percent(m: Core, text: str, value: Value, site: Site) -> None:
    """`text % value`: a text where it says `%s`, a number elsewhere."""
    given = value.items if isinstance(value, Sequence) and value.kind == "tuple" else [value]
    if isinstance(value, Mapping):
        show(m, contents(value), site)
        return
    wanted = (kind for kind in CONVERSION.findall(text) if kind != "%")
    for kind, one in zip(wanted, given, strict=False):
        if kind in "sra":
            show(m, [one], site, TO_STRING if kind == "s" else ("__repr__",))
        else:
            special(m, one, TO_NUMBER, [], site)


def formatted_by_fields(m: Core, text: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> None:
    """`text.format(...)`: each field is looked up as it says, `{0.loss.shape}` or `{log[loss]:.3f}`."""
    for number, (name, spec) in enumerate(_fields(text)):
        first, _, _ = name.partition(".")
        first = first.partition("[")[0]
        place = int(first) if first.isdigit() else number
        value = kwargs.get(first, MISSING) if first and not first.isdigit() else _at(args, place)
        for is_attribute, key in () if value is MISSING else _path(name):
            value = m.attribute(value, key, site) if is_attribute else m.subscript(value, key, site)
        formatted(m, value, spec, site)


def _at(values: list[Value], place: int) -> Value:
    return values[place] if place < len(values) else MISSING


def _fields(text: str) -> list[tuple[str, str]]:
    """The name and the format of each field of a text; none where it is not well formed."""
    import string

    try:
        return [(name, spec or "") for _, name, spec, _ in string.Formatter().parse(text) if name is not None]
    except ValueError:
        return []


def _path(name: str) -> Iterator[tuple[bool, Value]]:
    """How a field goes on behind the first name: whether by an attribute, and by which one or by which key."""
    for part in re.finditer(r"\.(\w+)|\[([^\]]*)\]", name):
        attribute, key = part.groups()
        yield (True, attribute) if attribute is not None else (False, int(key) if key.isdigit() else key)


# ---- as a key, and in an order


def compare_in_order(m: Core, items: list[Value], key: Value, site: Site) -> list[Value]:
    """What sorting does, or looking for the least: the key of each is taken, and what has no order asks its class.

    Returns the keys.
    """
    if key is not None:
        items = [m.call(key, [item], {}, site) for item in items] if is_followed(key) else []
        ordered(m, items, site)
    for one, other in itertools.pairwise(items):
        _compare(m, one, other, site)
    return items


def _compare(m: Core, one: Value, other: Value, site: Site) -> None:
    if isinstance(one, Sequence) and isinstance(other, Sequence):
        for first, second in zip(one.items[:MAX_SHOWN], other.items, strict=False):
            _compare(m, first, second, site)
    elif special(m, other, ("__lt__",), [one], site) is MISSING:
        special(m, one, ("__gt__",), [other], site)


def is_followed(function: Value) -> bool:
    """Whether a function that is handed to a builtin is one in view, or one that the machine knows."""
    return isinstance(function, (Function, Method, Native, External))


def hash_all(m: Core, items: Iterable[Value], site: Site) -> None:
    """Elements of a set, or keys: each is hashed, and may be compared with another one.

    Tensors are told apart by which they are, numbers by what they are.
    """
    items = [item for item in items if type(item) not in CONSTANT_TYPES]
    for item in items:
        m.tell_apart(item)
    wanted(m, [value for item in items for value in _hashed(item)], site, "hash")
    hashed = [item for item in items if special(m, item, ("__hash__",), [], site) is not MISSING]
    for one, other in itertools.pairwise(hashed[:MAX_SHOWN]):
        special(m, one, ("__eq__",), [other], site)


def _hashed(item: Value, depth: int = 3) -> list[Value]:
    """What is not known of the values that an element of a set is told from others by."""
    if type(item) is Sym:
        return [item]
    parts: list[Value] = []
    if isinstance(item, Sequence) and item.kind in ("tuple", "frozenset"):
        parts = item.items[:MAX_SHOWN]
    elif isinstance(item, Instance) and isinstance(item.cls, Class) and item.cls.frozen:
        parts = [value for name, value in item.attrs.items() if not is_mark(name)]
    return [value for part in parts for value in _hashed(part, depth - 1)] if depth else []


def is_like_a_number(value: Value) -> bool:
    """Whether it is a tensor without a dimension, which is found in a list by its value."""
    return isinstance(value, Tensor) and value.shape == ()


def compare_with(m: Core, items: list[Value], item: Value, site: Site) -> None:
    """`item in items`, and what else looks for one: each that is another object is asked whether it is equal.

    Of tensors without a dimension, the value is compared, as that of numbers is.
    """
    may_be_one = type(item) is Sym or any(True for _ in tensors_in(item))
    for other in items[:MAX_SHOWN]:
        if may_be_one and not is_like_a_number(other):
            m.tell_apart(other)
        if other is not item:
            special(m, other, ("__eq__",), [item], site)
