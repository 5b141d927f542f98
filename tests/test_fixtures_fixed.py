"""The fixtures through the checker: each `before` becomes its `after` to the byte, and nothing else is touched."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.fixing import FixResult, fix
from autodetach.rules import RULES
from autodetach.source import Source

FIXTURES = Path(__file__).parent.parent / "fixtures"
BEFORE = sorted(FIXTURES.glob("*/*.before.py"))
REPORT = sorted(FIXTURES.glob("*/*.report.py"))
HEALTHY = sorted(p for kind in ("after", "quiet", "reference") for p in FIXTURES.glob(f"*/*.{kind}.py"))


def source_of(path: Path) -> Source:
    return Source.from_bytes(path.read_bytes(), path.name)


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


@functools.cache
def fixed(path: Path) -> FixResult:
    """What becomes of a file, which several tests look at."""
    return fix(source_of(path), CheckOptions(), unsafe=True)


@pytest.mark.parametrize("path", BEFORE, ids=name_of)
def test_before_becomes_after(path: Path) -> None:
    result = fixed(path)
    assert result.source.raw == path.with_name(path.name.replace(".before.", ".after.")).read_bytes()
    assert result.applied
    assert not result.remaining
    assert not result.problems


@pytest.mark.parametrize("path", BEFORE, ids=name_of)
def test_the_edits_give_the_fixed_source(path: Path) -> None:
    result = fixed(path)
    assert source_of(path).apply(result.edits) == result.source.raw


@pytest.mark.parametrize("path", BEFORE, ids=name_of)
def test_without_unsafe_only_safe_fixes_are_applied(path: Path) -> None:
    result = fix(source_of(path), CheckOptions(), unsafe=False)
    for finding in result.applied:
        assert finding.fix is not None
        assert finding.fix.applicability is Applicability.SAFE


@pytest.mark.parametrize("path", HEALTHY, ids=name_of)
def test_healthy_programs_are_quiet(path: Path) -> None:
    result = check(source_of(path), CheckOptions())
    assert [(f.code, f.message) for f in result.findings] == []
    assert result.problems == ()


@pytest.mark.parametrize("path", REPORT, ids=name_of)
def test_what_cannot_be_proven_is_reported_and_left_alone(path: Path) -> None:
    result = fixed(path)
    assert result.remaining
    assert result.source.raw == path.read_bytes()


@pytest.mark.parametrize("path", BEFORE, ids=name_of)
def test_the_rule_of_the_folder_has_a_part_in_it(path: Path) -> None:
    """The fault of a folder is seen by the folder's rule, or by the one whose repair settles it as well."""
    codes = {f.code for f in fixed(path).applied}
    own = next(rule.code for rule in RULES if rule.name == path.parent.name)
    assert own in codes or codes & OTHER_VIEWS.get(own, set())


OTHER_VIEWS = {
    "AD202": {"AD201", "AD203"},
    "AD201": {"AD202"},
    "AD402": {"AD302", "AD101", "AD102"},
    "AD302": {"AD402"},
}
"""Rules whose repair may settle a fault of another rule's folder: they see the same differentiation."""


@pytest.mark.parametrize("path", BEFORE, ids=name_of)
def test_every_finding_can_be_checked(path: Path) -> None:
    """A message, a story with lines of the file, and a place in it."""
    source = source_of(path)
    for finding in check(source, CheckOptions()).findings:
        assert finding.message
        assert finding.story
        assert all(1 <= step.line <= source.line_count for step in finding.story)
        assert 0 <= finding.span.start < finding.span.end <= len(source.raw)
