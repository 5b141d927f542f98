"""`functools`, `itertools` and `operator`, as far as they hand tensors on."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator

from autodetach.machine.core import Args, Core, Handler, Named
from autodetach.machine.graph import Site
from autodetach.machine.implicit_calls import hash_all
from autodetach.machine.joining import MAX_WHOLE, added_up, is_added_one_by_one
from autodetach.machine.number_readers import asked_for_type
from autodetach.machine.object_builtins import is_instance, tells_tensors
from autodetach.machine.others import each_made, each_passing, others_in
from autodetach.machine.passes import MAX_PASSES
from autodetach.machine.program_values import Frame, Function, Iterable, Method, Native
from autodetach.machine.python_builtins import as_range, is_brief
from autodetach.machine.state import MAX_EXACT, MISSING
from autodetach.machine.taken_early import note_taken
from autodetach.machine.told_of_values import is_constant
from autodetach.machine.values import Sequence, Value

LEAST = {
    "functools.partial": 1, "itertools.accumulate": 1, "itertools.batched": 1, "itertools.combinations": 1,
    "itertools.cycle": 1, "itertools.dropwhile": 2, "itertools.islice": 2, "itertools.pairwise": 1,
    "itertools.permutations": 1, "itertools.repeat": 1, "itertools.starmap": 2, "itertools.takewhile": 2,
    "itertools.tee": 1, "itertools.groupby": 1, "itertools.filterfalse": 2, "itertools.compress": 1,
    "operator.methodcaller": 1,
}  # fmt: skip
"""How many positional arguments a function is not called without, neither by Python nor by what stands here for it."""


def call(m: Core, path: str, args: Args, kwargs: Named, site: Site) -> Value:
    """Call one of `HANDLERS` by its dotted path."""
    if len(args) < LEAST.get(path, 0):
        return m.opaque(path.rpartition(".")[2])
    return HANDLERS[path](m, args, kwargs, site)


# ---- functools


def _partial(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    function, given = args[0], list(args[1:])
    return Native("partial", lambda more, named, s: m.call(function, [*given, *more], {**kwargs, **named}, s), function)


def _wraps(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    return Native("wraps", lambda inner, k, s: inner[0] if inner else None)


def memoised(m: Core, function: Value) -> Native:
    """`functools.lru_cache`: the same arguments give the same object."""
    memo: dict[object, Value] = {}

    def run(args: Args, kwargs: Named, site: Site) -> Value:
        hash_all(m, [*args, *kwargs.values()], site)
        key = (tuple(m.key(a) for a in args), tuple((k, m.key(v)) for k, v in kwargs.items()))
        if key not in memo:
            memo[key] = m.call(function, args, kwargs, site)
        return memo[key]

    return Native("memoised", run, function)


def _lru_cache(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    if args and isinstance(args[0], (Function, Method)):
        return memoised(m, args[0])
    return Native("lru_cache", lambda inner, k, s: memoised(m, next(iter(inner), None)))


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


# ---- itertools


def _listed(m: Core, items: list[Value], exact: bool, name: str) -> Iterable:
    made = Iterable(lambda _: iter(items), len(items) if exact else None, name, once=True)
    made.others = others_in(m, items)
    return made


def _chain(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    items: list[Value] = []
    exact = True
    for value in args:
        more, complete = m.collect(value, site, 64)
        items += more
        exact = exact and complete
    listed = any(isinstance(value, Iterable) and value.listed for value in args)
    made = Iterable(lambda _: iter(items), len(items) if exact else None, "chain", listed=listed)
    made.others = others_in(m, items)
    return made


def _chain_from(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    return _chain(m, m.collect(args[0], site)[0] if args else [], {}, site)


def _count(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    start = args[0] if args else 0
    make = as_range(m, start, 1 << 40).make if isinstance(start, int) else lambda e: iter([])
    return Iterable(make, None, "endless", once=True)


def _cycle(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    items, _ = m.collect(args[0], site)

    def make(exact: bool) -> Iterator[Value]:
        while items:
            yield from items

    return Iterable(make, None, "endless", once=True)


def _product(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    parts = [m.collect(a, site)[0] for a in args]

    def make(exact: bool) -> Iterator[Value]:
        rows: list[list[Value]] = [[]]
        for part in parts:
            rows = [[*row, item] for row in rows for item in part][:64]
        yield from (Sequence("tuple", row, m.clock) for row in rows)

    return Iterable(make, None, "product")


def _accumulate(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    inner = m.items_of(args[0], site)
    function = args[1] if len(args) > 1 else kwargs.get("func")
    begin: list[Value] = [kwargs["initial"]] if kwargs.get("initial") is not None else []

    def add(total: Value, item: Value) -> Value:
        return m.binary("Add", total, item, site) if function is None else m.call(function, [total, item], {}, site)

    frame = m.trail[-1][1] if m.trail else None
    if isinstance(frame, Frame) and is_added_one_by_one(inner):
        return Iterable(lambda exact: _sums(m, inner, begin, add, frame, site), None, "accumulate", once=True)
    items, exact = m.collect(inner, site)
    totals = list(begin)
    for item in items:
        totals.append(add(totals[-1], item) if totals else item)
    return _listed(m, totals, exact, "accumulate")


def _sums(
    m: Core, items: Iterable, begin: list[Value], add: Callable[[Value, Value], Value], frame: Frame, site: Site
) -> Iterator[Value]:
    """The sums of what is made when it is asked for, as by a generator that trains: a loop that yields each of them."""
    yield from begin
    total, usual = begin[0] if begin else MISSING, None
    activation, steps = m.activate_over(items, site.node, frame, False), items.start(False)

    def with_one_more(item: Value) -> Value:
        outer = m.loops
        try:
            m.enter_pass_with(note_taken(m, items, item), activation, outer)
            return item if total is MISSING else add(total, item)
        finally:
            m.loops = outer

    for item in steps:
        if activation.passes >= (MAX_WHOLE if items.whole else MAX_PASSES):
            for other in m.others_at_end(items, itertools.chain((item,), steps), usual, activation.passes):
                total = with_one_more(other)
                yield total
            break
        total, usual = with_one_more(item), item
        yield total
    m.finish(activation)


ITERATORS = frozenset("chain enumerate filter numbered reversed zip".split())
"""The names of what goes on behind what is taken from it."""


def _islice(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    inner = m.items_of(args[0], site)
    inner.once = inner.once or inner.name in ITERATORS
    bounds = args[1:]
    if not all(b is None or (isinstance(b, int) and b >= 0) for b in bounds):
        return Iterable(
            lambda exact: (note_taken(m, inner, item) for item in inner.start(exact)), None, inner.name, inner.once
        )
    cut = slice(*bounds)
    start, stop, step = cut.start or 0, cut.stop, cut.step or 1
    length = None
    if stop is not None and (inner.length is not None or inner.name == "endless"):
        length = len(range(start, stop if inner.length is None else min(stop, inner.length), step))

    def make(exact: bool) -> Iterator[Value]:
        for item in itertools.islice(inner.start(exact), start, stop, step):
            yield note_taken(m, inner, item)

    made = Iterable(make, length, "islice", once=inner.once)
    given = inner.others
    made.frame, made.others = inner.frame, given if given is None or start == 0 else lambda _: given(0)
    return made


def _repeat(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    times = args[1] if len(args) > 1 else kwargs.get("times")
    count = max(times, 0) if isinstance(times, int) else None
    name = "endless" if times is None else "repeat"
    return Iterable(lambda exact: itertools.repeat(args[0], 3 if count is None else count), count, name)


def _starmap(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    inner = m.items_of(args[1], site)

    def make(exact: bool) -> Iterator[Value]:
        for item in inner.start(exact):
            yield m.call(args[0], m.collect(item, site)[0], {}, site)

    made = Iterable(make, inner.length, "starmap", once=True)
    made.brief = is_brief(inner, args[1])
    made.others = each_made(inner, lambda item: m.call(args[0], m.collect(item, site)[0], {}, site))
    return made


def _over_lists(name: str, function: Callable[..., Iterator[tuple[Value, ...]]]) -> Handler:
    """A function of `itertools` that makes tuples of what is in its first argument."""

    def run(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
        items, exact = m.collect(args[0], site)
        sizes = [*args[1:], *(kwargs[word] for word in ("r", "n") if word in kwargs)]
        if not all(isinstance(size, int) for size in sizes):
            return m.opaque(name)
        try:
            rows = itertools.islice(function(items, *sizes), 64)
        except (TypeError, ValueError):
            return m.opaque(name)
        return _listed(m, [Sequence("tuple", list(row), m.clock) for row in rows], exact, name)

    return run


def _batched(items: list[Value], size: int) -> Iterator[tuple[Value, ...]]:
    return (tuple(items[i : i + size]) for i in range(0, len(items), max(size, 1)))


def _zip_longest(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    parts = [m.collect(a, site) for a in args]
    rows = itertools.zip_longest(*(p for p, _ in parts), fillvalue=kwargs.get("fillvalue"))
    exact = all(complete for _, complete in parts)
    return _listed(m, [Sequence("tuple", list(row), m.clock) for row in rows], exact, "zip_longest")


def _while(take: bool) -> Handler:
    def run(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
        inner = m.items_of(args[1], site)

        def make(exact: bool) -> Iterator[Value]:
            dropping = not take
            for item in inner.start(exact):
                note_taken(m, inner, item)
                if (take or dropping) and not m.truth(m.call(args[0], [item], {}, site), site):
                    if take:
                        return
                    dropping = False
                if not dropping:
                    yield item

        made = Iterable(make, None, "takewhile" if take else "dropwhile", once=True)
        made.others = inner.others
        return made

    return run


def _filterfalse(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    inner = m.items_of(args[1], site)

    def make(exact: bool) -> Iterator[Value]:
        for item in inner.start(exact):
            note_taken(m, inner, item)
            if passes(item):
                yield item

    def passes(item: Value) -> bool:
        return not m.truth(item if args[0] is None else m.call(args[0], [item], {}, site), site)

    made = Iterable(make, None, "filter", once=True)
    made.others = each_passing(inner, passes)
    return made


def _compress(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    """Some of the elements: any of them may be among these."""
    return _listed(m, m.collect(args[0], site, 64)[0], False, "compress")


def _groupby(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    """Neighbours with the same key: each element stands for a group of its own."""
    items, _ = m.collect(args[0], site, 64)
    key = kwargs.get("key", args[1] if len(args) > 1 else None)

    def pair(item: Value) -> Value:
        group = _listed(m, [item], False, "group")
        return Sequence("tuple", [item if key is None else m.call(key, [item], {}, site), group], m.clock)

    return _listed(m, [pair(item) for item in items], False, "groupby")


def _tee(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    items, exact = m.collect(args[0], site, 64)
    count = args[1] if len(args) > 1 and isinstance(args[1], int) else 2
    return Sequence("tuple", [_listed(m, items, exact, "tee") for _ in range(min(count, 16))], m.clock)


# ---- operator


def _binary(op: str) -> Handler:
    def run(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
        return m.binary(op, args[0], args[1], site) if len(args) == 2 else m.opaque(op)

    return run


def _compared(op: str) -> Handler:
    def run(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
        return m.compare(op, args[0], args[1], site) if len(args) == 2 else m.opaque(op)

    return run


def _of_first(m: Core, name: str, function: Callable[[Value, Site], Value]) -> Native:
    """A callable that looks at its first argument only."""
    return Native(name, lambda values, named, site: function(values[0], site) if values else m.opaque(name))


def _itemgetter(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    def get(value: Value, s: Site) -> Value:
        found = [m.subscript(value, key, s) for key in args]
        return found[0] if len(found) == 1 else Sequence("tuple", found, m.clock)

    return _of_first(m, "itemgetter", get)


def _attrgetter(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    def get(value: Value, s: Site) -> Value:
        found = []
        for path in args:
            part = value
            for name in path.split(".") if isinstance(path, str) else []:
                part = m.attribute(part, name, s)
            found.append(part)
        return found[0] if len(found) == 1 else Sequence("tuple", found, m.clock)

    return _of_first(m, "attrgetter", get)


def _methodcaller(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    name, rest = args[0], args[1:]
    if not isinstance(name, str):
        return m.opaque("methodcaller")
    return _of_first(m, "methodcaller", lambda value, s: m.call_method(value, name, rest, kwargs, s))


HANDLERS: dict[str, Handler] = {
    "functools.partial": _partial, "functools.wraps": _wraps, "functools.lru_cache": _lru_cache,
    "functools.cache": _lru_cache, "functools.reduce": _reduce, "functools.singledispatch": _singledispatch,
    "functools.singledispatchmethod": _singledispatchmethod, "functools.partialmethod": _partial_method,
    "itertools.chain": _chain, "itertools.chain.from_iterable": _chain_from, "itertools.count": _count,
    "itertools.cycle": _cycle, "itertools.product": _product,
    "itertools.accumulate": _accumulate, "itertools.islice": _islice, "itertools.repeat": _repeat,
    "itertools.starmap": _starmap, "itertools.pairwise": _over_lists("pairwise", itertools.pairwise),
    "itertools.combinations": _over_lists("combinations", itertools.combinations),
    "itertools.permutations": _over_lists("permutations", itertools.permutations),
    "itertools.batched": _over_lists("batched", _batched), "itertools.zip_longest": _zip_longest,
    "itertools.takewhile": _while(True), "itertools.dropwhile": _while(False), "itertools.tee": _tee,
    "itertools.groupby": _groupby, "itertools.filterfalse": _filterfalse, "itertools.compress": _compress,
    "operator.add": _binary("Add"), "operator.iadd": _binary("Add"), "operator.sub": _binary("Sub"),
    "operator.mul": _binary("Mult"), "operator.truediv": _binary("Div"), "operator.matmul": _binary("MatMult"),
    "operator.pow": _binary("Pow"), "operator.itemgetter": _itemgetter, "operator.attrgetter": _attrgetter,
    "operator.methodcaller": _methodcaller,
    "operator.eq": _compared("Eq"), "operator.ne": _compared("NotEq"), "operator.lt": _compared("Lt"),
    "operator.le": _compared("LtE"), "operator.gt": _compared("Gt"), "operator.ge": _compared("GtE"),
}  # fmt: skip
