"""What a program's command line is by default: `argparse` options, and the tests that choose by them.

Of `if args.model == "a": ... elif args.model == "b": ...`, the default path takes the way that the default goes. The
others are still variations of it. Whoever writes `if args.resume:` means it to be done, but a run without that flag, as
most are, goes the other way, which is no less usual: see `Run.is_usual`.
"""

from __future__ import annotations

from autodetach.machine.core import Core
from autodetach.machine.program_values import External
from autodetach.machine.told_of_values import is_constant, is_number, truth_key
from autodetach.machine.values import Opaque, Sequence, Sym, Value

NUMBERS = frozenset({"builtins.int", "builtins.float"})
OPTIONS = "#options"
"""Marks what `parse_args()` returned."""
FLAGS = {"store_true": False, "store_false": True}
"""What an option that takes no value is where it is not given, by its action."""
PARSE = frozenset({"parse_args", "parse_known_args", "parse_intermixed_args", "parse_known_intermixed_args"})


def add_argument(m: Core, args: list[Value], kwargs: dict[str, Value]) -> None:
    """`parser.add_argument("--model", "-m", dest=..., default=...)`: the name is made as argparse makes it."""
    flags = [flag for flag in args if isinstance(flag, str)]
    dest = kwargs.get("dest")
    if not isinstance(dest, str):
        long = [flag for flag in flags if flag.startswith("--")]
        dest = (long or flags or [""])[0].lstrip("-").replace("-", "_")
    default, action = kwargs.get("default"), kwargs.get("action")
    if dest and default is None and isinstance(action, str) and action in FLAGS and "required" not in kwargs:
        m.flags[dest] = FLAGS[action]
    if dest and default is not None and is_constant(default):
        m.options[dest] = default
        kind = kwargs.get("type")
        if isinstance(kind, External) and kind.path in NUMBERS and is_number(default) and "nargs" not in kwargs:
            m.numeric_options.add(dest)


def set_elsewhere(m: Core) -> None:
    """Flags may be given where no command line gives them: nothing is known of a run without them."""
    m.flags_set_elsewhere = True
    m.oracle.unset = dict.fromkeys(m.oracle.unset)


def parsed(m: Core, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """What `parse_args()` gives; and by default, there is nothing else on the command line (`parse_known_args`)."""
    if not all(_is_nothing(value) for value in (*args, *kwargs.values())):
        set_elsewhere(m)
    found = m.quiet(name)
    found.attrs[OPTIONS] = True
    return Sequence("tuple", [found, Sequence("list", [], m.clock)], m.clock) if "known" in name else found


def _is_nothing(value: Value) -> bool:
    return value is None or (isinstance(value, Sequence) and value.exact and not value.items)


def attribute(m: Core, name: str, value: Value) -> Value:
    """What stands for `args.model`, which was read for the first time, and is not known: `value`, or a number."""
    if name == "__dict__":
        set_elsewhere(m)  # `vars(args).update(...)`
    if name in m.numeric_options:
        value = m.sym((OPTIONS, name), "number")
    if name in m.flags and isinstance(value, (Opaque, Sym)):
        m.oracle.unset[truth_key(value)] = None if m.flags_set_elsewhere else m.flags[name]
    if name in m.options and isinstance(value, (Opaque, Sym)):
        m.oracle.presumed[m.key(value)] = m.key(m.options[name])
    return value
