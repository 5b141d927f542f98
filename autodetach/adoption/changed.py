"""Which lines a change touches: what `git` says of the files against where a branch began."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from autodetach.disk.reasons import reason_of
from autodetach.settings.config import ConfigError
from autodetach.source import Lines

_HUNK = re.compile(rb"@@ -\d{1,18}(?:,\d{1,18})? \+(?P<first>\d{1,18})(?:,(?P<count>\d{1,18}))? @@")
_ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
_ESCAPES = {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}
# Whatever somebody's configuration says, the patch is to look the same.
_DIFF = "diff -U0 --inter-hunk-context=0 --find-renames --no-color --no-ext-diff --no-textconv --text --no-relative"
# A repository may name programs for git to run, for the status of its files and when its index is written.
_GIT = "git --no-optional-locks -c core.fsmonitor=false -c diff.autoRefreshIndex=false -c core.hooksPath=".split(" ")
_GIT[-1] += os.devnull
_PREFIXES = ("--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=all")


@dataclass(frozen=True, slots=True)
class ChangedLines:
    """First and last lines of what is changed, by absolute path; files in `whole` are new altogether.

    Where lines were only taken away, the one before and the one behind count as changed.
    """

    lines: Mapping[str, Lines] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()

    def touches(self, path: str, first: int, last: int) -> bool:
        """Whether one of these lines of a file is changed."""
        return path in self.whole or any(a <= last and first <= b for a, b in self.lines.get(path, ()))


def changed_lines(revision: str, cwd: str, files: Iterable[str]) -> ChangedLines:
    """What is changed in the working tree since the branch left `revision`; `files` are those that are looked at.

    Raises ConfigError: no git, no repository, no such revision, no common history.
    """

    def git(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run([*_GIT, *arguments], cwd=cwd, capture_output=True, check=False)
        except OSError as error:
            raise ConfigError(f"--diff-base: cannot run git: {reason_of(error)}") from None

    up = git("rev-parse", "--show-cdup")
    if up.returncode:
        raise ConfigError(f"--diff-base: {_reason(up) or 'not a git repository'}")
    top = os.path.normpath(os.path.join(cwd, os.fsdecode(up.stdout.rstrip(b"\n"))))
    commit = git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit.returncode:
        raise ConfigError(f'--diff-base: there is no revision "{revision}" here; in a shallow clone, fetch it first')
    base = git("merge-base", os.fsdecode(commit.stdout.strip()), "HEAD")
    if base.returncode:
        raise ConfigError(f'--diff-base: "{revision}" and HEAD have no common history; in a shallow clone, fetch more')
    patch = git(*_DIFF.split(), *_PREFIXES, base.stdout.decode().strip(), "--")
    tracked = git("ls-files", "-z", "--full-name", "--", ":/")
    others = git("ls-files", "-z", "--others", "--exclude-standard", "--full-name", "--", ":(top)*.py", ":(top)*.ipynb")
    for done in (patch, tracked, others):
        if done.returncode:
            raise ConfigError(f"--diff-base: git failed: {_reason(done)}")
    known = set(_paths(tracked.stdout, top))
    whole = {*_paths(others.stdout, top), *(file for file in files if file not in known)}
    return ChangedLines(_lines(patch.stdout, top), frozenset(whole))


def _lines(patch: bytes, top: str) -> dict[str, Lines]:
    found: dict[str, Lines] = {}
    path = ""
    skip = 0
    for line in patch.split(b"\n"):
        if skip:
            # Lines of a hunk may look like a header; the one without a newline is not counted.
            skip -= not line.startswith(b"\\")
        elif line.startswith(b"+++ "):
            path = os.path.normpath(os.path.join(top, os.fsdecode(_unquoted(line[4:]).removeprefix(b"b/"))))
        elif match := _HUNK.match(line):
            first, count = int(match["first"]), int(match["count"] or b"1")
            last = first + count - 1 if count else first + 1
            found[path] = (*found.get(path, ()), (max(1, first), last))
            removed = line[4:].partition(b" ")[0].partition(b",")[2]
            skip = count + int(removed or b"1")
    return found


def _unquoted(name: bytes) -> bytes:
    name = name.removesuffix(b"\t")
    if not (name.startswith(b'"') and name.endswith(b'"')):
        return name

    def character(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([int(code, 8)]) if len(code) == 3 else _ESCAPES.get(code, code)

    return _ESCAPE.sub(character, name[1:-1])


def _paths(listing: bytes, top: str) -> list[str]:
    return [os.path.normpath(os.path.join(top, os.fsdecode(name))) for name in listing.split(b"\0") if name]


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    return done.stderr.decode(errors="replace").partition("\n")[0].removeprefix("fatal: ").strip()
