"""Baselines: files that record findings which a team knows of, so that only new ones are told.

A finding is known again by its file, its code, the function that it is in and the text of its lines: not by numbers.
"""

from __future__ import annotations

import ast
import json
import os
import stat
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from autodetach.disk.reasons import reason_of
from autodetach.fingerprint import marked_text
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import DEFINITIONS
from autodetach.projects.project import parse
from autodetach.settings.config import ConfigError, posix
from autodetach.source import Source, Span

VERSION = 1
MAX_BYTES = 64 * 1024 * 1024


class Entry(NamedTuple):
    """What a finding is known by; `path` is relative to the folder of the baseline, `scope` a qualified name."""

    path: str
    code: str
    scope: str
    text: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """The findings of a file, each with how often it is there. `folder` is absolute, `shown` what the user calls it."""

    shown: str
    folder: str
    counts: Mapping[Entry, int] = field(default_factory=dict)

    def path_of(self, path: str) -> str:
        """How the file at an absolute path is called in this baseline."""
        try:
            return posix(os.path.relpath(path, self.folder))
        except ValueError:
            return posix(path)

    def file_of(self, entry: Entry) -> str:
        """The absolute path of the file of an entry."""
        return os.path.normpath(os.path.join(self.folder, entry.path))


class Scopes:
    """The functions and classes of a source, and which of them a place is in."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._scopes: list[tuple[int, int, str]] = []
        try:
            self._collect(parse(source), "")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._scopes = []

    def entry(self, path: str, code: str, span: Span) -> Entry:
        """What a finding with this code and span is known by; `path` as the baseline calls the file."""
        line = self._source.position(span.start).line
        # Of scopes one in the other the inner ones come later.
        scope = next((name for first, last, name in reversed(self._scopes) if first <= line <= last), "")
        return Entry(path, code, scope, marked_text(self._source, span))

    def _collect(self, node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, DEFINITIONS):
                name = f"{prefix}{child.name}"
                self._scopes.append((child.lineno, child.end_lineno or child.lineno, name))
                self._collect(child, f"{name}.")
            elif isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                self._collect(child, prefix)


def load(file: str, shown: str) -> Baseline:
    """The baseline in the file at an absolute path. Raises ConfigError."""

    def fail(what: str) -> NoReturn:
        raise ConfigError(f"{shown}: {what}")

    try:
        # A file of settings may come from anybody, and name a device without an end, or a pipe that nobody writes to.
        if not stat.S_ISREG(os.stat(file).st_mode):
            fail("not a baseline: it is no regular file")
        with open(file, "rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            fail("not a baseline: it is larger than 64 MB")
    except FileNotFoundError:
        fail(f"there is no such baseline; `autodetach check --write-baseline {shown}` makes it")
    except OSError as error:
        fail(f"cannot read the baseline: {reason_of(error)}")
    try:
        document: Any = json.loads(raw)
    except json.JSONDecodeError as error:
        fail(f"not a baseline: line {error.lineno} is not valid JSON ({error.msg.lower()})")
    except (ValueError, RecursionError):
        fail("not a baseline: it is not valid JSON")
    if not isinstance(document, dict) or "version" not in document or not isinstance(document.get("findings"), list):
        fail('not a baseline: it has no "version" and "findings"')
    if document["version"] != VERSION:
        fail(f"a baseline of version {document['version']}; this autodetach reads version {VERSION}, write it anew")
    counts: Counter[Entry] = Counter()
    for number, item in enumerate(document["findings"], 1):
        words: list[Any] = [item.get(name) for name in Entry._fields] if isinstance(item, dict) else []
        count = item.get("count", 1) if isinstance(item, dict) else None
        if not words or not all(isinstance(word, str) for word in words) or type(count) is not int or count < 1:
            fail(f"not a baseline: finding {number} needs {', '.join(Entry._fields)} as strings, and a count from 1")
        counts[Entry(*words)] += count
    return Baseline(shown, os.path.dirname(file), counts)


def dump(findings: Iterable[tuple[str, str, Span, Source]], folder: str) -> bytes:
    """A baseline for a file in `folder` with these findings: absolute path, code, span and source of each."""
    baseline = Baseline("", folder)
    scopes: dict[str, Scopes] = {}
    counts: Counter[Entry] = Counter()
    for path, code, span, source in findings:
        if path not in scopes:
            scopes[path] = Scopes(source)
        counts[scopes[path].entry(baseline.path_of(path), code, span)] += 1
    document = {"version": VERSION, "findings": [{**e._asdict(), "count": n} for e, n in sorted(counts.items())]}
    return json.dumps(document, indent=2).encode() + b"\n"
