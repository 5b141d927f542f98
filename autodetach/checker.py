"""One source in, findings with proven fixes out: the only place where machine, rules and codemods meet."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from autodetach.finding import Applicability, Finding, Fix, Problem, Severity
from autodetach.source import Edit, Source, Span, compose
from autodetach.suppress import visible

if TYPE_CHECKING:
    from autodetach.codemods.tree import Tree
    from autodetach.machine.run import Analysis
    from autodetach.rules.program import Program
    from autodetach.rules.suspect import Candidate, Suspect

MAX_ROUNDS = 24
MAX_CANDIDATES = 10
MAX_NESTING = 6000
"""Python frames that the machine may need for deeply nested programs; others run out of budget long before."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What to look for. `codes` are the enabled rule codes, None for all of them."""

    codes: frozenset[str] | None = None
    prefer_accumulate: Literal["item", "detach"] = "item"
    prefer_shared: Literal["retain", "sum"] = "retain"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Findings in the order of their places. With problems, the file was not analysed, or not whole."""

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class FixResult:
    """`edits` and `applied` refer to the first source, `remaining` to `source`, the fixed one."""

    source: Source
    edits: tuple[Edit, ...]
    applied: tuple[Finding, ...]
    remaining: tuple[Finding, ...]
    problems: tuple[Problem, ...] = ()


def may_matter(raw: bytes) -> bool:
    """Whether a file can have anything to do with autograd: cheap, on its bytes."""
    return b"torch" in raw


def check(source: Source, options: CheckOptions) -> CheckResult:
    """All findings of a source, each with a fix if one could be proven. Errors are data: see `CheckResult.problems`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Python thinks of the user's string escapes is not our subject
            tree = ast.parse(source.text, source.path)
    except SyntaxError as error:
        return CheckResult((), (Problem(source.path, f"syntax error: {error.msg}", error.lineno),))
    except (ValueError, RecursionError, MemoryError) as error:
        return CheckResult((), (Problem(source.path, f"cannot be parsed: {error}", None),))
    if not may_matter(source.raw):
        return CheckResult(())
    result = _Session(source, tree, options).result()
    return replace(result, findings=tuple(visible(source, result.findings)))


def fix(source: Source, options: CheckOptions, *, unsafe: bool) -> FixResult:
    """Apply fixes until none is left: one at a time, since each is proven on the program as it is."""
    current = source
    edits: tuple[Edit, ...] = ()
    applied: list[Finding] = []
    result = check(source, options)
    for _ in range(MAX_ROUNDS):
        chosen = _next(result.findings, unsafe)
        if chosen is None or chosen.fix is None:
            break
        following = current.with_edits(chosen.fix.edits)
        applied.append(_in_terms_of(chosen, source, edits, current))
        edits = compose(edits, chosen.fix.edits, source)
        current = following
        result = check(current, options)
    return FixResult(current, edits, tuple(applied), result.findings, result.problems)


def _next(findings: tuple[Finding, ...], unsafe: bool) -> Finding | None:
    """The fix to apply first: what its author tried to do (AD4xx), then what crosses a pass, other errors, the rest."""
    allowed = [f for f in findings if f.fix is not None and (unsafe or f.fix.applicability is Applicability.SAFE)]
    return min(allowed, key=_urgency, default=None)


def _urgency(finding: Finding) -> tuple[bool, bool, bool, int]:
    family = finding.code[:3]
    return family != "AD4", finding.severity is not Severity.ERROR, family != "AD3", finding.span.start


def _in_terms_of(finding: Finding, first: Source, edits: tuple[Edit, ...], current: Source) -> Finding:
    """A finding of an edited source, with its places in the first one."""
    if not edits:
        return finding
    start, end = _back(first, edits, finding.span.start), _back(first, edits, finding.span.end)
    story = tuple(replace(step, line=_line_back(first, edits, current, step.line)) for step in finding.story)
    return replace(finding, span=Span(start, max(start, end)), story=story)


def _line_back(first: Source, edits: tuple[Edit, ...], current: Source, line: int) -> int:
    if not 1 <= line <= current.line_count:
        return line
    return first.position(_back(first, edits, current.line_span(line).start)).line


def _back(first: Source, edits: tuple[Edit, ...], offset: int) -> int:
    """The byte offset in `first` of an offset in the source that `edits` make of it."""
    shift = 0
    for start, end, new in first.splices(edits):
        at = start + shift
        if offset < at:
            break
        if offset < at + len(new):
            return start
        shift += len(new) - (end - start)
    return min(max(offset - shift, 0), len(first.raw))


