"""What the machine is documented not to know, each with the check that a disagreement is a case of it."""

from __future__ import annotations

from .compare import Disagreement, Outcome


def limit(source: str, outcome: Outcome, disagreement: Disagreement) -> str | None:
    """The documented limit that a disagreement is a case of, or None."""
    return None
