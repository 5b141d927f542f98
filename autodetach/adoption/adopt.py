"""Living with findings: baselines of a run, comments that are written for it, and what a change has to do with."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from autodetach.console import counted
from autodetach.disk.files import relative
from autodetach.finding import Problem
from autodetach.named_tuples import NamedTuple
from autodetach.report import Located
from autodetach.settings.config import ConfigError, Settings
from autodetach.task import Outcome

if TYPE_CHECKING:
    from autodetach.adoption.wanted import Filter

MAX_NAMED = 3


class Adoption:
    """What a run leaves out, and why: baselines are read once, and so is what `git` says."""

    def __init__(self, cwd: str, diff_base: str | None, *, uses_baseline: bool) -> None:
        self._cwd = cwd
        self._diff_base = diff_base
        self._uses_baseline = uses_baseline
        self._filters: dict[str, Filter] = {}
        self._files: tuple[str, ...] = ()

    def looks_at(self, files: Iterable[str]) -> None:
        """Say which files, by absolute path, the run looks at: such that `git` does not know are new."""
        self._files = tuple(files)

    def filter_for(self, settings: Settings) -> Filter | None:
        """What to leave out of files with these settings; None for nothing. Raises ConfigError."""
        name = (self._uses_baseline and settings.baseline) or ""
        if not name and self._diff_base is None:
            return None
        if name not in self._filters:
            from autodetach.adoption.baseline import load
            from autodetach.adoption.changed import changed_lines
            from autodetach.adoption.wanted import Filter

            changed = next((one.changed for one in self._filters.values()), None)
            if changed is None and self._diff_base is not None:
                changed = changed_lines(self._diff_base, self._cwd, self._files)
            self._filters[name] = Filter(load(name, relative(name, self._cwd)) if name else None, changed)
        return self._filters[name]

    def known(self, outcomes: Sequence[Outcome]) -> list[str]:
        """For each baseline, how many findings it has kept back, in a line."""
        return [f"{counted(len(found), 'known finding')} in {shown}" for shown, found in self._known(outcomes) if found]

    def stale(self, outcomes: Sequence[Outcome], is_judged: Callable[[str, str], bool]) -> list[str]:
        """For each baseline that records what is not there any more, a line.

        `is_judged`: whether all findings of a file, by absolute path, with a code would have been found in this run.
        """
        said: list[str] = []
        if not self._filters:
            return said
        from autodetach.adoption.wanted import entry_of

        by_name = dict(self._known(outcomes))
        for one in self._filters.values():
            if one.baseline is None:
                continue
            present = Counter(entry_of(name) for _, _, name in by_name[one.baseline.shown])
            gone = {
                entry: count - present[entry]
                for entry, count in sorted(one.baseline.counts.items())
                if count > present[entry]
                and (
                    not os.path.exists(one.baseline.file_of(entry))
                    or is_judged(one.baseline.file_of(entry), entry.code)
                )
            }
            if gone:
                names = [f"{e.path}: {e.code}{f' in {e.scope}' if e.scope else ''}" for e in gone][:MAX_NAMED]
                more = ", ..." if len(gone) > MAX_NAMED else ""
                shown = one.baseline.shown
                said.append(
                    f"{shown}: {counted(sum(gone.values()), 'recorded finding')} not found any more"
                    f" ({', '.join(names)}{more}); `--write-baseline {shown}` forgets what is gone"
                )
        return said

    def _known(self, outcomes: Sequence[Outcome]) -> list[tuple[str, set[tuple[str, int, str]]]]:
        """For each baseline, the findings of the run that it records: absolute path, offset, entry."""
        if not self._filters:
            return []
        from autodetach.adoption.wanted import entry_of

        found = {(path or o.file.path, at, name) for o in outcomes for path, at, name in o.known}
        baselines = [one.baseline for one in self._filters.values() if one.baseline is not None]
        return [
            (
                b.shown,
                {one for one in found if b.path_of(one[0]) == entry_of(one[2]).path and entry_of(one[2]) in b.counts},
            )
            for b in baselines
        ]


def write_baseline(file: str, cwd: str, findings: Sequence[Located]) -> str:
    """Record the findings in a file, and say so. Raises ConfigError."""
    from autodetach.adoption.baseline import dump
    from autodetach.disk.write import WriteError, obstacle, write_result

    path = os.path.abspath(os.path.join(cwd, file))
    try:
        fault = "a name is missing" if not file else obstacle(file)
        if fault is None:
            places = ((one.path, one.finding.code, one.finding.span, one.source) for one in findings)
            write_result(path, dump(places, os.path.dirname(path)))
    except WriteError as error:
        fault = str(error)
    if fault is not None:
        raise ConfigError(f"--write-baseline {file}: {fault}")
    return f"Wrote {counted(len(findings), 'finding')} to {file}."


class Ignored(NamedTuple):
    """What came of writing comments: which findings have one now, in how many files, and what went wrong."""

    findings: tuple[Located, ...]
    files: int
    problems: tuple[Problem, ...]


def add_ignores(findings: Sequence[Located], reason: str, may_edit: Callable[[str], bool]) -> Ignored:
    """Write a comment for each finding into its file; those of one file together, or none of them."""
    from autodetach.comments.add_ignore import NotSilenced, ignoring
    from autodetach.disk.write import WriteError, replace_bytes

    done: list[Located] = []
    problems: list[Problem] = []
    files = 0
    by_file: dict[str, list[Located]] = {}
    for one in findings:
        # A comment on a comment that nobody needs is no help: that finding has a fix.
        if one.finding.code != "AD901" and may_edit(one.path):
            by_file.setdefault(one.path, []).append(one)
    for path, here in by_file.items():
        source = here[0].source
        try:
            edits = ignoring(source, [one.finding for one in here], reason)
            replace_bytes(path, source.stored, source.stored_with(edits))
        except (NotSilenced, WriteError) as error:
            problems.append(Problem(source.path, f"no comment written: {error}"))
            continue
        done += here
        files += 1
    return Ignored(tuple(done), files, tuple(problems))
