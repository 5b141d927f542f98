"""From the frames of a traceback to the files that they are in, as they are today, on this machine.

A path that is not there (the traceback comes from another machine) is looked for in the current folder by its end; a
line that is not there (the file has changed since) is looked for in the file by its words.
"""

from __future__ import annotations

import ast
import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from autodetach.decoding import SourceError
from autodetach.disk.files import NOTEBOOK_SUFFIX, FoundFile, ReadError, find_files, read_bytes, relative
from autodetach.notebooks.cells import Cells
from autodetach.projects.project import parse
from autodetach.settings.config import Configuration
from autodetach.source import Source
from autodetach.tracebacks.failure import Frame

MAX_NOTEBOOKS = 200
"""Notebooks of the current folder that are opened to look for a cell."""


@dataclass(frozen=True, slots=True)
class Understood:
    """A frame of the user's, and where it is today.

    `file` is None if the file is not there. `lines` are the first and the last line of its statement, in `source` (of a
    notebook in the joined text of its cells), None if they cannot be told. `shown` is how people call the place. `note`
    is a clause on what is other than the traceback says, or what is missing.
    """

    frame: Frame
    shown: str
    file: FoundFile | None = None
    lines: tuple[int, int] | None = None
    note: str = ""

    def holds(self, path: str, line: int) -> bool:
        """Whether a line of the file with the absolute path `path` belongs to the frame's statement."""
        if self.file is None or self.lines is None:
            return False
        return self.lines[0] <= line <= self.lines[1] and _real(path) == _real(self.file.path)


class Places:
    """Finds the files of frames, seen from the absolute folder `cwd`; what it reads it reads once."""

    def __init__(self, cwd: str, configuration: Configuration) -> None:
        self._cwd = cwd
        self._configuration = configuration
        self._sources: dict[str, Source | str] = {}

    def understand(self, frame: Frame) -> Understood:
        """Where a frame is. Errors are notes."""
        shown = f"{frame.path}, line {frame.line}" if frame.is_cell else f"{frame.path}:{frame.line}"
        if frame.is_cell:
            return self._in_notebook(frame, shown)
        path = os.path.abspath(os.path.join(self._cwd, os.path.expanduser(frame.path)))
        note = ""
        if not os.path.isfile(path):
            found = self._by_end(frame)
            if len(found) != 1:
                names = ", ".join(relative(one, self._cwd) for one in found[:3])
                which = f"may be any of {names}" if found else "is not there"
                return Understood(frame, shown, note=f"the file {which}")
            path, note = found[0], "found by the end of its path"
        return self._in_file(frame, FoundFile(path, relative(path, self._cwd)), note)

    def _in_file(self, frame: Frame, file: FoundFile, note: str) -> Understood:
        shown = f"{file.shown}:{frame.line}"
        source = self._source(file.path)
        if isinstance(source, str):
            return Understood(frame, shown, note=source)
        at = _line_of(frame, [source.line_text(line) for line in range(1, source.line_count + 1)])
        if at is None:
            text = "the file has changed since: the line of the traceback is not in it any more"
            return Understood(frame, shown, file, note=text)
        if at != frame.line:
            text = f"the file has changed since: line {frame.line} of the traceback is line {at} now"
            note = f"{note}; {text}" if note else text
        return Understood(frame, f"{file.shown}:{at}", file, _statement(source, at), note)

    def _in_notebook(self, frame: Frame, shown: str) -> Understood:
        """A cell that only the notebook's kernel knew by its number: found by what is quoted of it."""
        hits = []
        for path in self._notebooks:
            source = self._source(path)
            if not isinstance(source, Cells):
                continue
            lines = [line for index in range(len(source.texts)) if (line := _joined(source, index, frame)) is not None]
            if len(lines) == 1:
                hits.append((path, source, lines[0]))
            elif lines:
                hits += [(path, source, line) for line in lines]
        if len(hits) != 1:
            count = "no notebook" if not hits else "more than one cell"
            return Understood(frame, shown, note=f"{count} of this folder has that line there")
        path, source, line = hits[0]
        place = source.place_of_line(line)
        name = relative(path, self._cwd)
        return Understood(
            frame,
            f"{name}:cell {place.cell}:{place.line}",
            FoundFile(path, name),
            _statement(source, line),
        )

    @cached_property
    def _notebooks(self) -> list[str]:
        return sorted(glob.glob(os.path.join(glob.escape(self._cwd), f"*{NOTEBOOK_SUFFIX}")))[:MAX_NOTEBOOKS]

    @cached_property
    def _files(self) -> dict[str, list[str]]:
        """The Python files of the current folder by their names."""
        by_name: dict[str, list[str]] = {}
        for file in find_files((".",), self._configuration, self._cwd).files:
            by_name.setdefault(os.path.basename(file.path).lower(), []).append(file.path)
        return by_name

    def _by_end(self, frame: Frame) -> list[str]:
        """The files whose paths end like the frame's, as far as that goes; of several, those with the quoted line."""
        parts = [part for part in frame.path.replace("\\", "/").split("/") if part not in ("", ".", "..", "~", "...")]
        if not parts:
            return []
        common = {path: _common_end(parts, path) for path in self._files.get(parts[-1].lower(), ())}
        best = max(common.values(), default=0)
        found = [path for path, length in common.items() if length == best]
        if len(found) > 1 and frame.source:
            stands = [path for path in found if self._stands(path, frame)]
            found = stands or found
        return found

    def _stands(self, path: str, frame: Frame) -> bool:
        source = self._source(path)
        if isinstance(source, str) or not 1 <= frame.line <= source.line_count:
            return False
        return frame.quotes(source.line_text(frame.line))

    def _source(self, path: str) -> Source | str:
        """The source of a file, or why there is none."""
        if path not in self._sources:
            try:
                raw = read_bytes(path)
                if path.endswith(NOTEBOOK_SUFFIX):
                    from autodetach.notebooks.notebook import read

                    self._sources[path] = read(raw, relative(path, self._cwd))
                else:
                    self._sources[path] = Source.from_bytes(raw, relative(path, self._cwd))
            except ReadError as error:
                self._sources[path] = f"the file cannot be read: {error}"
            except SourceError as error:
                self._sources[path] = f"the file cannot be read: {error.message}"
        return self._sources[path]


