"""From an object up to a variable of a module, by what the garbage collector knows."""

from __future__ import annotations

import gc
import sys
from collections import deque
from dataclasses import dataclass
from types import CellType, FrameType, FunctionType, ModuleType
from typing import Any

MAX_DEPTH = 8
MAX_WIDTH = 50
"""Of what refers to an object, so much is followed; what many things refer to is no way to find one of them."""


@dataclass(frozen=True, slots=True)
class Way:
    """A name of a module that leads to an object: `path` to the object itself, `gathering` to the outermost container
    on the way, `root` the variable, and the module with its file (empty if it has none)."""

    module: str
    file: str
    root: str
    path: str
    gathering: str


def way_from_module(target: Any, ignored: tuple[object, ...]) -> Way | None:
    """The shortest way; `ignored` are containers of the caller that hold the target, too."""
    modules = {id(vars(module)): module for module in list(sys.modules.values()) if isinstance(module, ModuleType)}
    below: dict[int, Any] = {}
    level = [target]
    known = {id(target)}
    mine = {id(each) for each in (*ignored, below, known, modules)}
    for _ in range(MAX_DEPTH):
        mine.add(id(level))
        above: list[Any] = []
        mine.add(id(above))
        for each in level[:MAX_WIDTH]:
            for referrer in gc.get_referrers(each):
                if id(referrer) in known or id(referrer) in mine or isinstance(referrer, FrameType):
                    continue
                known.add(id(referrer))
                below[id(referrer)] = each
                if id(referrer) in modules:
                    return _described(modules[id(referrer)], referrer, below)
                above.append(referrer)
        level = above
    return None


def _described(module: ModuleType, variables: dict[str, Any], below: dict[int, Any]) -> Way | None:
    if module.__name__.partition(".")[0] == "autodetach":
        return None
    value = below[id(variables)]
    root = next((name for name, each in variables.items() if each is value), None)
    if root is None:
        return None
    path, gathering, upper = root, "", value
    while id(upper) in below:
        lower = below[id(upper)]
        step, gathers = _step(upper, lower)
        if gathers and not gathering:
            gathering = path
        path += step
        upper = lower
    file = getattr(module, "__file__", None)
    return Way(module.__name__, file if isinstance(file, str) else "", root, path, gathering or path)


def _step(upper: Any, lower: Any) -> tuple[str, bool]:
    """How the path goes on from an object to what it refers to, and whether that is one of its elements."""
    if isinstance(upper, dict):
        key = next((key for key, each in upper.items() if each is lower), None)
        return f"[{key!r}]" if isinstance(key, (str, int)) else "[...]", True
    if isinstance(upper, (list, tuple, deque)):
        return f"[{next((n for n, each in enumerate(upper) if each is lower), 0)}]", True
    if isinstance(upper, CellType):
        return "", False
    if isinstance(upper, FunctionType):
        return ".<closure>", False
    try:
        fields = object.__getattribute__(upper, "__dict__")
    except AttributeError:
        fields = {}
    if fields is lower:
        return "", False
    name = next((name for name, each in fields.items() if each is lower), None)
    if name is not None:
        return f".{name}", False
    return f".<in {type(upper).__name__}>", True
