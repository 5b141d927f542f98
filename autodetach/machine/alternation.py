"""Passes in which the remainder of one counter has one value or another: between two of one lie those of the others.

What `i % k == 0` begins, `i % k == k - 1` ends: nothing is ended twice that was begun once.
"""

from __future__ import annotations


class Alternation:
    """What tests of one counter and one divisor have found so far, by the remainders that they ask for.

    Say that `i % 4 == 0` begins a sum, `i % 4 == 3` ends it, and the path that is run tries these:

        pass 1: 0 is not found, and 3 is: the next one has to find 0, which 3 is `before`
        pass 2: 0 is found, so that 3 is not
        pass 3: 0 is not found, since 3 has not been since; 3 may be, and is
        pass 4: 0 is found again, and so on: no sum is ended twice

    As long as all of them are found in each pass, which begins and ends something then, the divisor may be 1.
    """

    __slots__ = ("_asked", "_found", "_number", "_order", "_where", "is_more_than_one")

    def __init__(self) -> None:
        self._where: object = None
        self._number = 0
        self._asked: dict[int, int] = {}
        self._found: dict[int, int] = {}
        self._order: list[int] = []
        self.is_more_than_one = False

    def enter(self, where: object) -> None:
        """A test is met in a pass, of which others may have been met already."""
        if where != self._where:
            self._where = where
            self._number += 1

    def must_be(self, remainder: int, before: int) -> bool | None:
        """Whether the counter has a remainder in this pass, where that follows; `before` is that of the last pass."""
        now = self._number
        others = self._asked.keys() - {remainder}
        if not self.is_more_than_one or not others:
            return None
        if self._asked.get(remainder) == now:
            return self._found.get(remainder) == now
        if any(self._found.get(other) == now for other in others):
            return False
        if before in others and self._found.get(before) == now - 1:
            return True
        if remainder not in self._order:
            return None
        missing = others.difference(self._order[self._order.index(remainder) :])
        return False if any(self._asked[other] >= now - 1 for other in missing) else None

    def note(self, remainder: int, *, found: bool) -> None:
        """A test has gone one way."""
        self._asked[remainder] = self._number
        if not found:
            self.is_more_than_one = True
            return
        self._found[remainder] = self._number
        if remainder in self._order:
            self._order.remove(remainder)
        self._order.append(remainder)
