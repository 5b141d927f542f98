"""Programs in processes of their own: plain, under the doctor, and in the harness that says whether they are sound."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from autodetach.doctor.diagnosis import Kind

ROOT = Path(__file__).parents[2]
KINDS = "|".join(re.escape(kind.value) for kind in Kind)
HEADLINE = re.compile(rf"^(?:(?P<path>\S.*?):(?P<line>\d+): )?(?P<kind>{KINDS}): (?P<message>.*)$", re.M)
STEP = re.compile(r"^   \d+\. (?P<path>\S.*?):(?P<line>\d+)(?: in `[^`]*`)?: (?P<text>.*)$")
CALLED = re.compile(r", (?:called )?from \S.*?:(\d+)")
QUOTED = re.compile(r"`([^`]*)`")
FINDING = re.compile(r"^(?P<path>\S.*?):(?P<line>\d+):\d+: (?P<code>AD\d+) [\w-]+: (?P<message>.*)$")
CHANGED = re.compile(r"^ +(?P<line>\d+)? +[-+] (?P<text>.*)$")
SHOWN = re.compile(r"^ +(?P<line>\d+) \| (?P<text>.*)$")
WORD = re.compile(r"[A-Za-z_]\w*")
FOUND_STEP = re.compile(r"^   \d+\. line (?P<line>\d+): ")
TIMEOUT = 180


@dataclass(frozen=True, slots=True)
class Ran:
    """A process that has ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Said:
    """One paragraph of a report: `names` are those of its headline, `lines` all that it speaks of."""

    kind: str
    names: tuple[str, ...]
    lines: frozenset[int]
    text: str
    shown_names: frozenset[str] = frozenset()
    shown_lines: frozenset[int] = frozenset()
    """Words and lines of all source that the paragraph shows: of the story, and of what its repair changes."""


def environment(**more: str) -> dict[str, str]:
    """That of this process, with this checkout on the path of Python."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    return {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1", **more}


def run(argv: list[str], cwd: Path, text: str = "", **env: str) -> Ran:
    """Run a program; a timeout is the exit code 124."""
    try:
        ended = subprocess.run(
            argv,
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            input=text,
            env=environment(**env),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Ran(124, "", "timeout")
    return Ran(ended.returncode, ended.stdout, ended.stderr)


def diagnoses(report: str) -> list[Said]:
    """The doctor's own paragraphs of a report."""
    found: list[Said] = []
    lines = report.splitlines()
    for number, line in enumerate(lines):
        head = HEADLINE.match(line)
        if head is None:
            continue
        spoken = {int(head["line"])} if head["line"] else set()
        text = [line]
        for below in lines[number + 1 :]:
            if not below.startswith("   "):
                break
            text.append(below)
            step = STEP.match(below)
            if step:
                spoken.add(int(step["line"]))
                spoken |= {int(line) for line in CALLED.findall(step["text"])}
        names = tuple(name for name in QUOTED.findall(head["message"]) if "=" not in name and name != "backward")
        words, numbers = shown(text)
        found.append(Said(head["kind"], names, frozenset(spoken), "\n".join(text), words, numbers))
    return found


def findings(report: str) -> list[Said]:
    """The paragraphs of a report that the rules have written."""
    found: list[Said] = []
    lines = report.splitlines()
    for number, line in enumerate(lines):
        head = FINDING.match(line)
        if head is None:
            continue
        spoken = {int(head["line"])}
        text = [line]
        for below in lines[number + 1 :]:
            if FINDING.match(below) or not below.strip():
                break
            text.append(below)
            step = FOUND_STEP.match(below)
            if step:
                spoken.add(int(step["line"]))
        words, numbers = shown(text)
        found.append(
            Said(head["code"], tuple(QUOTED.findall(head["message"])), frozenset(spoken), line, words, numbers)
        )
    return found


def shown(paragraph: list[str]) -> tuple[frozenset[str], frozenset[int]]:
    """The words and the lines of the source that a paragraph shows."""
    words: set[str] = set()
    numbers: set[int] = set()
    last = 0
    for line in paragraph[1:]:
        part = SHOWN.match(line) or CHANGED.match(line)
        if part is None:
            continue
        words.update(WORD.findall(part["text"]))
        # A line without a number is the next one of those that a repair takes away or puts in.
        last = int(part["line"]) if part["line"] else last + 1
        numbers.add(last)
    return frozenset(words), frozenset(numbers)
