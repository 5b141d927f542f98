"""`operator`: operators and look-ups as functions."""

from __future__ import annotations

from collections.abc import Callable

from autodetach.machine.core import Args, Core, Handler, Named
from autodetach.machine.graph import Site
from autodetach.machine.program_values import Native
from autodetach.machine.values import Sequence, Value


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
    "operator.add": _binary("Add"), "operator.iadd": _binary("Add"), "operator.sub": _binary("Sub"),
    "operator.mul": _binary("Mult"), "operator.truediv": _binary("Div"), "operator.matmul": _binary("MatMult"),
    "operator.pow": _binary("Pow"), "operator.itemgetter": _itemgetter, "operator.attrgetter": _attrgetter,
    "operator.methodcaller": _methodcaller, "operator.eq": _compared("Eq"), "operator.ne": _compared("NotEq"),
    "operator.lt": _compared("Lt"), "operator.le": _compared("LtE"), "operator.gt": _compared("Gt"),
    "operator.ge": _compared("GtE"),
}  # fmt: skip
