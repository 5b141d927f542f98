"""The commands of IPython: their names, what follows their options, and what they read of the names of a notebook."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from string import Formatter

from autodetach.old_names import parsed

RUN_AS_THEY_ARE = frozenset("capture debug ipytest notify prun scalene snakeviz time wandb".split())
"""Magics that run the Python behind them, or the rest of their cell, as if they were not there."""

RUN_APART = frozenset("memit timeit".split())
"""Magics that run it too, but the names that it binds are lost."""

COMMAND = re.compile(r"(?P<name>[\w.!]+)[ \t]*(?P<rest>.*)")
_WITH_VALUE = {"timeit": "nrpv", "memit": "rti", "prun": "lsTD"}
"""The options of a magic that take a value."""

_EXPANDED = re.compile(r"\$(\$?[^\W\d][\w.]*)")
"""`$name` and `$name.attribute`; a second dollar sign makes it text."""
_SHOWN = re.compile(r"\?{0,2}([^\W\d][\w.]*)\?{0,2}\s*(?:#.*)?\Z")
"""`name?`, `name??` and `?name`."""
_OPTIONS = re.compile(r"%run((?:\s+-\S+)+)")


def reading(command: str) -> str:
    """The Python that reads what a command reads, as a line; empty where it reads nothing.

    `!echo {loss.item()} $step` and magics get the values as text. `%store` keeps an object for other notebooks, and
    `%run -i` runs a file among the names of this one.
    """
    name, rest = parts(command)
    if name in RUN_AS_THEY_ARE or name in RUN_APART:
        return ""
    options = _OPTIONS.match(command)
    if options is not None and any("i" in option for option in options[1].split() if not option.startswith("--")):
        return "exec(get_ipython())"
    if name == "store" and " -" not in command:
        stored = ", ".join(word for word in rest.split(">")[0].split() if word.isidentifier())
        # What goes into a file is text.
        return _if_valid(f"{'print' if '>' in rest else 'get_ipython'}({stored})") if stored else ""
    shown = _SHOWN.match(command) if "?" in command else None
    texts = [shown[1]] if shown is not None else [text for text in _expanded(command) if is_expression(text)]
    return _if_valid(f"print({', '.join(texts)})") if texts else ""


def _expanded(command: str) -> Iterator[str]:
    """What stands in braces and behind dollar signs; braces that do not match leave all as it is."""
    try:
        fields = list(Formatter().parse(command))
    except ValueError:
        return
    for literal, field, _, _ in fields:
        yield from (found.rstrip(".") for found in _EXPANDED.findall(literal) if not found.startswith("$"))
        if field and "#" not in field and not field.startswith("*"):
            yield field.strip()


def _if_valid(text: str) -> str:
    return text if parses(text) else ""


def parts(command: str) -> tuple[str, str]:
    """The name of a `%magic` and what follows its options."""
    match = COMMAND.match(command.lstrip("%")) if command.startswith("%") else None
    if match is None:
        return "", ""
    name, rest = match["name"], match["rest"]
    valued = _WITH_VALUE.get(name, "")
    while option := re.match(r"--?[A-Za-z][-\w]*(?:=\S+)?\s*", rest):
        text = option[0].strip()
        rest = rest[option.end() :]
        if len(text) == 2 and text[1] in valued:
            rest = re.sub(r"\A\S+\s*", "", rest)
    return name, rest.strip()


def parses(text: str) -> bool:
    """Whether a text is valid Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def is_expression(text: str) -> bool:
    return bool(text) and "\n" not in text and parses(f"({text}\n)") and parses(text)
