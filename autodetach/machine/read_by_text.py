"""What a text reads that the program runs: `eval(text)`, `exec(text)`, and names that are looked up by a text.

It may differentiate what it reads, so that is as if code out of view got it for the moment.
https://docs.python.org/3/library/functions.html#eval
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.program_values import Class, Frame, Function, Instance, Method, NamesOf, Namespace
from autodetach.machine.values import Mapping, Value

SPACES = ("globals", "locals")
REFLECTIVE = frozenset("eval exec globals inspect locals sys vars __import__".split())
"""Words by which a text may come to names that it does not mention."""
IN_VIEW = (Class, Function, Instance, Method, Namespace)
"""What a text may call that reads names of its own."""
_WORD = re.compile(r"\w+")


def run(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site, how: str) -> None:
    """A text is run, on the dicts that are given with it, or on the names that there are."""
    spaces = [s for s in (*args[1:3], *(kwargs.get(name) for name in SPACES)) if s is not None]
    if spaces:
        for space in spaces:
            if isinstance(space, Mapping):
                space.exact = False
        m.escape(spaces, site, how, later=False)
    elif m.trail:
        m.escape(_read(args[0] if args else None, m.trail[-1][1]), site, how, later=False)


def names(m: Core, frame: Frame, *, all_of_file: bool) -> Mapping:
    """`globals()` or `locals()`: whoever has it may read what is bound now, and later."""
    held = NamesOf(m.clock, frame.top if all_of_file else frame)
    m.read_names(held)
    return held


def _read(text: Value, frame: Frame) -> Iterable[Value]:
    """The values of the names that a text may read; those that it mentions, if it is known and calls nothing else."""
    bound = frame.visible()
    words = set(_WORD.findall(text)) if isinstance(text, str) else REFLECTIVE
    if not words.isdisjoint(REFLECTIVE):
        return bound.values()
    named = [bound[word] for word in words if word in bound]
    calls = isinstance(text, str) and "(" in text and any(isinstance(value, IN_VIEW) for value in named)
    return bound.values() if calls else named
