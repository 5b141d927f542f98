"""Ways of training that only another setting chooses, of those that stand in the files as constants."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from autodetach.machine.oracle import Oracle, Policy
from autodetach.machine.passed_by import PassedBy
from autodetach.machine.written_settings import others_than, written_settings

MOST = 4
"""More ways than that are not gone."""


def may_be_others(trees: Iterable[ast.Module]) -> bool:
    """Whether there are any settings that may be written otherwise."""
    return any(written_settings(tree) for tree in trees)


def other_ways(trees: Iterable[ast.Module], past: PassedBy, oracle: Oracle) -> list[Policy]:
    """The paths of the program with another setting, each of which leads to what the default one passes by.

    Tests that are decided without the settings are turned as any other.
    """
    entries = [entry for tree in trees for entry in written_settings(tree)]
    settings = [entry.setting for entry in entries]
    once = [entry for entry in entries if settings.count(entry.setting) == 1]
    lines = {decision.line for decision in oracle.decisions.values()}
    found = [w for test in past.tests if test.lineno not in lines for entry in once for w in others_than(entry, test)]
    return [Policy().with_written(written) for written in dict.fromkeys(found)][:MOST]
