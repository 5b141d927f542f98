"""What an object holds, as a person would write the way to it; without running code of the program."""

from __future__ import annotations

import functools
import gc
import sys
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GeneratorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

from autodetach.doctor.frames import Territory

MAX_ELEMENTS = 1000
"""Of a long container, so many elements from each end are looked at; its length counts for the rest."""
ATOMS = frozenset(
    (
        str,
        bytes,
        bytearray,
        int,
        float,
        complex,
        bool,
        type(None),
        range,
        slice,
        BuiltinFunctionType,
        ModuleType,
        CodeType,
    )
)
EMPTIES = frozenset((dict, list, tuple, set, frozenset, deque, OrderedDict))
MAX_STATES = 4
"""Of an optimizer, the states of so many parameters are looked at: they are all treated alike."""
OPAQUE = frozenset("builtins functools itertools _queue _collections collections _asyncio _contextvars".split())
"""Modules whose objects are written in C, and keep what they hold to themselves."""
_STRANGERS = frozenset(
    """
    IPython _pytest _thread ast autodetach ipykernel logging numpy pandas pluggy re threading torch.fx torch.jit
    torch.utils traitlets xdist
    """.split()
)
"""Packages whose objects hold no tensors of a program, or too much that is not the program's."""


class Parts:
    """Takes objects of the program apart."""

    def __init__(self, torch: Any, territory: Territory) -> None:
        self._tensor: Any = torch.Tensor
        self._module: Any = torch.nn.Module
        self._optimizer: Any = torch.optim.Optimizer
        self._territory = territory

    def parts(self, value: Any) -> Iterator[tuple[str, Any, bool]]:
        """What an object holds: the step of the path, the part, and whether it is an element of a container."""
        kind = type(value)
        if isinstance(value, dict):
            for key, part in _ends(list(value.items())):
                yield f"[{_shown(key)}]", part, True
        elif isinstance(value, (list, tuple, deque)):
            names = getattr(kind, "_fields", None) if isinstance(value, tuple) else None
            for index, part in _ends(list(enumerate(value))):
                yield f".{names[index]}" if names else f"[{index}]", part, True
            if kind not in (list, tuple, deque):
                yield from _attributes(value)
        elif isinstance(value, (set, frozenset)):
            for part in list(value)[:MAX_ELEMENTS]:
                yield "{...}", part, True
        elif isinstance(value, FunctionType):
            yield from self._function(value)
        elif isinstance(value, MethodType):
            yield ".__self__", value.__self__, False
        elif isinstance(value, type):
            if self._territory.owns_path(getattr(sys.modules.get(value.__module__), "__file__", None) or "<frozen"):
                for name, part in list(vars(value).items()):
                    if type(part) not in ATOMS and not name.startswith("__"):
                        yield f".{name}", part, False
        elif isinstance(value, self._module):
            yield from self._module_parts(value)
        elif isinstance(value, self._optimizer):
            for state in list(value.state.values())[:MAX_STATES]:
                yield ".state[...]", state, True
        elif kind.__name__ == "ndarray" and str(getattr(value, "dtype", "")) == "object":
            for index, part in _ends(list(enumerate(value.flat))):
                yield f"[{index}]", part, True
        elif isinstance(value, GeneratorType):
            if value.gi_frame is not None and self._territory.owns(value.gi_code):
                for name, part in value.gi_frame.f_locals.items():
                    yield f".<local {name}>", part, False
        elif kind.__module__ in OPAQUE and kind.__name__ != "partial":
            yield from _inside_of(value)
        elif kind.__name__ == "partial" and kind.__module__ == "functools":
            yield ".func", value.func, False
            yield ".args", value.args, False
            yield ".keywords", value.keywords, False
        elif not _is_strange(str(kind.__module__)):
            yield from _attributes(value)

    def _module_parts(self, module: Any) -> Iterator[tuple[str, Any, bool]]:
        fields = vars(module)
        for name, part in list(fields.items()):
            if name in ("_parameters", "_buffers", "_modules"):
                for inner, child in list(part.items()):
                    if child is not None:
                        yield f".{inner}", child, False
            elif "_hooks" not in name and type(part) not in ATOMS:
                yield f".{name}", part, False

    def _function(self, function: FunctionType) -> Iterator[tuple[str, Any, bool]]:
        if not self._territory.owns(function.__code__):
            # What a decorator of a library wraps may be the user's again.
            wrapped = getattr(function, "__wrapped__", None)
            if wrapped is not None:
                yield "", wrapped, False
            return
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
            try:
                yield f".<closure {name}>", cell.cell_contents, False
            except ValueError:
                continue
        for number, part in enumerate(function.__defaults__ or ()):
            names = function.__code__.co_varnames[: function.__code__.co_argcount]
            offset = len(names) - len(function.__defaults__ or ())
            yield f".<default {names[offset + number]}>", part, False
        for name, part in (function.__kwdefaults__ or {}).items():
            yield f".<default {name}>", part, False
        for name, part in list(vars(function).items()):
            yield f".{name}", part, False


def _inside_of(value: Any) -> Iterator[tuple[str, Any, bool]]:
    """What an object written in C refers to, as the garbage collector sees it."""
    kind = type(value)
    for part in gc.get_referents(value)[-MAX_ELEMENTS:]:
        if part is not kind and type(part) not in ATOMS:
            yield f".<in {kind.__name__}>", part, True


@functools.cache
def _is_strange(name: str) -> bool:
    """Whether a module of this name is one of the strangers."""
    return name.startswith("torch._") or not _STRANGERS.isdisjoint(
        (name.partition(".")[0], ".".join(name.split(".")[:2]))
    )


def _attributes(value: Any) -> Iterator[tuple[str, Any, bool]]:
    """Without running code of the program: no properties, no `__getattr__`."""
    try:
        fields = object.__getattribute__(value, "__dict__")
    except AttributeError:
        fields = None
    if isinstance(fields, dict):
        for name, part in list(fields.items()):
            if type(part) not in ATOMS:
                yield f".{name}", part, False
    for cls in type(value).__mro__:
        for name, member in list(cls.__dict__.items()) if "__slots__" in cls.__dict__ else ():
            if isinstance(member, MemberDescriptorType):
                try:
                    part = member.__get__(value, cls)
                except AttributeError:
                    continue
                if type(part) not in ATOMS:
                    yield f".{name}", part, False


def _ends(parts: list[tuple[Any, Any]]) -> Iterable[tuple[Any, Any]]:
    if len(parts) <= 2 * MAX_ELEMENTS:
        return parts
    return parts[:MAX_ELEMENTS] + parts[-MAX_ELEMENTS:]


def _shown(key: Any) -> str:
    return repr(key) if isinstance(key, (str, int, bool, float)) else "..."
