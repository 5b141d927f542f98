"""The parts of the standard library that training code uses, and numpy where it meets tensors."""

from __future__ import annotations

import ast

from autodetach.machine import copies, numpy_draws, ordering, record_tools, weak_references
from autodetach.machine.container_builtins import dict_of_keys, make_dict, maker_of
from autodetach.machine.core import Core, Handler
from autodetach.machine.graph import ARRAY, Site
from autodetach.machine.held import MAX_LOST, also_lost, graph_in, lost_by_arrays, lost_from, unsure
from autodetach.machine.implicit_calls import compare_in_order
from autodetach.machine.library_constants import PLATFORM
from autodetach.machine.number_readers import of_sums, truth_of_sums
from autodetach.machine.opened import exit_stack
from autodetach.machine.program_values import Class, External, Field, Instance, Native
from autodetach.machine.records import NAMESPACE, fill_namespace
from autodetach.machine.spelling import imported_by_call
from autodetach.machine.state import MISSING
from autodetach.machine.swallowing import CAUGHT
from autodetach.machine.tallies import make_tally
from autodetach.machine.values import Sequence, Tensor, Value

NUMERIC = "sqrt exp log log10 log2 sin cos ceil floor pow".split()
"""The functions of `math` that are known to give numbers."""
TESTING = "isclose isfinite isinf isnan".split()
"""Those that give True or False."""
CLOCKS = "time time_ns perf_counter perf_counter_ns monotonic monotonic_ns process_time thread_time".split()
DRAWING = "random uniform triangular gauss normalvariate expovariate betavariate randint randrange getrandbits".split()
"""The functions of `random` that give numbers."""


