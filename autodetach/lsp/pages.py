"""The pages of the rules as files, so that a link in an editor leads somewhere."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from functools import lru_cache

from pygls import uris

from autodetach import __version__
from autodetach.settings.selection import UnknownRule, find_rule


def page_of(code: str) -> str | None:
    """The page of a rule by its code or name, as Markdown."""
    try:
        return find_rule(code).page
    except UnknownRule:
        return None


@lru_cache(maxsize=64)
def link_to(code: str) -> str | None:
    """The URI of the page of a rule, in the user's cache; None where it cannot be written."""
    page = page_of(code)
    if page is None:
        return None
    folder = os.path.join(_cache(), "autodetach", f"rules-{__version__}")
    path = os.path.join(folder, f"{code}.md")
    try:
        os.makedirs(folder, exist_ok=True)
        _write(path, page.encode())
    except OSError:
        return None
    link: str | None = uris.from_fs_path(path)
    return link


def _cache() -> str:
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches")
    return os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")


def _write(path: str, page: bytes) -> None:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        if file.read() == page:
            return
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path))
    with open(handle, "wb") as file:
        file.write(page)
    os.replace(temporary, path)
