"""Score the doctor on a folder of programs whose faults a person has repaired.

    python -m tests.doctor.score CASES [--only TEXT] [--json FILE] [-j 2] [--show] [--no-fix] [--cold]

CASES holds NNN_name.before.py / NNN_name.after.py pairs, healthy programs H*.py, and harness.py, which runs a program
on PyTorch and says whether it raises or leaks.

For each pair whose `before` raises or leaks, the report of `autodetach run` is compared with the human repair:
    binding   a headline of the doctor names something that stands on a line which the repair changes, or beside one
              that it inserts
    line      the doctor speaks of such a line
    both      one paragraph does both
    report    one paragraph does both, those of the rules that the run has confirmed included
    shown     one paragraph, the source that it shows and the repair that it offers included, has the name and the line:
              what a person sees, and no measure of what is said
and, by the harness, the program is sound after
    run-fix   `autodetach run --fix`                  fix        `autodetach fix`
    run-all   `autodetach run --fix --unsafe-fixes`   fix-all    `autodetach fix --unsafe-fixes`
For each `after` and each healthy program (unless it leaks by its nature, by the harness):
    quiet     the doctor accuses nothing
    same      standard output and exit code are those without the doctor
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from .program_runs import Ran, Said, diagnoses, findings
from .truth import Truth, last_name, truth
from .warm import Warm

Row = dict[str, Any]
PAIR = ("binding", "line", "both", "report", "shown", "run-fix", "fix", "run-all", "fix-all")
COMMON = frozenset("self in for if is not None def return with as torch print range".split())
"""Words that lead nobody anywhere."""
HEALTHY = ("quiet", "same")
REPAIRS = {
    "run-fix": ("run", "--fix"),
    "run-all": ("run", "--fix", "--unsafe-fixes"),
    "fix": ("fix", "--no-cache"),
    "fix-all": ("fix", "--no-cache", "--unsafe-fixes"),
}


class Judge:
    """Runs programs: plain, under the doctor, and in the harness, where the same bytes are run once."""

    def __init__(self, harness: Path, python: Warm) -> None:
        self._harness = harness
        self._python = python
        self._known: dict[bytes, Row] = {}

    def plain(self, script: Path) -> Ran:
        return self._python(script.name, cwd=script.parent)

    def tool(self, *args: str, on: Path) -> Ran:
        return self._python("-m", "autodetach", *args, on.name, cwd=on.parent)

    def sound(self, script: Path) -> Row:
        """What the harness says: `error` (None or a text) and `leak`."""
        key = script.read_bytes()
        if key not in self._known:
            ended = self._python(str(self._harness), str(script), "--json", cwd=script.parent)
            try:
                self._known[key] = json.loads(ended.out.strip().splitlines()[-1])
            except (ValueError, IndexError):
                self._known[key] = {"error": f"harness failed ({ended.code}): {ended.err[-200:]}", "leak": False}
        return self._known[key]


def names_it(said: Said, wanted: Truth) -> bool:
    """Whether a headline has a name that stands where the repair is."""
    return any(last_name(name) in wanted.names for name in said.names if last_name(name))


def is_right(said: Said, wanted: Truth) -> bool:
    """Whether one paragraph has the name and the line."""
    return names_it(said, wanted) and not said.lines.isdisjoint(wanted.lines)


def is_shown(said: Said, wanted: Truth) -> bool:
    """Whether one paragraph shows the name and the line, be it in the repair that it offers."""
    names = names_it(said, wanted) or not wanted.names.isdisjoint(said.shown_names - COMMON)
    return names and not wanted.lines.isdisjoint(said.lines | said.shown_lines)


def pair(judge: Judge, before: Path, repairs: bool) -> Row | None:
    """A faulty program; None if it neither raises nor leaks."""
    after = before.with_name(before.name.replace(".before.", ".after."))
    symptom = judge.sound(before)
    if symptom["error"] is None and not symptom["leak"]:
        return None
    name = before.name.removesuffix(".before.py")
    row: Row = {"case": name, "kind": "pair", "symptom": symptom["error"] or "leaks"}
    wanted = truth(before.read_text(), after.read_text())
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / f"{name}.py"
        shutil.copyfile(before, copy)
        report = judge.tool("run", on=copy).err
        said = diagnoses(report)
        row["binding"] = any(names_it(each, wanted) for each in said)
        row["line"] = any(not each.lines.isdisjoint(wanted.lines) for each in said)
        row["both"] = any(is_right(each, wanted) for each in said)
        row["report"] = any(is_right(each, wanted) for each in (*said, *findings(report)))
        row["shown"] = any(is_shown(each, wanted) for each in (*said, *findings(report)))
        row["said"] = [each.text for each in said]
        row["rules"] = [each.text for each in findings(report)]
        row["wanted"] = {"lines": sorted(wanted.lines)}
        may_leak = judge.sound(after)["leak"]
        for key, args in REPAIRS.items() if repairs else ():
            shutil.copyfile(before, copy)
            judge.tool(*args, on=copy)
            got = judge.sound(copy)
            row[key] = got["error"] is None and (not got["leak"] or may_leak)
    return row


def healthy(judge: Judge, path: Path) -> Row | None:
    """A program without a fault; None if it leaks by its nature."""
    if judge.sound(path)["leak"]:
        return None
    row: Row = {"case": path.name.removesuffix(".py"), "kind": "healthy"}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        shutil.copyfile(path, copy)
        plain = judge.plain(copy)
        observed = judge.tool("run", on=copy)
        row["said"] = [each.text for each in diagnoses(observed.err)]
        row["quiet"] = not row["said"]
        row["same"] = (plain.code, plain.out) == (observed.code, observed.out)
        if plain.err and plain.err not in observed.err:
            row["note"] = f"standard error differs: {plain.err[-200:]!r}"
    return row


def score(cases: Path, only: str, jobs: int, *, repairs: bool, cold: bool) -> list[Row]:
    """A row for each program, in the order of their names."""
    faulty = [path for path in sorted(cases.glob("*.before.py")) if only in path.name]
    fine = [p for p in (*sorted(cases.glob("*.after.py")), *sorted(cases.glob("H*.py"))) if only in p.name]
    rows: dict[Path, Row | None] = {}
    left = [*faulty, *fine][::-1]

    def work() -> None:
        with contextlib.nullcontext(Warm()) if cold else Warm() as python:
            judge = Judge(cases / "harness.py", python)
            while left:
                path = left.pop()
                rows[path] = pair(judge, path, repairs) if path.name.endswith(".before.py") else healthy(judge, path)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for each in [pool.submit(work) for _ in range(jobs)]:
            each.result()
    return [row for path in (*faulty, *fine) if (row := rows[path]) is not None]


def table(rows: list[Row], *, show: bool) -> list[str]:
    """A line for each row that falls short, or for all, and two of totals."""
    lines = []
    for kind, marks in (("pair", PAIR), ("healthy", HEALTHY)):
        those = [row for row in rows if row["kind"] == kind]
        for row in those:
            if show or not all(row.get(mark, True) for mark in marks):
                state = " ".join(mark if row.get(mark) else "-" * len(mark) for mark in marks)
                lines.append(f"{row['case'][:44]:44s} {state}  {row.get('symptom', '')[:60]}{row.get('note', '')}")
        totals = "  ".join(f"{mark} {sum(bool(row.get(mark)) for row in those)}/{len(those)}" for mark in marks)
        lines.append(f"{kind}: {totals}")
    return lines


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--only", default="", help="programs whose name has this text")
    parser.add_argument("-j", type=int, default=2, help="programs at once")
    parser.add_argument("--show", action="store_true", help="a row for every program")
    parser.add_argument("--no-fix", action="store_true", help="without the repairs")
    parser.add_argument("--cold", action="store_true", help="a fresh process for every run, not a forked one")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = score(
        arguments.cases.resolve(), arguments.only, arguments.j, repairs=not arguments.no_fix, cold=arguments.cold
    )
    print("\n".join(table(rows, show=arguments.show)))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
