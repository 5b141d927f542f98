"""Code that others wrote: `python -m tests.trust.world --stdlib --site-packages`.

Each file is looked at and repaired (`--unsafe-fixes`) in memory, in a process of its own that the system ends at a
limit: first as users do it, then, with `--forced`, on the machine, whatever its words say. Nothing may crash; what is
repaired has to parse with `ast` and, if it did before, with libcst; a second repair has to change nothing. All findings
are printed, to be read. `--files N --seed S` takes a sample; `--report FILE` keeps a line of JSON for each file. Other
folders may be given by their paths.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import resource
import shutil
import signal
import sys
import sysconfig
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from unittest import mock

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.decoding import SourceError
from autodetach.finding import Finding
from autodetach.report import OutputFormat
from autodetach.source import Source

from .promises import kept

SECONDS = 60
"""Of processor time, for one file and all that is done with it."""
MEGABYTES = 2000
SLOWEST = 5
INSTALLED = frozenset({"site-packages", "dist-packages"})
"""What lies in the folder of the standard library, and does not belong to it."""


@dataclass
class Row:
    """What came of one file. `wrong` are broken promises; `problems` what the tool itself said, and rightly may."""

    path: str
    size: int = 0
    seconds: float = 0.0
    forced_seconds: float = 0.0
    megabytes: int = 0
    findings: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    applied: int = 0
    problems: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def look(path: str, *, forced: bool) -> Row:
    """Check one file and repair it, in this process."""
    row = Row(path, os.path.getsize(path))
    begun = time.process_time()
    verdict = kept(path, formats=tuple(OutputFormat))
    row.seconds = round(time.process_time() - begun, 3)
    row.wrong += verdict.wrong
    row.problems = verdict.problems
    row.applied = len(verdict.fixed.applied)
    source = verdict.outcome.source
    if source is not None:
        row.findings = [
            _shown(finding, verdict.outcome.source_of(finding.path)) for finding in verdict.outcome.findings
        ]
    elif forced and not row.problems:
        begun = time.process_time()
        _force(path, row)
        row.forced_seconds = round(time.process_time() - begun, 3)
    return row


def _force(path: str, row: Row) -> None:
    """Run a file whose words say that it can have no finding, and note the findings that it has."""
    try:
        source = Source.from_bytes(Path(path).read_bytes(), path)
    except SourceError as error:
        row.problems.append(str(error))
        return
    with mock.patch("autodetach.checker.is_idle", return_value=False):
        result = check(source, CheckOptions(), path=path)
    row.hidden = [_shown(finding, source) for finding in result.findings]
    row.problems = [problem.message for problem in result.problems]


def _shown(finding: Finding, source: Source | None) -> str:
    if source is None:
        return f"{finding.code} {finding.message}"
    kind = f"{finding.fix.applicability.value} fix" if finding.fix is not None else "no fix"
    return f"{source.path}:{source.position(finding.span.start).line}: {finding.code} {finding.message} ({kind})"


def in_child(path: str, report: Path, *, forced: bool) -> int:
    """The process that does it; its end is its answer if it does not come to write one."""
    child = os.fork()
    if child:
        return child
    try:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        resource.setrlimit(resource.RLIMIT_AS, (MEGABYTES << 20, MEGABYTES << 20))
        try:
            row = look(path, forced=forced)
        except BaseException:
            row = Row(path, wrong=[traceback.format_exc(limit=-4)])
        report.write_text(json.dumps(asdict(row)))
    finally:
        os._exit(0)


def rows(paths: Sequence[str], jobs: int, *, forced: bool) -> Iterator[Row]:
    """A row for each file, as they come."""
    running: dict[int, str] = {}
    waiting = list(reversed(paths))
    with tempfile.TemporaryDirectory() as place:
        _warm()
        while waiting or running:
            while waiting and len(running) < jobs:
                path = waiting.pop()
                answer = Path(place) / str(len(waiting))
                running[in_child(path, answer, forced=forced)] = f"{path}\0{answer}"
            child, status, usage = os.wait4(-1, 0)
            path, _, name = running.pop(child).partition("\0")
            row = Row(path, wrong=[f"ended by signal {os.WTERMSIG(status)}, the limit is {SECONDS} s"])
            with suppress(FileNotFoundError):
                row = Row(**json.loads(Path(name).read_text()))
            row.megabytes = usage.ru_maxrss >> 10
            yield row


def _warm() -> None:
    """Load all that a repair needs, once for all processes."""
    kept(
        "warm.py", b"import torch\ntotal = 0\nfor x in data:\n    loss = torch.nn.Linear(1, 1)(x)\n    total += loss\n"
    )
    gc.collect()
    gc.freeze()


def copied(folders: Sequence[Path], place: Path) -> list[str]:
    """Copies of the Python files in some folders: what imports find stays where it is in relation to them."""
    made = []
    for number, folder in enumerate(folders):
        for path in folder.rglob("*.py"):
            if path.is_file() and not INSTALLED & set(path.relative_to(folder).parts):
                to = place / f"{number}-{folder.name}" / path.relative_to(folder)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, to)
                made.append(str(to))
    return sorted(made)


def main(arguments: Sequence[str] | None = None) -> int:
    """Look at the files, and print what is found and the figures. 1 if a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.trust.world", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--stdlib", action="store_true", help="the standard library of this Python")
    parser.add_argument("--site-packages", action="store_true", help="what is installed for this Python")
    parser.add_argument("--forced", action="store_true", help="run also what says no word of autograd")
    parser.add_argument("--files", type=int, help="a sample of so many files")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--report", type=Path, help="a line of JSON for each file")
    options = parser.parse_args(arguments)
    places = sysconfig.get_paths()
    folders = [*options.folders]
    folders += [Path(places["stdlib"])] if options.stdlib else []
    folders += [Path(places["purelib"])] if options.site_packages else []
    with tempfile.TemporaryDirectory() as place:
        paths = copied(folders, Path(place))
        random.Random(options.seed).shuffle(paths)
        done = []
        with open(options.report or os.devnull, "w", encoding="utf-8") as report:
            for row in rows(paths[: options.files], options.jobs, forced=options.forced):
                row.path = os.path.relpath(row.path, place)
                done.append(row)
                print(json.dumps(asdict(row)), file=report, flush=True)
                for text in row.findings:
                    print(f"found  {text.replace(place + os.sep, '')}", flush=True)
                for text in row.hidden:
                    print(f"hidden {text.replace(place + os.sep, '')}", flush=True)
                for text in row.wrong:
                    print(f"WRONG  {row.path}: {text}", flush=True)
    _summary(done)
    return int(any(row.wrong for row in done) or not done)


def _summary(done: Sequence[Row]) -> None:
    print(f"{len(done)} files, {sum(row.size for row in done) / 1e6:.1f} MB")
    print(f"{sum(len(row.findings) for row in done)} findings, {sum(row.applied for row in done)} repairs")
    print(f"{sum(len(row.hidden) for row in done)} more where no word of a file says that it has to do with autograd")
    print(f"{sum(len(row.wrong) for row in done)} broken promises")
    for text, count in Counter(problem[:60] for row in done for problem in row.problems).most_common():
        print(f"   {count} x {text}")
    slow = sorted(done, key=lambda row: -row.seconds - row.forced_seconds)[:SLOWEST]
    print("longest: " + ", ".join(f"{row.seconds + row.forced_seconds:.1f} s {row.path}" for row in slow))
    large = sorted(done, key=lambda row: -row.megabytes)[:SLOWEST]
    print("largest: " + ", ".join(f"{row.megabytes} MB {row.path}" for row in large))


if __name__ == "__main__":
    sys.exit(main())
