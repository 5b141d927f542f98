"""Many programs, seeded, in several processes; a run that was stopped goes on where it was.

    python -m tests.generated.campaign --programs 10000 --seed 1 --state FILE [-j 2] [--shrink]

One line for each disagreement, with the program saved beside the state file, and a last line of totals.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import torch

from .compare import compare
from .grammar import write
from .limits import limit
from .shrink import shrink

Row = dict[str, Any]


def one(seed: int, number: int, *, shorten: bool = False) -> Row:
    """One program: what is wrong with it, what was found, and each disagreement with its documented limit, if any."""
    source = write(Random(f"{seed}/{number}"))
    outcome = compare(source)
    row: Row = {"number": number, "fault": outcome.fault, "codes": outcome.codes, "disagreements": []}
    for d in outcome.disagreements:
        known = limit(source, outcome, d)
        text = source
        if shorten and known is None:
            text = shrink(source, lambda shorter, d=d: shows(shorter, d.kind))  # type: ignore[misc]
        row["disagreements"].append({"kind": d.kind, "detail": d.detail, "limit": known, "source": text})
    return row


def shows(source: str, kind: str) -> bool:
    outcome = compare(source)
    return any(d.kind == kind and limit(source, outcome, d) is None for d in outcome.disagreements)


def rows(seed: int, numbers: Iterable[int], jobs: int, shorten: bool) -> Iterator[Row]:
    work = partial(one, seed, shorten=shorten)
    torch.set_num_threads(1)  # the same bits everywhere, and faster for programs of this size
    if jobs <= 1:
        yield from map(work, numbers)
        return
    with multiprocessing.get_context("fork").Pool(jobs, torch.set_num_threads, (1,)) as pool:
        yield from pool.imap_unordered(work, numbers, chunksize=8)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.generated.campaign", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--state", type=Path, required=True, help="one line of JSON for each program that was run")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--shrink", action="store_true", help="make programs that disagree as short as possible")
    options = parser.parse_args(arguments)
    done = [json.loads(line) for line in options.state.read_text().splitlines()] if options.state.exists() else []
    done = [row for row in done if row["seed"] == options.seed and row["number"] < options.programs]
    left = sorted(set(range(options.programs)) - {row["number"] for row in done})
    options.state.parent.mkdir(parents=True, exist_ok=True)
    with options.state.open("a") as state:
        for row in rows(options.seed, left, options.jobs, options.shrink):
            for d in row["disagreements"]:
                if d["limit"] is None:
                    saved = options.state.with_name(f"{options.state.stem}-{row['number']}.py")
                    saved.write_text(d.pop("source"))
                    print(f"{row['number']}: {d['kind']}: {d['detail'][:160]} ({saved})", flush=True)
                d.pop("source", None)
            row["seed"] = options.seed
            state.write(json.dumps(row) + "\n")
            state.flush()
            done.append(row)
    print(totals(done))
    return int(any(d["limit"] is None for row in done for d in row["disagreements"]))


def totals(done: list[Row]) -> str:
    faults = Counter(row["fault"] for row in done)
    open_ = Counter(d["kind"] for row in done for d in row["disagreements"] if d["limit"] is None)
    known = Counter(d["limit"] for row in done for d in row["disagreements"] if d["limit"] is not None)
    parts = [f"{len(done)} programs", listed(faults), f"{open_.total()} disagreements", listed(open_)]
    return "; ".join(p for p in [*parts, f"{known.total()} explained", listed(known)] if p)


def listed(counts: Counter[str]) -> str:
    return ", ".join(f"{n} {name}" for name, n in counts.most_common())


if __name__ == "__main__":
    sys.exit(main())
