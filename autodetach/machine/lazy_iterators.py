"""`itertools`: what is made of other things one after the other, when it is asked for."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from autodetach.machine.core import Args, Core, Handler, Named
from autodetach.machine.graph import Site
from autodetach.machine.joining import MAX_WHOLE, is_added_one_by_one
from autodetach.machine.others import each_made, each_passing, others_in
from autodetach.machine.passes import MAX_PASSES
from autodetach.machine.program_values import Frame, Iterable
from autodetach.machine.python_builtins import as_range, is_brief
from autodetach.machine.state import MISSING
from autodetach.machine.steering import counted
from autodetach.machine.taken_early import note_taken
from autodetach.machine.values import Sequence, Value


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
    counted(m, bounds, site)
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


HANDLERS: dict[str, Handler] = {
    "itertools.chain": _chain, "itertools.chain.from_iterable": _chain_from, "itertools.count": _count,
    "itertools.cycle": _cycle, "itertools.product": _product, "itertools.accumulate": _accumulate,
    "itertools.islice": _islice, "itertools.repeat": _repeat, "itertools.starmap": _starmap,
    "itertools.pairwise": _over_lists("pairwise", itertools.pairwise),
    "itertools.combinations": _over_lists("combinations", itertools.combinations),
    "itertools.permutations": _over_lists("permutations", itertools.permutations),
    "itertools.batched": _over_lists("batched", _batched), "itertools.zip_longest": _zip_longest,
    "itertools.takewhile": _while(True), "itertools.dropwhile": _while(False), "itertools.tee": _tee,
    "itertools.groupby": _groupby, "itertools.filterfalse": _filterfalse, "itertools.compress": _compress,
}  # fmt: skip