def _ordered_dict(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    return make_dict(m, args, kwargs, site)


def _default_dict(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    result = make_dict(m, args[1:], kwargs, site)
    result.default = args[0] if args else None
    return result


def _deque(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    result = maker_of("deque")(m, args[:1], {}, site)
    result.maxlen = kwargs.get("maxlen", args[1] if len(args) > 1 else None)
    return result


def _number(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    return m.fresh("number", tags=of_sums(args))


def _number_tested(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    return m.fresh("bool", tags=truth_of_sums(args))


def _random_number(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    m.note_random(site)
    return m.fresh("number")


def _array_of_tensors(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    array = m.opaque("array")
    if any(True for a in args for t in graph_in(a) if isinstance(t, Tensor)):
        m.type_fault(site, "gives numpy a tensor that requires grad", "numpy")
        # It raises here: what is made of the array is not told to have lost its history, but what was meant is known.
        array.lost = unsure(lost_from(Sequence("tuple", args), site, ARRAY)[-MAX_LOST:])
    elif args and isinstance(args[0], Sequence):
        array.lost = also_lost(lost_by_arrays(*args[0].items), site, ARRAY)
    else:
        array.lost = lost_by_arrays(*args)
    return array


def _user_list(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    return maker_of("list")(m, args, {}, site)


def _cast(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    return args[1] if len(args) > 1 else kwargs.get("val")


def _read_only(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`MappingProxyType(d)`: what the dict holds, whenever it is asked."""
    return args[0] if args else m.opaque("mappingproxy")


def _named_tuple(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    given = args[1] if len(args) > 1 else None
    names = given.replace(",", " ").split() if isinstance(given, str) else None
    if isinstance(given, Sequence):
        names = [n for n in given.items if isinstance(n, str)]

    if names is None or not args or not isinstance(args[0], str):
        return Native("namedtuple", lambda a, k, s: m.opaque("record"))
    given = kwargs.get("defaults")
    last = list(given.items) if isinstance(given, Sequence) else []
    defaults: list[Value] = [*[MISSING] * (len(names) - len(last)), *last]
    node = ast.ClassDef(name=args[0], bases=[], keywords=[], body=[], decorator_list=[])
    cls = Class(ast.copy_location(node, site.node), args[0], args[0], [External("typing.NamedTuple")], {})
    cls.fields = [Field(name, default, argument=name) for name, default in zip(names, defaults, strict=False)]
    cls.frozen = True
    return cls


def _drawn(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """One of the elements of a list: nobody knows which."""
    m.note_random(site)
    population = args[0] if args else None
    known = isinstance(population, Sequence) and population.items and len(args) == 1 and not kwargs
    return m.subscript(population, m.fresh("int"), site) if known else m.opaque("drawn")


def _sample(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """Some of the elements of a list: any of them may be among these."""
    m.note_random(site)
    population = args[0] if args else kwargs.get("population")
    if not isinstance(population, Sequence):
        return m.opaque("sample")
    m.note_drawn(population.items, population.items)
    return Sequence("list", list(population.items), m.clock, exact=False)


def _pushed(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`heapq.heappush(heap, item)`: a list that holds one more, in an order that is not known."""
    heap = args[0] if len(args) > 1 else None
    if isinstance(heap, Sequence):
        heap.items.append(args[1])
        compare_in_order(m, heap.items[-2:], None, site)
        m.store(heap, args[1], site.node.args[1] if isinstance(site.node, ast.Call) else None, site, "append")
    return None


def _popped(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    return m.call_method(args[0], "pop", args[1:], {}, site) if args else None


def _pushed_and_popped(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`heapq.heappushpop(heap, item)`, and `heapreplace`: another one, nobody knows which, is no longer in the list."""
    heap = args[0] if len(args) > 1 else None
    _pushed(m, args, kwargs, site)
    return _popped(m, [heap, 0], kwargs, site) if isinstance(heap, Sequence) else m.opaque("item")


def _suppress(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    made = m.opaque("suppress")
    made.attrs[CAUGHT] = Sequence("tuple", list(args), m.clock)
    return made


def generator_of(path: str) -> Handler:
    """`random.Random(7)`: an object whose methods are the functions of a module."""
    return lambda m, args, kwargs, site: External(path)


def _simple_namespace(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """An object with the attributes that it is given."""
    made = Instance(External(NAMESPACE), m.serial(), m.clock)
    made.made = site.node
    fill_namespace(made, args, kwargs)
    return made


def import_module(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`importlib.import_module("lib")`: what is no file of the project, or not written there, nobody knows."""
    name = imported_by_call(site.node) if isinstance(site.node, ast.Call) else ""
    found = m.imported(name) if name else MISSING
    return m.call_unknown("import_module", args, kwargs, site) if found is MISSING else found


HANDLERS: dict[str, Handler] = {
    "importlib.import_module": import_module,
    "collections.OrderedDict": _ordered_dict, "collections.OrderedDict.fromkeys": dict_of_keys,
    "collections.defaultdict": _default_dict, "collections.Counter": make_tally, "collections.deque": _deque,
    "collections.namedtuple": _named_tuple,
    "collections.UserList": _user_list, "collections.UserDict": make_dict, "types.MappingProxyType": _read_only,
    "typing.cast": _cast, "typing_extensions.cast": _cast,
    NAMESPACE: _simple_namespace, **copies.HANDLERS, **record_tools.HANDLERS, **weak_references.HANDLERS,
    **numpy_draws.HANDLERS, **ordering.HANDLERS, "heapq.heappush": _pushed, "heapq.heappop": _popped,
    "heapq.heappushpop": _pushed_and_popped, "heapq.heapreplace": _pushed_and_popped,
    "contextlib.suppress": _suppress, "contextlib.ExitStack": exit_stack,
    "random.choice": _drawn, "random.choices": _sample, "random.sample": _sample,
    "numpy.array": _array_of_tensors, "numpy.asarray": _array_of_tensors, "numpy.mean": _array_of_tensors,
    "numpy.std": _array_of_tensors, "numpy.sum": _array_of_tensors, "numpy.random.choice": _drawn,
    "platform.system": lambda m, args, kwargs, site: PLATFORM,
    **dict.fromkeys(("random.Random", "random.SystemRandom"), generator_of("random")),
    **dict.fromkeys(("numpy.random.RandomState", "numpy.random.default_rng"), generator_of("numpy.random")),
    **dict.fromkeys((f"math.{name}" for name in NUMERIC), _number),
    **dict.fromkeys((f"math.{name}" for name in TESTING), _number_tested),
    **dict.fromkeys((*(f"time.{name}" for name in CLOCKS), "timeit.default_timer"), _number),
    **dict.fromkeys((f"random.{name}" for name in DRAWING), _random_number),
}  # fmt: skip
