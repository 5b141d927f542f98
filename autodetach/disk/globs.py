"""Globs: those of `.gitignore` files and those of our own settings, as regular expressions on posix paths."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator

from autodetach.named_tuples import NamedTuple

NEVER = r"(?!)"
_MAGIC = re.compile(r"[*?\[\\/]")


class PathPatterns(NamedTuple):
    """Globs of a setting such as `exclude`; `folder` is the absolute posix path that globs with a slash start from.

    A glob without a slash means the last part of a path, wherever it is; elsewhere a `*` crosses slashes, as in ruff.
    """

    folder: str
    names: frozenset[str]
    name_globs: tuple[re.Pattern[str], ...]
    path_globs: tuple[re.Pattern[str], ...]

    @classmethod
    def of(cls, globs: Iterable[str], folder: str) -> PathPatterns:
        """Sort globs by how they are matched; `./` in front and a slash at the end add nothing to a glob."""
        globs = [glob.removeprefix("./").rstrip("/") for glob in globs]
        return cls(
            folder=folder.rstrip("/"),
            names=frozenset(glob for glob in globs if not _MAGIC.search(glob)),
            name_globs=tuple(glob_regex(glob) for glob in globs if _MAGIC.search(glob) and "/" not in glob),
            path_globs=tuple(glob_regex(glob, star_crosses_folders=True) for glob in globs if "/" in glob),
        )

    def match(self, path: str) -> bool:
        """Whether the absolute posix `path` is meant; paths below a folder that is meant are not looked at."""
        name = path.rpartition("/")[2]
        if name in self.names or any(glob.fullmatch(name) for glob in self.name_globs):
            return True
        inside = path.startswith(self.folder + "/")
        relative = path[len(self.folder) + 1 :] if inside else path
        return any(glob.fullmatch(relative) or glob.fullmatch(path) for glob in self.path_globs)


@functools.lru_cache(maxsize=1024)
def glob_regex(glob: str, *, star_crosses_folders: bool = False) -> re.Pattern[str]:
    """Compile a glob to a pattern for `fullmatch` on a posix path.

    `**/`, `/**/` and `/**` stand for any number of folders; a single `*` does not cross a slash, as in git, unless
    `star_crosses_folders`. A malformed glob matches nothing.
    """
    star = "." if star_crosses_folders else "[^/]"
    blocks: list[list[str]] = [[""]]
    at = 0
    while at < len(glob):
        at_start = at == 0 or glob[at - 1] == "/"
        char = glob[at]
        piece = ""
        if at_start and glob.startswith("**/", at):
            blocks.append([""])
            at += 3
        elif at_start and at > 0 and glob[at:] == "**":
            piece = ".+"
            at += 2
        elif char == "*":
            while glob.startswith("*", at):
                at += 1
            blocks[-1].append("")
        elif char == "?":
            piece = "[^/]"
            at += 1
        elif char == "[":
            piece, at = _character_class(glob, at)
        elif char == "\\":
            piece = re.escape(glob[at + 1]) if at + 1 < len(glob) else NEVER
            at += 2
        else:
            piece = re.escape(char)
            at += 1
        blocks[-1][-1] += piece
    return re.compile("".join(_parts(blocks, star)), re.DOTALL)


def _parts(blocks: list[list[str]], star: str) -> Iterator[str]:
    """A regular expression in parts: stars stand between the pieces of a block, folders between the blocks.

    Where a star has found the first place that fits, a later place would do no better: whatever lies between is for the
    next star. So only the last one looks further (and so do folders); otherwise a glob with many stars, and a name made
    for it, would take forever. Groups that keep what they have found have to be written so before Python 3.11.
    """
    names = (f"g{number}" for number in itertools.count())

    def first(pattern: str) -> str:
        name = next(names)
        return f"(?=(?P<{name}>{pattern}))(?P={name})"

    for number, (begin, *rest) in enumerate(blocks):
        is_last = number == len(blocks) - 1
        stars = [f"{star}*?{piece}" for piece in rest]
        within = [begin, *map(first, stars[:-1])]
        within += ([f"{star}*{rest[-1]}"] if is_last else [first(stars[-1])]) if stars else []
        block = "".join(within)
        if not number:
            yield block
        else:
            yield f"(?:.*/)?{block}" if is_last else first(f"(?:.*?/)??{block}")


def _character_class(glob: str, start: int) -> tuple[str, int]:
    """The class that begins at the bracket at `start`, and where it ends; an inverted range has no members."""
    at = start + 1
    negated = glob[at : at + 1] in {"!", "^"}
    at += negated
    first = at
    ranges: list[str] = []
    while at < len(glob) and (glob[at] != "]" or at == first):
        low, at = _member(glob, at)
        high = low
        if glob[at : at + 1] == "-" and glob[at + 1 : at + 2] not in {"]", ""}:
            high, at = _member(glob, at + 1)
        if low <= high:
            ranges.append(f"{re.escape(low)}-{re.escape(high)}")
    if at >= len(glob):
        return NEVER, at
    if not ranges:
        return "[^/]" if negated else NEVER, at + 1
    return f"(?!/)[{'^' if negated else ''}{''.join(ranges)}]", at + 1


def _member(glob: str, at: int) -> tuple[str, int]:
    if glob[at] == "\\" and at + 1 < len(glob):
        at += 1
    return glob[at], at + 1
