"""What Python's builtins do."""

from __future__ import annotations

import ast
import builtins
import functools
import math
from collections.abc import Iterator

from autodetach.machine import iteration, joining, operations, read_by_text
from autodetach.machine.container_builtins import dict_of_keys, iterator_of, make_dict, maker_of, next_item
from autodetach.machine.core import Core, Handler
from autodetach.machine.graph import NUMBER, Site
from autodetach.machine.held import graph_in, held_by, lost_from
from autodetach.machine.implicit_calls import TO_NUMBER, formatted, hash_all, show, special
from autodetach.machine.marks import ITEMS, SUMMED
from autodetach.machine.module_tree import is_module
from autodetach.machine.number_readers import converted, tags_of, truth_of_sums, wanted
from autodetach.machine.object_builtins import (
    callable_,
    delete_attribute,
    get_attribute,
    has_attribute,
    isinstance_,
    set_attribute,
    type_,
    variables,
)
from autodetach.machine.one_of_many import all_any, extreme
from autodetach.machine.ordering import in_order
from autodetach.machine.others import each_made, each_passing, others_in, side_by_side
from autodetach.machine.passed_counts import is_counted_only, least, of_filter, of_sum
from autodetach.machine.passes import MOST_PASSES
from autodetach.machine.program_values import External, Frame, Instance, Iterable, Property
from autodetach.machine.ranges import is_empty, usual_length
from autodetach.machine.sizes import size_at
from autodetach.machine.spans import span_of, whole
from autodetach.machine.spelling import imported_by_call
from autodetach.machine.state import MISSING
from autodetach.machine.steering import counted
from autodetach.machine.taken_early import note_taken
from autodetach.machine.told_of_values import is_constant, is_number
from autodetach.machine.torch_semantics import lookup
from autodetach.machine.values import Mapping, Opaque, Sequence, Span, Sym, Tensor, Value


@functools.cache
def builtin_names() -> dict[str, Value]:
    """What Python's builtins are to the machine; nobody changes them."""
    names = (name for name in dir(builtins) if not name.startswith("_") or name == "__import__")
    return {name: External("builtins." + name) for name in names}


LEAST = {"iter": 1, "reversed": 1, "sorted": 1}
"""How many positional arguments a builtin is not called without, neither by Python nor by what stands here for it."""


