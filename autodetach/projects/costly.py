"""Which files make a program cost more than it may: often networks, of which less need be known than of the rest."""

from __future__ import annotations

from autodetach.machine.classes import linear_order
from autodetach.machine.program_values import Class
from autodetach.machine.run import Analysis
from autodetach.projects.project import Files

SHARE = 4
"""Imported files that are kept have taken at most one part in so many of the budget, which did not last to the end."""


def trained_in(analysis: Analysis, files: Files) -> frozenset[str]:
    """The paths of the files in which the default path differentiates: who leaves one out does not see it train."""
    calls = (d.call for d in analysis.runs[0].machine.differentiations)
    return frozenset(files.module_at(getattr(call, "lineno", 0)).path for call in calls)


def costly(analysis: Analysis, files: Files) -> frozenset[str]:
    """The paths of imported files without which a program whose default path was cut short may be run to its end.

    Those that the analysed file does not import itself go first. Those that its classes derive from stay: without them
    little is known of these.
    """
    first = analysis.runs[0]
    kept = {files.root.path}
    for cls in first.machine.classes:
        kept.update(files.module_at(base.node.lineno).path for base in linear_order(cls) if isinstance(base, Class))
    near = {path for (importer, _), path in files.sought.items() if importer == files.root.path}
    costs = {path: cost for path, cost in first.machine.costs.items() if path not in kept}
    found: set[str] = set()
    left = sum(costs.values())
    for path in sorted(costs, key=lambda path: (path in near, -costs[path])):
        if left * SHARE <= first.fuel:
            break
        found.add(path)
        left -= costs[path]
    return frozenset(found)
