"""`functools`, `itertools`, `operator` and `types`, as far as they hand tensors on."""

from __future__ import annotations

import ast

from autodetach.machine import lazy_iterators, memos, operator_functions
from autodetach.machine.called_unseen import BOUND
from autodetach.machine.core import Args, Core, Handler, Named
from autodetach.machine.graph import Site
from autodetach.machine.joining import added_up, is_added_one_by_one
from autodetach.machine.number_readers import asked_for_type
from autodetach.machine.object_builtins import is_instance, tells_tensors
from autodetach.machine.program_values import Function, Iterable, Method, Native
from autodetach.machine.state import MAX_EXACT, MISSING
from autodetach.machine.told_of_values import is_constant
from autodetach.machine.values import Sequence, Value

LEAST = {
    "functools.partial": 1, "itertools.accumulate": 1, "itertools.batched": 1, "itertools.combinations": 1,
    "itertools.cycle": 1, "itertools.dropwhile": 2, "itertools.islice": 2, "itertools.pairwise": 1,
    "itertools.permutations": 1, "itertools.repeat": 1, "itertools.starmap": 2, "itertools.takewhile": 2,
    "itertools.tee": 1, "itertools.groupby": 1, "itertools.filterfalse": 2, "itertools.compress": 1,
    "operator.methodcaller": 1, "types.MethodType": 2,
}  # fmt: skip
"""How many positional arguments a function is not called without, neither by Python nor by what stands here for it."""


def call(m: Core, path: str, args: Args, kwargs: Named, site: Site) -> Value:
    """Call one of `HANDLERS` by its dotted path."""
    if len(args) < LEAST.get(path, 0):
        return m.opaque(path.rpartition(".")[2])
    return HANDLERS[path](m, args, kwargs, site)


def _partial(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    function, given = args[0], list(args[1:])
    made = Native("partial", lambda more, named, s: m.call(function, [*given, *more], {**kwargs, **named}, s), function)
    made.attrs[BOUND] = Sequence("tuple", [*given, *kwargs.values()], m.clock)
    return made


def _method_type(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    """`types.MethodType(function, this)`: a method that is bound by hand."""
    return Method(args[0], args[1])


def _wraps(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    return Native("wraps", lambda inner, k, s: inner[0] if inner else None)


def _reduce(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    if len(args) < 2:
        return m.opaque("reduce")
    items = m.items_of(args[1], site)
    total = args[2] if len(args) > 2 else kwargs.get("initial", MISSING)
    frame = m.trail[-1][1] if m.trail else None
    if frame is not None and (_goes_on(args[0], items) or is_added_one_by_one(items)):
        total = added_up(m, items, total, lambda total, item: m.call(args[0], [total, item], {}, site), frame, site)
        return m.opaque("reduce") if total is MISSING else m.fresh("number") if is_constant(total) else total
    given, exact = m.collect(items, site)
    for item in given:
        total = item if total is MISSING else m.call(args[0], [total, item], {}, site)
    if total is MISSING:
        return m.refuse(site, "reduces nothing", "TypeError") if exact else m.opaque("reduce")
    return m.fresh("number") if not exact and is_constant(total) else total


def _goes_on(called: Value, items: Iterable) -> bool:
    """Whether a function of the program, as one that trains, is given one item after the other of more than a few."""
    function = called.function if isinstance(called, Method) else called
    if not isinstance(function, Function) or isinstance(function.node, ast.Lambda):
        return False
    return items.length is None or items.length > MAX_EXACT


def _partial_method(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    if not args or not isinstance(args[0], (Function, Native)):
        return m.opaque("partialmethod")
    function, given = args[0], list(args[1:])
    return Native(
        "partialmethod",
        lambda more, named, s: m.call(function, [*more[:1], *given, *more[1:]], {**kwargs, **named}, s),
        function,
    )


def _singledispatch(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    return _dispatched(m, args, 0)


def _singledispatchmethod(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    return _dispatched(m, args, 1)


def _dispatched(m: Core, args: Args, at: int) -> Value:
    """A function that is chosen by the type of the argument at a place."""
    if not args or not isinstance(args[0], Function):
        return args[0] if args else None
    default = args[0]
    registered: list[tuple[Value, Value]] = []

    def dispatch(values: Args, named: Named, s: Site) -> Value:
        asked = values[at] if at < len(values) else MISSING
        for cls, _ in registered:
            if tells_tensors(asked, cls):
                asked_for_type(m, asked, s)
        for cls, function in reversed(registered):
            if asked is not MISSING and is_instance(asked, cls) is True:
                return m.call(function, values, named, s)
        return m.call(default, values, named, s)

    def register(values: Args, named: Named, s: Site) -> Value:
        first = values[0] if values else named.get("cls")
        if len(values) > 1:
            registered.append((first, values[1]))
            return values[1]
        if isinstance(first, Function):
            arguments = [*first.node.args.posonlyargs, *first.node.args.args]
            annotation = arguments[at].annotation if at < len(arguments) else None
            if annotation is not None:
                registered.append((m.eval(annotation, first.frame), first))
            return first

        def decorator(functions: Args, _: Named, __: Site) -> Value:
            registered.append((first, functions[0]))
            return functions[0]

        return Native("register", decorator)

    made = Native(default.name, dispatch, default)
    made.attrs["register"] = Native("register", register)
    return made


HANDLERS: dict[str, Handler] = {
    "functools.partial": _partial, "functools.wraps": _wraps, "functools.reduce": _reduce,
    "functools.singledispatch": _singledispatch,
    "functools.singledispatchmethod": _singledispatchmethod, "functools.partialmethod": _partial_method,
    "types.MethodType": _method_type,
    **lazy_iterators.HANDLERS,
    **memos.HANDLERS,
    **operator_functions.HANDLERS,
}  # fmt: skip