class _Session:
    """The analysis of one source and the search for fixes."""

    def __init__(self, source: Source, tree: ast.Module, options: CheckOptions) -> None:
        from autodetach.machine.run import analyse

        self.source = source
        self.options = options
        sys.setrecursionlimit(max(sys.getrecursionlimit(), MAX_NESTING))
        self.analysis = analyse(tree)
        self._concrete: Tree | None = None
        self._homes: dict[tuple[object, ...], int] = {}

    def result(self) -> CheckResult:
        problems: tuple[Problem, ...] = ()
        if not self.analysis.complete:
            text = "only partly analysed: its paths and calls are more than the budget allows"
            problems = (Problem(self.source.path, text, partial=True),)
        suspects = self._suspects(self.analysis)
        known = {s.identity for s in suspects}
        groups: dict[tuple[object, ...], list[Suspect]] = {}
        for suspect in suspects:
            if self.options.codes is None or suspect.code in self.options.codes:
                groups.setdefault(suspect.identity, []).append(suspect)
        findings = [self._finding(group, known) for group in groups.values()]
        findings.sort(key=lambda f: (f.span.start, f.code))
        return CheckResult(tuple(findings), problems)

    def _suspects(self, analysis: Analysis) -> list[Suspect]:
        from autodetach.rules import RULES
        from autodetach.rules.program import Program

        program: Program = Program(analysis, frozenset({self.options.prefer_accumulate, self.options.prefer_shared}))
        found: dict[tuple[object, ...], Suspect] = {}
        for rule in RULES:
            for suspect in rule.find(program):
                found.setdefault(suspect.key, suspect)
        return list(found.values())

    def _finding(self, views: list[Suspect], known: set[tuple[object, ...]]) -> Finding:
        """One finding for a fault: the first view with a safe fix, else with an unsafe one, else the first."""
        from autodetach.rules import RULES

        best: tuple[Suspect, Fix] | None = None
        for suspect, fix in self._fixes(views, known):
            if fix.applicability is Applicability.SAFE:
                best = suspect, fix
                break
            best = best or (suspect, fix)
        shown, chosen = best if best is not None else (views[0], None)
        start, end = self._span(shown.node)
        rule = next(r for r in RULES if r.code == shown.code)
        return Finding(
            rule.code,
            rule.name,
            shown.message,
            shown.severity,
            Span(start, end),
            shown.story,
            shown.assumptions,
            chosen,
        )

    def _fixes(self, views: list[Suspect], known: set[tuple[object, ...]]) -> Iterator[tuple[Suspect, Fix]]:
        for suspect in views:
            for count, candidate in enumerate(suspect.candidates()):
                if count >= MAX_CANDIDATES:
                    break
                fix = self._proven(suspect, candidate, known)
                if isinstance(fix, Fix):
                    yield suspect, fix

    def _proven(self, suspect: Suspect, candidate: Candidate, known: set[tuple[object, ...]]) -> Fix | str:
        """The candidate as a fix, or why it is none: the edited program is run and compared."""
        from autodetach.codemods.tree import Refused
        from autodetach.trial import Trial

        try:
            concrete = self._tree()
            edits = in_order(e for codemod in candidate.codemods for e in codemod.edits(concrete))
            tree = ast.parse(self.source.with_edits(edits).text)
        except (Refused, ValueError, SyntaxError) as error:
            return str(error)
        if not edits:
            return "nothing to edit"
        trial = Trial(self.analysis, tree)
        home = self._home(suspect)
        if suspect.identity in self._identities(trial.one(home)):
            return "the fault is still there"
        verdict = trial.verdict(home, cuts=candidate.cuts, numbers=candidate.prefers == "item")
        if not verdict.kept:
            return verdict.reason
        faults = self._identities(trial.whole())
        if suspect.identity in faults:
            return "the fault is still there"
        if faults - known:
            return f"another fault comes: {faults - known}"
        why = candidate.doubt
        if why is None and not suspect.certain:
            why = "it rests on an assumption"
        if why is None and not verdict.equal:
            why = "gradient of earlier passes is cut off"
        return Fix(candidate.message, Applicability.SAFE if why is None else Applicability.UNSAFE, edits, why)

    def _home(self, suspect: Suspect) -> int:
        """The first path that shows the fault by itself: a repair that fails does so there."""
        from autodetach.machine.run import Analysis

        if suspect.identity not in self._homes:
            alone = (Analysis(self.analysis.tree, [run]) for run in self.analysis.runs)
            showing = (n for n, one in enumerate(alone) if suspect.identity in self._identities(one))
            self._homes[suspect.identity] = next(showing, 0)
        return self._homes[suspect.identity]

    def _identities(self, analysis: Analysis) -> set[tuple[object, ...]]:
        return {s.identity for s in self._suspects(analysis)}

    def _tree(self) -> Tree:
        from autodetach.codemods.tree import Tree

        if self._concrete is None:
            self._concrete = Tree(self.source)
        return self._concrete

    def _span(self, node: ast.AST) -> tuple[int, int]:
        line, col = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        end_line, end_col = getattr(node, "end_lineno", line), getattr(node, "end_col_offset", col)
        return self.source.offset_from_ast(line, col), self.source.offset_from_ast(end_line, end_col)


def in_order(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Edits in the order of their places; of equal ones, one."""
    return tuple(sorted(dict.fromkeys(edits), key=lambda e: (e.start, e.end)))
