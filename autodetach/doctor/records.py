"""What an observer has written down, for those who read it."""

from __future__ import annotations

from typing import Any, Protocol

from autodetach.doctor.census import Census
from autodetach.doctor.frames import Site
from autodetach.doctor.growth import Growth
from autodetach.doctor.holders import Search
from autodetach.doctor.journal import Journal
from autodetach.doctor.lines import Lines


class Records(Protocol):
    """The records of a run."""

    journal: Journal
    lines: Lines
    growth: Growth
    failed: bool

    @property
    def search(self) -> Search: ...

    @property
    def census(self) -> Census: ...

    def stepped_by(self, tensor: Any) -> Site | None: ...
