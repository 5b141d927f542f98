"""Whose code a frame runs: the user's, or a library's."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FrameType, ModuleType

MODULE_LEVEL = "<module>"
_STARTER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "program.py")
"""The file of this package whose frames stand between the program and whatever has started it."""


@dataclass(frozen=True, slots=True)
class Site:
    """A line of the program: an absolute path (or what stands for it, such as `<string>`), the line from 1, and the
    qualified name of the function, empty at module level."""

    path: str
    line: int
    function: str = ""


class Territory:
    """Tells the user's code from that of libraries, by its path."""

    def __init__(self) -> None:
        kinds = ("stdlib", "platstdlib", "purelib", "platlib")
        paths = {sysconfig.get_path(kind) for kind in kinds} | {site.getusersitepackages()}
        paths.add(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        self._libraries = tuple(path + os.sep for path in paths if path)
        self._markers = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))
        self._known: dict[int, tuple[bool, CodeType]] = {}
        self._paths: dict[str, bool] = {}
        self._own: set[str] = set()
        self._loaded = 0
        self._modules: list[tuple[str, ModuleType]] = []

    def add(self, path: str) -> None:
        """Take this file for the user's."""
        if path not in self._own and not self.owns_path(path):
            self._known.clear()
            self._paths.clear()
            self._loaded = 0
        self._own.add(path)

    def modules(self) -> list[tuple[str, ModuleType]]:
        """The user's modules that are loaded, with their files; there are thousands of others."""
        if len(sys.modules) != self._loaded:
            self._loaded = len(sys.modules)
            self._modules = []
            for module in list(sys.modules.values()):
                path = getattr(module, "__file__", None)
                if isinstance(path, str) and self.owns_path(path):
                    self._modules.append((path, module))
        return self._modules

    def owns(self, code: CodeType) -> bool:
        """Whether the code is the user's. What has no file (`exec`, a cell of a notebook) is, what is frozen is not."""
        # By identity: Python computes the hash of a code object anew each time, from all of its bytecode.
        known = self._known.get(id(code))
        if known is None:
            known = self._known[id(code)] = (self.owns_path(code.co_filename), code)
        return known[0]

    def owns_path(self, path: str) -> bool:
        """See `owns`."""
        known = self._paths.get(path)
        if known is None:
            known = self._paths[path] = self._owns_path(path)
        return known

    def _owns_path(self, path: str) -> bool:
        if path in self._own:
            return True
        if path.startswith("<"):
            return not path.startswith(
                ("<frozen", "<__array_function__", "<eval_with_key", "<attrs generated", "<torch")
            )
        absolute = os.path.abspath(path)
        return not absolute.startswith(self._libraries) and not any(mark in absolute for mark in self._markers)

    def frames(self, frame: FrameType | None) -> Iterator[FrameType]:
        """The user's frames from this one outwards, as far as the program goes."""
        while frame is not None and frame.f_code.co_filename != _STARTER:
            if self.owns(frame.f_code):
                yield frame
            frame = frame.f_back

    def innermost(self, frame: FrameType | None) -> FrameType | None:
        """The first of `frames`."""
        return next(self.frames(frame), None)


def site_of(frame: FrameType) -> Site:
    """The line that the frame is at."""
    return Site(frame.f_code.co_filename, frame.f_lineno, function_of(frame.f_code))


def function_of(code: CodeType) -> str:
    """The qualified name of a function; before Python 3.11 its name alone."""
    name = str(getattr(code, "co_qualname", code.co_name))
    return "" if name == MODULE_LEVEL else name
