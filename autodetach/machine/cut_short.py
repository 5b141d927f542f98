"""Entry points that an error ended: what they left half done.

Mostly the program ends with them, and does not go on with what they would have made anew. What they have walked, or
changed in place, is no evidence against what is walked by what the machine enters behind them.
"""

from __future__ import annotations


class CutShort:
    """When each of them began, and when the error came, in one run."""

    __slots__ = ("spans",)

    def __init__(self) -> None:
        self.spans: list[tuple[int, int]] = []

    def note(self, begun: int, now: int) -> None:
        """An error ends now what began then."""
        self.spans.append((begun, now))

    def hold(self, clock: int) -> bool:
        """Whether it was done at that time by what an error ended later, and before now."""
        return any(begun < clock <= ended for begun, ended in self.spans)
