"""Runs of one program along several paths: what is known of one is not run again for another."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from autodetach.machine.oracle import Policy, TestKey
from autodetach.machine.project import Project
from autodetach.machine.run import Run
from autodetach.machine.running import run_once

if TYPE_CHECKING:
    from autodetach.machine.evidence import Evidence


class Paths:
    """Runs of one program. With `apart`, what others cannot notice is run again by itself.

    What is called on the default path, and on another is not, nobody calls there: how often, what it is given, and
    whether gradients are on, is in view. `called` are those functions, where the default path has been run already.
    """

    def __init__(
        self,
        tree: ast.Module,
        project: Project | None,
        evidence: Evidence | None,
        *,
        called: frozenset[str] = frozenset(),
        apart: bool = True,
    ) -> None:
        self._tree = tree
        self._project = project
        self._evidence = evidence
        self._called = called
        self._apart = apart and evidence is None
        self._first: Run | None = None
        self._done: dict[tuple[frozenset[tuple[TestKey, str]], frozenset[str]], Run] = {}

    def run(self, policy: Policy, fuel: int) -> Run:
        """The path of a policy. Raises Spoilt where all runs so far have to be forgotten, but not without `apart`."""
        # Of two tests that go the other way, either may be the first to be turned: it is the same path.
        path = (frozenset(policy.flips), policy.opened)
        done = self._done.get(path)
        if done is not None and done.fuel == fuel:
            return done.seen_as(policy, done.machine, done.fuel)
        run = self._done[path] = self._run(policy, fuel)
        return run

    def _run(self, policy: Policy, fuel: int) -> Run:
        first = self._first
        if first is not None and first.apart is not None and first.finished:
            seen = first.apart.other(policy, fuel)
            if seen is not None:
                return first.seen_as(policy, seen, fuel)
        is_default = not policy.flips
        run = run_once(
            self._tree,
            policy,
            fuel,
            project=self._project,
            evidence=self._evidence,
            watched=is_default and self._apart,
            called=self._called,
        )
        if is_default:
            self._called = run.called
            self._first = run if self._apart else None
        return run
