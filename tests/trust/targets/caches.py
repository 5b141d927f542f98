"""Any bytes as what an earlier run has kept; also such as begin with the right digest, as no accident makes them."""

from __future__ import annotations

import functools
import json
from pathlib import Path

from autodetach.cache import MAGIC
from autodetach.commands.checking import check
from autodetach.commands.request import Request
from autodetach.disk.state import digest
from autodetach.report import OutputFormat

from ..command import fair, folder, inside, run
from .baselines import PROGRAM

FILES = 9
HEAD = len(MAGIC) + 33
WORDS = tuple(
    rb"""
    { } [ ] , : "paths" "known" "results" 0 1 -1 99999 1e999 null true "" "AD101" "safe" "unsafe" "error" "\ud800"
    [[ NaN "\u0000" 1.5 "/" "total" [0,0,0] [[0,0,0],""]
    """.split()
)


@functools.cache
def _place() -> Path:
    place = folder() / "caches"
    place.mkdir(exist_ok=True)
    (place / "pyproject.toml").write_text('[tool.autodetach]\ncache-dir = "kept"\n')
    for number in range(FILES):
        # All but one of them are done with at a glance.
        (place / f"a{number}.py").write_bytes(b"import torch\n" if number else PROGRAM)
    return place


def _said(*, cached: bool) -> tuple[int, str]:
    request = Request(paths=(".",), jobs=1, no_cache=not cached, output_format=OutputFormat.JSON, quiet=True)
    with inside(_place()):
        ran = fair(run(lambda: check(request)))
    return ran.code, ran.out


@functools.cache
def truth() -> tuple[int, str]:
    """What is said without a cache."""
    return _said(cached=False)


@functools.cache
def _file() -> Path:
    assert _said(cached=True) == truth()
    return next((_place() / "kept").glob("*.findings"))


def _seeds() -> tuple[bytes, ...]:
    whole = _file().read_bytes()[HEAD:]
    known = json.loads(whole)
    known["results"] = dict(list(known["results"].items())[:1])
    return whole, json.dumps(known).encode(), b'{"paths": [], "known": {}, "results": {}}'


class _Seeds:
    """Made when they are asked for: they hold the paths of this process."""

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(_seeds())


SEEDS = _Seeds()


def one(raw: bytes) -> None:
    """Raises where a promise is broken."""
    file = _file()
    file.write_bytes(raw)
    assert _said(cached=True) == truth(), "broken bytes change the answer"
    # Whoever makes up a cache with care can make up findings; they may be wrong, but nothing breaks.
    file.write_bytes(MAGIC + digest(raw).encode() + b"\n" + raw)
    _said(cached=True)
