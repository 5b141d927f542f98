"""From what was seen to what is said of it."""

from __future__ import annotations

from types import FrameType

from autodetach.doctor.changed import Changed
from autodetach.doctor.diagnosis import Diagnosis
from autodetach.doctor.freed import Freed
from autodetach.doctor.gathering import growing, hoarded, retained
from autodetach.doctor.journal import Call
from autodetach.doctor.names import Names
from autodetach.doctor.nodes import Node
from autodetach.doctor.records import Records
from autodetach.doctor.scan import Scan

FREED = ("backward through the graph a second time", "already been freed")
CHANGED = "modified by an inplace operation"


def of_error(
    seen: Records, call: Call, scan: Scan | None, roots: list[Node], error: RuntimeError, frame: FrameType
) -> Diagnosis | None:
    """What is behind an error of a differentiation; None if it is none of autograd's two."""
    text = str(error)
    if CHANGED in text:
        return Changed(seen, call, roots, Names(seen.search, seen.journal, frame)).diagnosis()
    if any(words in text for words in FREED):
        return Freed(seen, call, roots, Names(seen.search, seen.journal, frame)).diagnosis(scan)
    return None


def results(seen: Records) -> list[Diagnosis]:
    """Growing holders and unused retained graphs, of a run that has not failed.

    After an error both are unfinished business: what had gathered may have been about to be used.
    """
    if seen.failed:
        return []
    found = list(growing(seen))
    return [*found, *([] if found else hoarded(seen)), *retained(seen)]
