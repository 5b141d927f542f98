"""Many runs at the same time with one cache: `python -m tests.trust.soak_runs --runs 1000 --seed 1`.

A project is checked, and parts of it, by several processes at once, while its files change between the batches. Every
answer has to be the one that a run without a cache gives, and the cache whole afterwards: the next run takes all of its
answers from it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from autodetach.cache import MAGIC
from autodetach.disk.state import digest

ROOT = Path(__file__).parent.parent.parent
FILES = 12
AT_ONCE = 6
ARGUMENTS = (
    ("check", "--output-format", "json", "."),
    ("check", "--output-format", "json-lines", "--select", "AD1", "."),
    ("check", "--output-format", "json", "a", "b"),
    ("check", "-j", "2", "--output-format", "grouped", "."),
)


@dataclass
class Report:
    """What was done, and what is wrong."""

    runs: int = 0
    batches: int = 0
    wrong: list[str] = field(default_factory=list)


def start(place: Path, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    """A run in the folder."""
    # Wherever it runs, it is the checkout that this file is in.
    environment = {**os.environ, "AUTODETACH_CACHE_DIR": str(place.parent / "kept"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "autodetach", *arguments]
    return subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)


def soak(runs: int, seed: int) -> Report:
    """So many runs, and what came of them."""
    random = Random(seed)
    report = Report()
    programs = [p.read_bytes() for p in sorted(ROOT.glob("fixtures/*/*.before.py")) if p.stat().st_size < 1500][::7]
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch).resolve() / "project"
        files = [place / folder / f"m{number}.py" for folder in ("a", "b") for number in range(FILES // 2)]
        for path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(random.choice(programs))
        while report.runs < runs:
            for path in random.sample(files, random.randrange(4)):
                path.write_bytes(random.choice(programs))
            report.batches += 1
            chosen = random.choice(ARGUMENTS)
            with start(place, [chosen[0], "--no-cache", *chosen[1:]]) as alone:
                truth, _ = alone.communicate()
            batch = [start(place, chosen) for _ in range(min(AT_ONCE, runs - report.runs))]
            for one in batch:
                with one:
                    out, err = one.communicate()
                report.runs += 1
                if one.returncode not in (0, 1) or out != truth or b"internal error" in err:
                    report.wrong.append(f"{chosen}: {one.returncode} {err[-300:]!r}, {len(out)} bytes of {len(truth)}")
            report.wrong += broken(place.parent / "kept")
    return report


def broken(kept: Path) -> list[str]:
    """What is wrong with the files of the cache."""
    wrong = []
    for path in kept.iterdir():
        raw = path.read_bytes()
        head = len(MAGIC) + 33
        if path.suffix == ".findings" and raw[:head] != MAGIC + digest(raw[head:]).encode() + b"\n":
            wrong.append(f"the cache is broken: {path.name}")
        elif path.suffix == ".tmp":
            wrong.append(f"left behind: {path.name}")
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures. 1 if a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.trust.soak_runs", description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    begun = time.monotonic()
    report = soak(options.runs, options.seed)
    for text in report.wrong:
        print(f"WRONG {text}")
    print(
        f"{report.runs} runs in {report.batches} batches, {len(report.wrong)} wrong, {time.monotonic() - begun:.0f} s"
    )
    return int(bool(report.wrong))


if __name__ == "__main__":
    sys.exit(main())