def call_builtin(m: Core, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """Call a builtin by its name."""
    handler = BUILTINS.get(name)
    if handler is not None:
        return handler(m, args, kwargs, site) if len(args) >= LEAST.get(name, 0) else m.opaque(name)
    if name.endswith(("Error", "Exception", "Warning", "Interrupt", "Iteration", "Exit")):
        return m.opaque(name)
    return m.fresh()


def as_range(m: Core, *args: Value) -> Iterable:
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (args[0], args[1], args[2] if len(args) > 2 else 1)
    known = all(isinstance(v, int) for v in (start, stop, step)) and step != 0
    length = len(range(start, stop, step)) if known else None

    def make(exact: bool) -> Iterator[Value]:
        if exact and known:
            yield from range(start, stop, step)
            return
        most = MOST_PASSES
        count = most if length is None else min(length, most)
        for i in range(count):
            if i == 0 and is_constant(start):
                yield start
            elif isinstance(start, int) and isinstance(step, int):
                # A loop that is cut off after a few passes: later indices are known by a lower bound only.
                at = start + step * i
                number = m.fresh("number", lo=at if step > 0 else None, span=_goes_on(at, stop, step))
                m.counts[m.key(number)] = ("count", start, step, i)
                yield number
            else:
                yield m.fresh("number")

    made = Iterable(make, length, "range", short=length is None)
    if length is None:
        made.usual = usual_length(m, start, stop, step)
    return made


def _goes_on(at: int, stop: Value, step: int) -> Span:
    """What a counter may be from one of its numbers on."""
    end = math.inf if step > 0 else -math.inf
    if isinstance(stop, int):
        left = range(at, stop, step)
        end = left[-1] if left else at
    return Span(min(at, end), max(at, end))


def _range(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    counted(m, args, site)
    if len(args) in (1, 2) and is_empty(m, *(args if len(args) == 2 else (0, args[0]))):
        return as_range(m, 0)
    return as_range(m, *args) if args else m.opaque("range")


def _len(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    value = args[0] if args else None
    if isinstance(value, (Sequence, Mapping, str, bytes)):
        length = iteration.length(m, value)
        if type(length) is Sym and is_counted_only(value, site.node, m.loops):
            return m.sym(length.key, length.kind, length.lo, of_filter(value), length.span)
        return length
    if isinstance(value, Tensor):
        if value.shape == ():
            m.refuse(site, "`len` of a 0-dim tensor", "TypeError")
        size = value.shape[0] if value.shape else None
        if size is None and isinstance(value.sizes, Sym) and value.sizes.tags:
            return size_at(m, value.sizes, 0)
        return m.fresh("number", lo=1) if size is None else size
    if isinstance(value, Iterable):
        return m.fresh("number", lo=1) if value.length is None else value.length
    if isinstance(value, Instance):
        raw = m.lookup(value, "__len__", site)
        if raw is not MISSING and not isinstance(raw, Opaque):
            return m.call(raw, [], {}, site)
        if ITEMS in value.attrs:
            return _len(m, [value.attrs[ITEMS]], {}, site)
    if is_number(value):
        m.refuse(site, "`len` of a number", "TypeError")
    return m.sym(("len", m.key(value)), "number", lo=1)


def _enumerate(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    inner = m.items_of(args[0], site) if args else Iterable(lambda exact: iter([]), 0)
    start = args[1] if len(args) > 1 else kwargs.get("start", 0)
    end = 1 << 40 if inner.length is None or not isinstance(start, int) else start + inner.length
    counter = as_range(m, start, end) if is_constant(start) else None

    def make(exact: bool) -> Iterator[Value]:
        numbers: Iterator[Value] = iter(())
        if counter is not None and not exact:
            numbers = counter.make(False)
        for i, item in enumerate(inner.start(exact)):
            index: Value = start + i if exact and isinstance(start, int) else next(numbers, m.fresh("number"))
            yield Sequence("tuple", [index, item], m.clock)

    name = "enumerate" if inner.name == "range" else "numbered"
    made = Iterable(make, inner.length, name, short=inner.short, listed=inner.listed)
    made.inner, made.usual = inner, inner.usual
    made.others = each_made(inner, lambda item: Sequence("tuple", [m.fresh("number"), item], m.clock))
    return made


def _zip(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    parts = [m.items_of(a, site) for a in args]
    lengths = [p.length for p in parts if p.length is not None]
    endless = [p for p in parts if p.length is None and p.name == "endless"]
    length = min(lengths) if lengths and len(lengths) + len(endless) == len(parts) else None

    def make(exact: bool) -> Iterator[Value]:
        for items in zip(*[p.start(exact) for p in parts], strict=False):
            yield Sequence("tuple", [note_taken(m, p, item) for p, item in zip(parts, items, strict=True)], m.clock)

    made = Iterable(make, length, "zip", short=any(p.short for p in parts), listed=any(p.listed for p in parts))
    made.others = side_by_side(m, parts)
    return made


def _map(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    parts = [m.items_of(a, site) for a in args[1:]]
    lengths = [p.length for p in parts]

    def make(exact: bool) -> Iterator[Value]:
        for items in zip(*[p.start(exact) for p in parts], strict=False):
            taken = [note_taken(m, p, item) for p, item in zip(parts, items, strict=True)]
            yield m.call(args[0], taken, {}, site)

    length = min(n for n in lengths if n is not None) if lengths and None not in lengths else None
    made = Iterable(make, length, "map", once=True)
    made.brief = any(map(is_brief, parts, args[1:]))
    if len(parts) == 1:
        made.others = each_made(parts[0], lambda item: m.call(args[0], [item], {}, site))
    return made


def is_brief(items: Iterable, given: Value) -> bool:
    """Whether few things are gone over, as rows, parameters or layers, or graphs that are there already."""
    held = held_by(given)
    layers = held.items if isinstance(held, Sequence) else []
    return items.short or items.listed or any(map(is_module, layers)) or any(True for _ in graph_in(held))


def _filter(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    inner = m.items_of(args[1], site) if len(args) > 1 else Iterable(lambda exact: iter([]), 0)

    def make(exact: bool) -> Iterator[Value]:
        for item in inner.start(exact):
            if _passes(m, args[0], note_taken(m, inner, item), site):
                yield item

    made = Iterable(make, inner.length, "filter", listed=inner.listed)
    made.others = each_passing(inner, lambda item: _passes(m, args[0], item, site))
    return made


def _passes(m: Core, test: Value, item: Value, site: Site) -> bool:
    """Whether `filter` keeps an element: without a function, what is true."""
    if test is None:
        return not isinstance(item, Instance) or m.truth(item, site)
    return m.truth(m.call(test, [item], {}, site), site)


def _reversed(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    inner = m.items_of(args[0], site)
    items, exact = m.collect(inner, site)
    made = Iterable(lambda _: iter(items[::-1]), len(items) if exact else None, "reversed", short=inner.short)
    made.others = others_in(m, items[::-1])
    return made


def _sorted(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    items, exact = m.collect(args[0], site)
    return Sequence("list", list(in_order(m, items, kwargs, site)), m.clock, exact)


def _sum(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    if not args:
        return 0
    if isinstance(args[0], Iterable) and isinstance(args[0].taken, (Tensor, Opaque)):
        return args[0].taken
    total: Value = args[1] if len(args) > 1 else kwargs.get("start", 0)
    frame = m.trail[-1][1] if m.trail else None
    if isinstance(frame, Frame) and joining.is_added_one_by_one(args[0]):
        return joining.summed(m, args[0], total, frame, site)
    items, exact = m.collect(args[0], site)
    if isinstance(args[0], Opaque):
        args[0].attrs[SUMMED] = True
    for item in items:
        total = m.binary("Add", total, item, site)
    tags = of_filter(args[0].taken) if isinstance(args[0], Iterable) else frozenset()
    if (tags or not exact) and is_constant(total):
        return m.fresh("number", least(tags), tags)
    tags = of_sum(items)
    if tags and type(total) is Sym:
        made = m.sym(total.key, total.kind, total.lo, total.tags | tags, total.span)
        made.lost = total.lost
        return made
    return total


def _number(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    value = args[0] if args else 0
    name = site.node.func.id if isinstance(site.node, ast.Call) and isinstance(site.node.func, ast.Name) else ""
    if isinstance(value, (str, int, float, bool)):
        try:
            return {"int": int, "float": float, "bool": bool}.get(name, float)(value)
        except (ValueError, OverflowError):
            return m.fresh("number")
    if isinstance(value, Sym):
        span = span_of(value)
        if span is not None and name != "float":
            span = whole(span) if name == "int" else None
        number = m.fresh("number", value.lo, converted(value, site), span)
        number.lost = value.lost
        return number
    if isinstance(value, Tensor):
        tags = tags_of(value, site)
        number = m.fresh("number", least(tags), tags)
        number.lost = lost_from(value, site, NUMBER)
        return number
    found = special(m, value, TO_NUMBER, [], site)
    return found if is_number(found) else m.fresh("number")


def _bool(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    value = args[0] if args else False
    if is_constant(value):
        return bool(value)
    if isinstance(value, (Sequence, Mapping)) and value.exact:
        return bool(value.items)
    known = m.known_truth(value, site) if isinstance(value, Instance) else None
    if known is not None:
        return known
    return m.sym(("bool", m.key(value)), "bool", None, truth_of_sums([value]))


def _str(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    value = args[0] if args else ""
    show(m, [value], site)
    return str(value) if is_constant(value) else m.sym(("str", m.key(value)), "str", None, truth_of_sums([value]))


def _repr(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    show(m, args[:1], site, ("__repr__",))
    return m.sym(("repr", m.key(args[0])), "str", None, truth_of_sums(args)) if args else m.fresh("str")


def _format(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    formatted(m, args[0] if args else "", args[1] if len(args) > 1 else "", site)
    return m.fresh("str", tags=truth_of_sums(args))


def _hash(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    hash_all(m, args[:1], site)
    found = special(m, args[0] if args else None, ("__hash__",), [], site)
    return m.fresh("number", tags=truth_of_sums(args)) if found is MISSING else found


def _abs(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    value = args[0] if args else None
    if isinstance(value, (int, float)):
        return abs(value)
    if isinstance(value, Tensor):
        return operations.operation(m, "abs", [value], {}, site)
    if isinstance(value, Opaque) and value.node is not None:
        return operations.opaque_operator(m, "abs", value, None, site)
    found = special(m, value, ("__abs__",), [], site)
    if found is not MISSING:
        return found
    return m.fresh("number" if is_number(value) else "", tags=value.tags if isinstance(value, Sym) else frozenset())


def _pow(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    return m.binary("Pow", args[0], args[1], site) if len(args) == 2 else m.fresh()


def _round(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    value: Value = args[0] if args else None
    if type(value) in (bool, int, float) and all(isinstance(a, int) or a is None for a in args[1:]):
        return round(value, *args[1:])
    if isinstance(value, Tensor):
        return m.derive("round", lookup("round"), [value], site, value.shape)
    found = special(m, value, ("__round__",), args[1:], site)
    if found is not MISSING:
        return found
    if not isinstance(value, Sym):
        return m.fresh("number")
    m.only_numbers |= value.tags
    number = m.fresh("number", tags=value.tags)
    number.lost = value.lost
    return number


def _print(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    show(m, args, site)
    return None


def _input(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    return m.fresh("str")


def _evaluated(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`eval`: a text that is not looked at, as that of a class of networks by its name."""
    read_by_text.run(m, args, kwargs, site, "eval")
    return m.opaque("eval")


def _executed(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    read_by_text.run(m, args, kwargs, site, "exec")
    return None


def _imported(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`__import__("lib")`, which gives the outermost package unless names of the innermost module are asked for."""
    name = imported_by_call(site.node) if isinstance(site.node, ast.Call) else ""
    is_inner = "fromlist" in kwargs or len(args) > 3
    found = m.imported(name if is_inner else name.partition(".")[0]) if name else MISSING
    return m.opaque("module") if found is MISSING else found


def _id(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """The same number for the same object, whichever it is."""
    if args:
        m.tell_apart(args[0])
        wanted(m, args[:1], site, "id")
    return m.sym(("id", m.key(args[0])), "number") if args else m.fresh("number")


def _property(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    getter, setter, deleter = [*args, None, None, None][:3]
    return Property(kwargs.get("fget", getter), kwargs.get("fset", setter), False, kwargs.get("fdel", deleter))


BUILTINS: dict[str, Handler] = {
    "range": _range, "len": _len, "enumerate": _enumerate, "zip": _zip, "map": _map, "filter": _filter,
    "reversed": _reversed, "sorted": _sorted, "sum": _sum, "max": extreme, "min": extreme, "all": all_any,
    "any": all_any, "isinstance": isinstance_, "hasattr": has_attribute, "getattr": get_attribute,
    "setattr": set_attribute, "delattr": delete_attribute, "int": _number, "float": _number, "bool": _bool,
    "str": _str, "repr": _repr, "ascii": _repr, "format": _format, "hash": _hash, "list": maker_of("list"),
    "tuple": maker_of("tuple"), "set": maker_of("set"), "frozenset": maker_of("set"), "dict": make_dict,
    "fromkeys": dict_of_keys, "iter": iterator_of, "next": next_item, "type": type_, "abs": _abs, "round": _round,
    "pow": _pow,
    "print": _print, "eval": _evaluated, "exec": _executed, "input": _input, "vars": variables,
    "property": _property, "callable": callable_, "id": _id, "__import__": _imported,
}  # fmt: skip
