"""Files with the same bytes that import nothing of their projects are one program: in a process, it is analysed once.

Large repositories keep trees twice: vendored ones, versions, lessons that begin where the last ended.
"""

from __future__ import annotations

from autodetach.projects.imports import Imports
from autodetach.record import Record
from autodetach.relevance import imports_in
from autodetach.source import Source

MAX_RECORDS = 4096

Key = tuple[str, str]
"""The digest of the bytes, and words for what is looked for."""

_known: dict[Key, Record] = {}
_is_alone = False


def recalled(key: Key, source: Source, finder: Imports, path: str) -> Record | None:
    """What was found in a file with the bytes of this one at `path`, if nothing else can matter to it.

    `finder` has then looked for all that it may import.
    """
    record = _known.get(key)
    if record is None or any(finder.find(name, path) is not None for name in imports_in(source.stored)):
        return None
    return record


def keep(key: Key, record: Record) -> None:
    """Remember what was found in a file that has imported nothing."""
    if len(_known) < MAX_RECORDS:
        _known[key] = record


def begin(files: int) -> None:
    """Forget what was found before, which may have been by other means. A single file has no twin."""
    global _is_alone
    _known.clear()
    _is_alone = files == 1


def are_possible() -> bool:
    """Whether it is worth a digest to ask."""
    return not _is_alone