@lru_cache(maxsize=1024)
def _real(path: str) -> str:
    """The path without links: Python's own spelling of a folder may be another one than ours."""
    return os.path.realpath(path)


def _common_end(parts: Sequence[str], path: str) -> int:
    """How many parts of the two paths, from their ends, are the same; Windows does not tell capitals apart."""
    own = path.replace(os.sep, "/").split("/")
    count = 0
    for one, other in zip(reversed(parts), reversed(own), strict=False):
        if one.lower() != other.lower():
            break
        count += 1
    return count


def _line_of(frame: Frame, lines: Sequence[str]) -> int | None:
    """Where the quoted line is today: at its number, or the nearest one with the same words."""
    if not frame.source:
        return frame.line if 1 <= frame.line <= len(lines) else None
    found = [number for number, line in enumerate(lines, 1) if frame.quotes(line)]
    return min(found, key=lambda number: abs(number - frame.line), default=None)


def _joined(source: Cells, index: int, frame: Frame) -> int | None:
    """The line of the joined text that the frame's line of a cell is, if the cell has all that is quoted of it."""
    lines = source.texts[index].splitlines()
    quoted = frame.context or ((frame.line, frame.source),)
    if not frame.source or not all(
        1 <= number <= len(lines) and replace(frame, source=text).quotes(lines[number - 1]) for number, text in quoted
    ):
        return None
    return next((line for line in _lines_of_cell(source, index) if source.place_of_line(line).line == frame.line), None)


def _lines_of_cell(source: Cells, index: int) -> Iterator[int]:
    return (line for line in range(1, source.line_count + 1) if source.place_of_line(line).index == index)


def _statement(source: Source, line: int) -> tuple[int, int]:
    """The first and the last line of the innermost statement around a line; of one with a body only its header."""
    try:
        tree = parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return line, line
    best = (line, line)
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        body = getattr(node, "body", None)
        last = node.end_lineno or node.lineno
        if isinstance(body, list) and body:
            last = max(node.lineno, body[0].lineno - 1)
        if node.lineno <= line <= last:
            best = (node.lineno, last)
    return best
