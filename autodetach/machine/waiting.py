"""The paths of a program that wait to be run, and which of them is next.

What is still open comes first: whether a graph that is kept for another time is walked again. That is known where each
test around has gone both ways, see `surroundings`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from autodetach.machine.graph import Differentiation, is_walked_again
from autodetach.machine.oracle import Decision, Oracle, Policy, TestKey
from autodetach.machine.surroundings import around


class Kept:
    """The calls that keep a graph which no path so far walks again, and the tests around that went one way so far."""

    def __init__(self) -> None:
        self._kept: dict[ast.Call, Differentiation] = {}
        self._needed: set[ast.Call] = set()
        self._ways: dict[TestKey, tuple[Decision, set[bool]]] = {}

    def note(self, differentiations: Iterable[Differentiation], oracle: Oracle) -> None:
        """Learn from another path."""
        for d in differentiations:
            if d.retain and not d.create_graph and d.kind != "grad" and d.call not in self._needed:
                self._kept.setdefault(d.call, d)
                if is_walked_again(d):
                    self._needed.add(d.call)
        for key, decision in oracle.decisions.items():
            if decision.relevant:
                self._ways.setdefault(key, (decision, set()))[1].update(decision.outcomes)

    def open(self) -> set[TestKey]:
        """The tests that may yet lead to where such a graph is walked again."""
        kept = [d for call, d in self._kept.items() if call not in self._needed]
        one_way = [(key, decision) for key, (decision, ways) in self._ways.items() if len(ways) == 1]
        near = around(kept)
        return {key for key, decision in one_way if near.hold(decision)} if kept else set()


class Waiting:
    """The paths that wait, in order; no more than `most` are run."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._queue = [Policy()]
        self._left_out: list[Policy] = []
        self._seen = {Policy()}
        self._known = 1

    def __bool__(self) -> bool:
        return bool(self._queue)

    def add(self, policies: Iterable[Policy]) -> None:
        """Let these wait that are new, as many as may be."""
        for policy in policies:
            if policy not in self._seen:
                self._seen.add(policy)
                is_last = self._known >= self._most
                (self._left_out if is_last else self._queue).append(policy)
                self._known += not is_last

    @property
    def first(self) -> Policy | None:
        """The one that is next, if any waits."""
        return self._queue[0] if self._queue else None

    def next(self) -> Policy:
        return self._queue.pop(0)

    def prefer(self, tests: set[TestKey]) -> bool:
        """Have the first path come next that turns one of these tests, if there is any."""
        found = next((policy for policy in self._queue if policy.flips[-1][0] in tests), None)
        if found is not None:
            self._queue.remove(found)
        elif self._queue:  # one that was too many takes the place of the last that is not
            found = next((policy for policy in self._left_out if policy.flips[-1][0] in tests), None)
            if found is not None:
                self._left_out.remove(found)
                self._left_out.append(self._queue.pop())
        if found is not None:
            self._queue.insert(0, found)
        return found is not None
