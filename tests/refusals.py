"""Which repairs are tried for the findings of some files, and why they are none.

    python -m tests.refusals FILE...

One line each: the rule, the line of the finding, what the repair says, and what came of it. For who writes a rule.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.proving import repairs
from autodetach.proving.proven import Proven
from autodetach.proving.repairs import Repairs
from autodetach.source import Source
from autodetach.suspect import Candidate, Suspect


@contextmanager
def told() -> Iterator[list[str]]:
    """The lines about what is tried meanwhile."""
    lines: list[str] = []

    class Telling(Repairs):
        def _proven(self, suspect: Suspect, candidate: Candidate) -> Proven | str:
            result = super()._proven(suspect, candidate)
            came = result if isinstance(result, str) else f"proven, {result.why_unsafe or 'safe'}"
            place = getattr(suspect.node, "lineno", "?")
            lines.append(f"{suspect.code} line {place}: {candidate.message}: {came}")
            return result

    with mock.patch.object(repairs, "Repairs", Telling):
        yield lines


def main(paths: Sequence[str]) -> None:
    for path in paths:
        with told() as lines:
            check(Source.from_bytes(Path(path).read_bytes(), path), CheckOptions(fixes=True))
        print(path, *lines, sep="\n  ")


if __name__ == "__main__":
    main(sys.argv[1:])
