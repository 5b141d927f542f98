"""Fixes applied to a program until none is left, one at a time: each is proven on the program as it is by then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from autodetach.checker import check
from autodetach.checks import Change, CheckOptions, CheckResult, Wanted
from autodetach.finding import Applicability, Finding, Problem, Severity, edits_by_file
from autodetach.named_tuples import NamedTuple
from autodetach.projects.project import Finder
from autodetach.source import Edit, Source, Span, compose, offset_before
from autodetach.uses import Uses

if TYPE_CHECKING:
    from autodetach.machine.evidence import Evidence

MAX_MORE_ROUNDS = 24
"""How many rounds there may be beyond one for each finding: repairs may bring new ones to light."""
FUEL_FOR_FIXING = 1_000_000
"""What `fix` may cost over all its rounds, in units of `machine.running`: after a round that exceeds it, it ends."""


class FixResult(NamedTuple):
    """`applied` refers to the first sources, `remaining` to the fixed ones.

    `changes` are the files that were edited; `source` and `edits` are those of the analysed one. `sources`
    are all files that were taken into account, by absolute path. `uses` is that of the first check.
    """

    source: Source
    edits: tuple[Edit, ...]
    applied: tuple[Finding, ...]
    remaining: tuple[Finding, ...]
    problems: tuple[Problem, ...] = ()
    changes: tuple[Change, ...] = ()
    sources: Mapping[str, Source] = {}
    used: frozenset[tuple[str, int]] = frozenset()
    uses: Mapping[str, Uses] = {}


class Judge(Protocol):
    """What others say of the repairs that are found."""

    def of(self, finding: Finding, first: Finding, sources: Mapping[str, Source]) -> Finding:
        """A finding with its fix as it is to be taken; `first` is the same in terms of the first `sources`."""


def fix(
    source: Source,
    options: CheckOptions,
    *,
    unsafe: bool,
    path: str = "",
    finder: Finder | None = None,
    changed: Mapping[str, Source] | None = None,
    may_edit: Callable[[str], bool] | None = None,
    wanted: Wanted | None = None,
    evidence: Evidence | None = None,
    may_edit_own: bool = True,
    judge: Judge | None = None,
) -> FixResult:
    """Apply fixes until none is left: one at a time, since each is proven on the program as it is.

    `may_edit` says of other files, by absolute path, whether they may be edited too; without it, none may.
    `may_edit_own` says it of the source itself. What is found is told as `judge` has it. `evidence` is what a run of
    the first program has shown: it speaks of no lines, and is asked about the edited ones too.
    """
    root = path or source.path
    originals: dict[str, Source] = {root: source}
    current: dict[str, Source] = {root: source}
    edits: dict[str, tuple[Edit, ...]] = {}
    applied: list[Finding] = []

    def is_open(at: str) -> bool:
        return (may_edit is not None and may_edit(at)) if at else may_edit_own

    def look() -> CheckResult:
        nonlocal evidence
        known = {**(changed or {}), **current}
        result = check(current[root], options, path=path, finder=finder, changed=known, evidence=evidence)
        evidence = result.evidence or evidence
        for at, found in result.sources.items():
            originals.setdefault(at, found)
            current.setdefault(at, found)
        if wanted is None and judge is None:
            return result
        # What is wanted is said of the files as they were.
        findings = result.findings
        first = [in_terms_of(finding, root, originals, edits, current) for finding in findings]
        if judge is not None:
            findings = tuple(judge.of(*one, originals) for one in zip(findings, first, strict=True))
        places = range(len(findings)) if wanted is None else wanted.sift(first, originals, root)[0]
        return result._replace(findings=tuple(findings[n] for n in places))

    result = look()
    uses = result.uses
    cost = result.cost
    problems: tuple[Problem, ...] = ()
    max_rounds = MAX_MORE_ROUNDS + len(result.findings)
    for rounds in range(max_rounds + 1):
        chosen = _next(result.findings, unsafe, is_open)
        if not chosen:
            break
        if rounds == max_rounds or cost > FUEL_FOR_FIXING:
            why = "that takes more than the budget allows" if cost > FUEL_FOR_FIXING else "new findings come and come"
            problems = (Problem(source.path, f"not all fixes were applied: {why}; fix again to go on", partial=True),)
            break
        applied += (in_terms_of(finding, root, originals, edits, current) for finding in chosen)
        for at, new in _edits_of(chosen, root).items():
            edits[at] = compose(edits.get(at, ()), new, originals[at])
            current[at] = current[at].with_edits(new)
        result = look()
        cost += result.cost
    changes = tuple(Change(at, originals[at], new, current[at]) for at, new in edits.items() if new)
    return FixResult(
        current[root],
        edits.get(root, ()),
        tuple(applied),
        result.findings,
        (*result.problems, *problems),
        changes,
        current,
        result.used,
        uses,
    )


def _edits_of(findings: Iterable[Finding], root: str) -> dict[str, tuple[Edit, ...]]:
    """The edits of several fixes, by absolute path, in the order of their places."""
    found: dict[str, list[Edit]] = {}
    for at, new in (one for finding in findings for one in edits_by_file(finding)):
        found.setdefault(at or root, []).extend(new)
    return {at: tuple(sorted(edits, key=lambda edit: (edit.start, edit.end))) for at, edits in found.items()}


def _next(
    findings: tuple[Finding, ...], unsafe: bool, may_edit: Callable[[str], bool] = lambda at: not at
) -> tuple[Finding, ...]:
    """What to repair first: what its author tried to do (AD4xx), then what crosses a pass, other errors, the rest.

    It is one finding, or several whose fixes were proven together. `may_edit` is asked with the paths of findings.
    """
    allowed = [
        f
        for f in findings
        if f.fix is not None
        and (unsafe or f.fix.applicability is Applicability.SAFE)
        and all(may_edit(at) for at, _ in edits_by_file(f))
    ]
    allowed.sort(key=_urgency)
    chosen = allowed[:1]
    for one in allowed[1:]:
        if _together(chosen[0], one) and not any(_meet(one, other) for other in chosen):
            chosen.append(one)
    return tuple(chosen)


def _together(one: Finding, other: Finding) -> bool:
    fixes = one.fix, other.fix
    return one.code == other.code and all(fix is not None and fix.together for fix in fixes)


def _meet(one: Finding, other: Finding) -> bool:
    """Whether edits of two fixes overlap, or touch."""
    theirs = [(at, edit) for at, edits in edits_by_file(other) for edit in edits]
    own = ((at, edit) for at, edits in edits_by_file(one) for edit in edits)
    return any(at == where and e.start <= o.end and o.start <= e.end for at, e in own for where, o in theirs)


def _urgency(finding: Finding) -> tuple[bool, bool, bool, str, int]:
    family = finding.code[:3]
    return family != "AD4", finding.severity is not Severity.ERROR, family != "AD3", finding.path, finding.span.start


def in_terms_of(
    finding: Finding,
    root: str,
    originals: Mapping[str, Source],
    edits: Mapping[str, tuple[Edit, ...]],
    current: Mapping[str, Source],
) -> Finding:
    """A finding of edited sources, with its places in the first ones."""

    def back(path: str, offset: int) -> int:
        at = path or root
        return offset_before(originals[at], edits[at], offset) if edits.get(at) else offset

    def line_back(path: str, line: int) -> int:
        if not edits.get(path or root):
            return line
        now, first = current[path or root], originals[path or root]
        if not 1 <= line <= now.line_count:
            return line
        return first.position(back(path, now.line_span(line).start)).line

    start, end = back(finding.path, finding.span.start), back(finding.path, finding.span.end)

    def fix_back(path: str, made: tuple[Edit, ...]) -> tuple[Edit, ...]:
        places = ((back(path, edit.start), back(path, edit.end), edit.replacement) for edit in made)
        return tuple(Edit(first, max(first, last), text) for first, last, text in places)

    story = tuple(step._replace(line=line_back(step.path, step.line)) for step in finding.story)
    fix = finding.fix
    if fix is not None:
        elsewhere = tuple((at, fix_back(at, made)) for at, made in fix.elsewhere)
        fix = fix._replace(edits=fix_back(finding.path, fix.edits), elsewhere=elsewhere)
    return finding._replace(span=Span(start, max(start, end)), story=story, fix=fix)
