"""Progress bars, as `tqdm(loader)`: each hands on the items of what it goes over, and shows what it is told.

Source: https://tqdm.github.io/docs/tqdm/
"""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.machine.core import Args, Core, Named
from autodetach.machine.graph import Site
from autodetach.machine.implicit_calls import show
from autodetach.machine.program_values import External, Iterable, Native
from autodetach.machine.state import MISSING
from autodetach.machine.told_of_values import is_number
from autodetach.machine.values import Opaque, Value

BARS = frozenset("tqdm tqdm_notebook track Progress progress_bar prange".split())
"""Names of what goes over its first argument."""
LIKE_BUILTINS = {
    "trange": "range", "tnrange": "range", "tenumerate": "enumerate", "tzip": "zip", "tmap": "map",
}  # fmt: skip
"""What goes over what a builtin makes of all its arguments."""
BAR = "#bar"
"""Marks what is gone over with a progress bar."""
COUNTED = "counted"
"""The name of a bar over a range."""
TOLD = frozenset(
    """
    set_postfix set_postfix_str set_description set_description_str write update close refresh clear display reset
    unpause moveto
    """.split()
)
NUMBERS = frozenset({"n", "total", "initial", "last_print_n"})


def call(m: Core, name: str, args: Args, kwargs: Named, site: Site) -> Value:
    """Call what makes a progress bar, by its name; MISSING where it makes none."""
    if name in LIKE_BUILTINS and args:
        named = {key: value for key, value in kwargs.items() if key == "start"}  # the others say how the bar looks
        return _bar(m, m.call(External(f"builtins.{LIKE_BUILTINS[name]}"), args, named, site), site)
    given = args[0] if args else kwargs.get("iterable")
    if name not in BARS or given is None or is_number(given):
        return MISSING
    return _bar(m, given, site)


def _bar(m: Core, given: Value, site: Site) -> Iterable:
    """What `given` is, where a loop over it is long unless it is known to have few items: who waits wants to see it."""
    first = m.items_of(given, site)
    waiting = [first]

    def make(exact: bool) -> Iterator[Value]:
        return (waiting.pop() if waiting else m.items_of(given, site)).start(exact)

    is_range = first.name == "range"
    made = Iterable(make, first.length, COUNTED if is_range else first.name, listed=first.listed)
    made.short, made.brief = first.short and first.length is not None, first.brief
    made.inner, made.usual, made.frame, made.others = first, first.usual, first.frame, first.others
    made.attrs[BAR] = given
    return made


def empty_bar(m: Core, name: str) -> Opaque:
    """`tqdm(total=n)`: a bar that is told how far something has come."""
    bar = m.quiet(name)
    bar.attrs.update(dict.fromkeys(sorted(NUMBERS), m.fresh("number")))
    return bar


def attribute(m: Core, bar: Iterable, name: str) -> Value:
    """An attribute of what is gone over with a progress bar."""
    if BAR not in bar.attrs or name in bar.attrs:
        return bar.attrs.get(name, MISSING)
    if name in TOLD:
        return Native(name, lambda args, kwargs, site: show(m, [*args, *kwargs.values()], site), bar)
    if name == "iterable":
        return bar.attrs[BAR]
    return m.fresh("number") if name in NUMBERS else MISSING
