"""The findings of many outcomes as one list: what a person, a program or an editor is shown."""

from __future__ import annotations

import os
from collections.abc import Sequence

from autodetach.finding import Finding
from autodetach.report import Located
from autodetach.settings.config import Configuration, posix
from autodetach.settle import once
from autodetach.task import Outcome


def gather(outcomes: Sequence[Outcome], configuration: Configuration) -> list[Located]:
    """Each finding that the settings want, once, in the order of files and lines. Raises ConfigError."""
    asked = {outcome.file.path for outcome in outcomes}
    located = []
    for finding, outcome in once(outcomes):
        source = outcome.source_of(finding.path)
        path = finding.path or outcome.file.path
        if source is not None and _is_wanted(finding, path, asked, configuration):
            others = dict(outcome.sources) if outcome.source is None else {**outcome.sources, "": outcome.source}
            located.append(Located(finding, source, source.path, path, outcome.file.path, others))
    return located


def _is_wanted(finding: Finding, path: str, asked: set[str], configuration: Configuration) -> bool:
    """Whether the settings of the file in which a finding is want to hear of it."""
    if not finding.path:
        return True
    settings = configuration.settings_for(os.path.dirname(path))
    codes = settings.options_for(posix(path)).codes
    return (codes is None or finding.code in codes) and (path in asked or not settings.excludes(posix(path)))
