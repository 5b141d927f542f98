"""A repair that has passed."""

from __future__ import annotations

from dataclasses import dataclass

from autodetach.finding import Applicability, Fix
from autodetach.source import Edit

Edits = dict[str, tuple[Edit, ...]]
"""By file."""


@dataclass(frozen=True, slots=True)
class Proven:
    """A repair that has passed; `why_unsafe` is None where it is safe."""

    message: str
    edits: tuple[tuple[str, tuple[Edit, ...]], ...]
    why_unsafe: str | None
    observed: tuple[str, ...] = ()
    together: bool = False

    def fix_at(self, path: str) -> Fix:
        """As the fix of a finding in the file `path`."""
        own = next((new for at, new in self.edits if at == path), ())
        rest = tuple((at, new) for at, new in self.edits if at != path)
        kind = Applicability.SAFE if self.why_unsafe is None else Applicability.UNSAFE
        return Fix(self.message, kind, own, self.why_unsafe, rest, self.observed, self.together)
