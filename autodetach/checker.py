"""One source in, findings with proven fixes out: the only place where machine, rules and codemods meet."""

from __future__ import annotations

import ast
import contextlib
import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol

from autodetach.finding import Applicability, Finding, Fix, Problem, Severity, StoryStep
from autodetach.project import Files, Finder, parse
from autodetach.relevance import is_idle, may_matter
from autodetach.source import Edit, Source, SourceError, Span, compose

if TYPE_CHECKING:
    from autodetach.again import Again
    from autodetach.codemods.tree import Tree
    from autodetach.machine.evidence import Evidence
    from autodetach.machine.project import Module
    from autodetach.machine.run import Analysis
    from autodetach.rules.program import Program
    from autodetach.rules.suspect import Candidate, Suspect
    from autodetach.trial import Trial

MAX_ROUNDS = 24
MAX_CANDIDATES = 10
FUEL_FOR_REPAIRS = 120_000
"""What trying repairs of one file may cost, in the units of `machine.run`: as much as finding its faults, and a bit."""
FUEL_FOR_FIXING = 1_000_000
"""What `fix` may cost over all its rounds, in the same units: after a round that exceeds it, there is no other one."""
MAX_UNCOLLECTED = 1_000_000
"""Objects that may be made before those that died are looked for: some hundred megabytes."""
MAX_LEFT = 400_000
"""Objects that checks may leave behind before those that died are looked for."""
MAX_NESTING = 6000
"""Python frames that the machine may need for deeply nested programs; others run out of budget long before."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What to look for. `codes` are the enabled rule codes, None for all of them.

    `alternatives`: also prove other repairs than the first, which takes longer. Without `fixes`, repairs are looked for
    only where the finding depends on them: the findings are the same, and few of them have a fix.
    """

    codes: frozenset[str] | None = None
    prefer_accumulate: Literal["item", "detach"] = "item"
    prefer_shared: Literal["retain", "sum"] = "retain"
    alternatives: bool = False
    fixes: bool = True


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Findings in the order of their places. With problems, the file was not analysed, or not whole.

    `sources` are all files that were taken into account, by absolute path, the analysed one first. `used` says where
    the comments stand that silence something, see `suppress.sift`, and `known` what a record knows, see `Wanted`: each
    by file, the analysed one being the empty path. `evidence` is what was given, as it is to be asked about
    programs that repairs make of this one. `cost` is what it took, in the units of `machine.run`.
    """

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)
    used: frozenset[tuple[str, int]] = frozenset()
    known: frozenset[tuple[str, int, str]] = frozenset()
    evidence: Evidence | None = None
    cost: int = field(default=0, compare=False)


class Wanted(Protocol):
    """Which findings to tell, and to repair, of those that no comment silences; without one, all."""

    def sift(
        self, findings: Sequence[Finding], sources: Mapping[str, Source], root: str
    ) -> tuple[tuple[int, ...], frozenset[tuple[str, int, str]]]:
        """The places in `findings` of those that are wanted; of the others, those that a record knows.

        `root` is the path of the analysed file among `sources`, which the findings call by the empty path. A known one
        is a path as in the findings, the offset, and what the record calls it.
        """

    def after(self, changes: Iterable[Change]) -> Wanted:
        """The same where files have been changed meanwhile."""


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one file: `edits` count in `original`, and make `source` of it. `path` is absolute."""

    path: str
    original: Source
    edits: tuple[Edit, ...]
    source: Source

    @property
    def stored(self) -> bytes:
        """The bytes that the file is to have."""
        return self.original.stored_with(self.edits)


@dataclass(frozen=True, slots=True)
class FixResult:
    """`applied` refers to the first sources, `remaining` to the fixed ones.

    `changes` are the files that were edited; `source` and `edits` are those of the analysed one. `originals` and
    `sources` are all files that were taken into account, by absolute path.
    """

    source: Source
    edits: tuple[Edit, ...]
    applied: tuple[Finding, ...]
    remaining: tuple[Finding, ...]
    problems: tuple[Problem, ...] = ()
    changes: tuple[Change, ...] = ()
    originals: Mapping[str, Source] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(default_factory=dict)
    used: frozenset[tuple[str, int]] = frozenset()


_again: Again | None = None


def remember(pause: Callable[[], None] | None = None, told: Callable[[CheckResult], None] | None = None) -> None:
    """From now on, keep the last analysis of this process, which takes memory: the same program may come again.

    `pause` is called now and then, and may raise what ends the check. `told` hears what the default path of a program
    shows by itself, without repairs, if there are others to be run.
    """
    from autodetach.again import Again

    global _again
    _again = _again or Again()
    _again.pause, _again.told = pause, told


def tidy() -> None:
    """Clear away what is remembered, and not needed any more."""
    if _again is not None:
        _again.tidy()


def check(
    source: Source,
    options: CheckOptions,
    *,
    path: str = "",
    finder: Finder | None = None,
    changed: Mapping[str, Source] | None = None,
    wanted: Wanted | None = None,
    evidence: Evidence | None = None,
) -> CheckResult:
    """All findings of a source, each with a fix if one could be proven. Errors are data: see `CheckResult.problems`.

    `path` is the absolute path that the source has, or would have. Imports are followed as far as `finder` finds them;
    `changed` has sources, by path, to be taken instead of what the finder reads. `evidence` is what a run of it has
    shown.
    """

    def chosen(result: CheckResult) -> CheckResult:
        if wanted is None:
            return result
        places, known = wanted.sift(result.findings, result.sources, path or source.path)
        return replace(result, findings=tuple(result.findings[n] for n in places), known=known)

    told = None if _again is None else _again.told
    return chosen(
        _checked(source, options, path, finder, changed, evidence, told and (lambda early: told(chosen(early))))
    )


def _checked(
    source: Source,
    options: CheckOptions,
    path: str,
    finder: Finder | None,
    changed: Mapping[str, Source] | None,
    evidence: Evidence | None,
    told: Callable[[CheckResult], None] | None,
) -> CheckResult:
    at = path or source.path
    try:
        tree = parse(source) if _again is None else _again.tree(source, at)
    except SyntaxError as error:
        from autodetach.syntax import described

        number = error.lineno or 0
        line = source.line_text(number) if 1 <= number <= source.line_count else ""
        return CheckResult((), (Problem(source.path, described(error, line), error.lineno),))
    except (ValueError, RecursionError, MemoryError) as error:
        return CheckResult((), (Problem(source.path, f"cannot be parsed: {error}", None),))
    texts = {name: other.raw for name, other in (changed or {}).items()}
    is_told = _again is not None and may_matter(source.raw) and _again.is_told()
    if evidence is None and not is_told and is_idle(source.raw, at, finder, texts, tree):
        return CheckResult(())
    with _undisturbed():
        files = Files(at, source, tree, finder, changed)
        session = _Session(files, options, evidence, told and (lambda early: told(_sifted(early, source, files))))
        if len(files.modules) > 1 and not session.analysis.complete:
            # With all that it imports it is too much; on its own it may not be.
            files = Files(at, source, tree)
            session = _Session(files, options, evidence)
        result = session.result()
        if _again is None:
            session.dissolve()
    return _sifted(result, source, files)


def _sifted(result: CheckResult, source: Source, files: Files) -> CheckResult:
    """The result without what comments silence."""
    findings: list[Finding] = []
    used: set[tuple[str, int]] = set()
    if not result.findings:
        return replace(result, sources=files.sources)
    from autodetach.suppress import sift

    for at in dict.fromkeys(finding.path for finding in result.findings):
        here = files.sources[at] if at else source
        sifted = sift(here, (f for f in result.findings if f.path == at))
        findings += sifted.visible
        used.update((at, mark) for mark in sifted.used)
    return replace(result, findings=tuple(findings), sources=files.sources, used=frozenset(used))


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Without Python's collector of cycles: it would look through a heap that grows, again and again, for nothing.

    Nor does it look at once through what a check leaves behind, since the process may end here.
    """
    enabled = gc.isenabled()
    gc.disable()
    if gc.get_threshold()[0] < MAX_LEFT:
        gc.set_threshold(MAX_LEFT, *gc.get_threshold()[1:])
    try:
        yield
    finally:
        if enabled:
            gc.enable()


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
) -> FixResult:
    """Apply fixes until none is left: one at a time, since each is proven on the program as it is.

    `may_edit` says of other files, by absolute path, whether they may be edited too; without it, none may. `evidence`
    is what a run of the first program has shown: it speaks of no lines, and is asked about the edited ones too.
    """
    root = path or source.path
    originals: dict[str, Source] = {root: source}
    current: dict[str, Source] = {root: source}
    edits: dict[str, tuple[Edit, ...]] = {}
    applied: list[Finding] = []

    def look() -> CheckResult:
        nonlocal evidence
        known = {**(changed or {}), **current}
        result = check(current[root], options, path=path, finder=finder, changed=known, evidence=evidence)
        evidence = result.evidence or evidence
        for at, found in result.sources.items():
            originals.setdefault(at, found)
            current.setdefault(at, found)
        if wanted is None:
            return result
        # What is wanted is said of the files as they were.
        first = [_in_terms_of(finding, root, originals, edits, current) for finding in result.findings]
        places, _ = wanted.sift(first, originals, root)
        return replace(result, findings=tuple(result.findings[n] for n in places))

    result = look()
    cost = result.cost
    problems: tuple[Problem, ...] = ()
    for rounds in range(MAX_ROUNDS + 1):
        chosen = _next(result.findings, unsafe, may_edit)
        if chosen is None or chosen.fix is None:
            break
        if rounds == MAX_ROUNDS or cost > FUEL_FOR_FIXING:
            text = "not all fixes were applied: that takes more than the budget allows; fix again to go on"
            problems = (Problem(source.path, text, partial=True),)
            break
        applied.append(_in_terms_of(chosen, root, originals, edits, current))
        for at, new in edits_by_file(chosen):
            at = at or root
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
        originals,
        current,
        result.used,
    )


def edits_by_file(finding: Finding) -> tuple[tuple[str, tuple[Edit, ...]], ...]:
    """The edits of a finding's fix, by absolute path (empty: of the analysed file)."""
    if finding.fix is None:
        return ()
    own = ((finding.path, finding.fix.edits),) if finding.fix.edits else ()
    return (*own, *finding.fix.elsewhere)


def _next(findings: tuple[Finding, ...], unsafe: bool, may_edit: Callable[[str], bool] | None = None) -> Finding | None:
    """The fix to apply first: what its author tried to do (AD4xx), then what crosses a pass, other errors, the rest."""
    allowed = [
        f
        for f in findings
        if f.fix is not None
        and (unsafe or f.fix.applicability is Applicability.SAFE)
        and all(not at or (may_edit is not None and may_edit(at)) for at, _ in edits_by_file(f))
    ]
    return min(allowed, key=_urgency, default=None)


def _urgency(finding: Finding) -> tuple[bool, bool, bool, str, int]:
    family = finding.code[:3]
    return family != "AD4", finding.severity is not Severity.ERROR, family != "AD3", finding.path, finding.span.start


def _in_terms_of(
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
        now, first = current[path or root], originals[path or root]
        if not edits.get(path or root) or not 1 <= line <= now.line_count:
            return line
        return first.position(back(path, now.line_span(line).start)).line

    start, end = back(finding.path, finding.span.start), back(finding.path, finding.span.end)

    def fix_back(path: str, made: tuple[Edit, ...]) -> tuple[Edit, ...]:
        places = ((back(path, edit.start), back(path, edit.end), edit.replacement) for edit in made)
        return tuple(Edit(first, max(first, last), text) for first, last, text in places)

    story = tuple(replace(step, line=line_back(step.path, step.line)) for step in finding.story)
    fix = finding.fix
    if fix is not None:
        elsewhere = tuple((at, fix_back(at, made)) for at, made in fix.elsewhere)
        fix = replace(fix, edits=fix_back(finding.path, fix.edits), elsewhere=elsewhere)
    return replace(finding, span=Span(start, max(start, end)), story=story, fix=fix)


def offset_before(first: Source, edits: tuple[Edit, ...], offset: int) -> int:
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
    """The analysis of one program and the search for fixes."""

    def __init__(
        self,
        files: Files,
        options: CheckOptions,
        evidence: Evidence | None = None,
        told: Callable[[CheckResult], None] | None = None,
    ) -> None:
        from autodetach.machine.run import analyse

        self.files = files
        self.root = files.root.path
        self.options = options
        self._told = told
        self._trees: dict[str, Tree] = {}
        self._fuel = self._spent = 0
        self._given_up = False
        self._shown_by: list[set[tuple[object, ...]]] = []
        sys.setrecursionlimit(max(sys.getrecursionlimit(), MAX_NESTING))
        known = None if _again is None or evidence is not None else _again.analysis(files)
        # Of what is too much with all its imports, the checker goes on with the file alone.
        self.analysis = known or analyse(
            files.root.tree,
            project=files,
            evidence=evidence,
            whole=True,
            between=self._between,
            suspected=lambda analysis: bool(self._suspects(analysis)),
        )
        if _again is not None and evidence is None:
            _again.keep(files, self.analysis)
        # Where the program itself is cut short, no edited one can be shown to be as good.
        self._fuel = FUEL_FOR_REPAIRS if self.analysis.complete else 0

    def _between(self, analysis: Analysis) -> None:
        """Have others know of the first path, and go on only if the result is still wanted."""
        try:
            _pause()
            if self._told is not None and len(analysis.runs) == 1 and analysis.complete:
                self.analysis = analysis
                self._told(self.result(repairs=False))
                _pause()
        except BaseException:
            if _again is not None:
                _again.drop(analysis)
            raise

    def result(self, *, repairs: bool = True) -> CheckResult:
        """What is found. Without `repairs`, a fault is shown as it is seen first, and may not be repaired so."""
        problems: tuple[Problem, ...] = ()
        if not self.analysis.complete:
            text = "only partly analysed: its paths and calls are more than the budget allows"
            problems = (Problem(self.files.sources[self.root].path, text, partial=True),)
        problems += self._contradictions()
        suspects = self._suspects(self.analysis)
        known = {s.identity for s in suspects}
        groups: dict[tuple[object, ...], list[Suspect]] = {}
        for suspect in suspects:
            if self.options.codes is None or suspect.code in self.options.codes:
                groups.setdefault(suspect.identity, []).append(suspect)
        findings = [self._finding(group if repairs else group[:1], known, repairs) for group in groups.values()]
        findings.sort(key=lambda f: (f.path, f.span.start, f.code))
        if self._given_up:
            text = "not all repairs were tried: that takes more than the budget allows; apply some, and look again"
            problems = (*problems, Problem(self.files.sources[self.root].path, text, partial=True))
        cost = sum(run.cost for run in self.analysis.runs) + self._spent
        return CheckResult(tuple(findings), problems, evidence=self.analysis.evidence, cost=cost)

    def dissolve(self) -> None:
        """Clear away the analysis: nothing may be asked any more."""
        from autodetach.machine.run import dissolve

        for statement in (statement for tree in self.analysis.trees for statement in tree.body):
            vars(statement).pop("_parents", None)
        dissolve(self.analysis)

    def _contradictions(self) -> tuple[Problem, ...]:
        """Where a run of the program has shown another thing than its text says: the text is believed."""
        found: dict[tuple[str, int, str], None] = {}
        for site, text in self.analysis.runs[0].machine.contradictions:
            module = self.files.module_at(site.line)
            found[self.files.sources[module.path].path, site.line - module.first, text] = None
        return tuple(Problem(path, text, line, partial=True) for path, line, text in found)

    def _suspects(self, analysis: Analysis) -> list[Suspect]:
        if not any(run.shows_faults for run in analysis.runs):
            return []
        from autodetach.rules import RULES
        from autodetach.rules.program import Program

        program: Program = Program(analysis, frozenset({self.options.prefer_accumulate, self.options.prefer_shared}))
        found: dict[tuple[object, ...], Suspect] = {}
        for rule in RULES:
            for suspect in rule.find(program):
                found.setdefault(suspect.key, suspect)
        return list(found.values())

    def _finding(self, views: list[Suspect], known: set[tuple[object, ...]], repairs: bool) -> Finding:
        """One finding for a fault: the first view with a safe fix, else with an unsafe one, else the first.

        Other repairs that pass, of any view, are its alternatives: safe ones first, else in the order of the rules.
        """
        from autodetach.rules import RULES

        proven: list[tuple[Suspect, _Proven]] = []
        # Of several views, the one that can be repaired is shown; a single one is shown anyway.
        wanted = repairs and (self.options.fixes or len(views) > 1)
        for suspect, fix in self._fixes(views, known) if wanted else ():
            if all(fix.edits != other.edits for _, other in proven):
                proven.append((suspect, fix))
            if fix.why_unsafe is None and not self.options.alternatives:
                break
        proven.sort(key=lambda one: one[1].why_unsafe is not None)
        shown, chosen = proven[0] if proven else (views[0], None)
        path, start, end = self._span(shown.node)
        rule = next(r for r in RULES if r.code == shown.code)
        return Finding(
            rule.code,
            rule.name,
            shown.message,
            shown.severity,
            Span(start, end),
            tuple(self._step(step) for step in shown.story),
            shown.assumptions,
            None if chosen is None else chosen.fix_at(path),
            tuple(other.fix_at(path) for _, other in proven[1:]) if self.options.alternatives else (),
            path,
            shown.observed,
        )

    def _fixes(self, views: list[Suspect], known: set[tuple[object, ...]]) -> Iterator[tuple[Suspect, _Proven]]:
        found = False
        for suspect in views:
            for count, candidate in enumerate(suspect.candidates()):
                if count >= MAX_CANDIDATES:
                    break
                if self._fuel <= 0:
                    self._given_up = self.analysis.complete
                    break
                if candidate.last_resort and found:
                    continue
                _pause()
                fix = self._proven(suspect, candidate, known)
                if gc.get_count()[0] > MAX_UNCOLLECTED:
                    gc.collect(1)
                if isinstance(fix, _Proven):
                    found = True
                    fix = replace(fix, observed=suspect.observed)
                    yield suspect, fix

    def _proven(self, suspect: Suspect, candidate: Candidate, known: set[tuple[object, ...]]) -> _Proven | str:
        """The candidate as a fix, or why it is none: the edited program is run and compared."""
        from autodetach.codemods.tree import Refused
        from autodetach.trial import Trial

        try:
            edits = self._edits(candidate)
            sources = {at: self.files.sources[at].with_edits(new) for at, new in edits.items()}
            edited = self.files.edited(sources)
        except (Refused, SourceError, ValueError, SyntaxError, RecursionError, MemoryError) as error:
            return str(error)
        if not edits:
            return "nothing to edit"
        trial = Trial(self.analysis, edited)
        try:
            return self._tried(suspect, candidate, known, edits, trial)
        finally:
            self._fuel -= trial.cost
            self._spent += trial.cost
            trial.dissolve()

    def _tried(
        self,
        suspect: Suspect,
        candidate: Candidate,
        known: set[tuple[object, ...]],
        edits: dict[str, tuple[Edit, ...]],
        trial: Trial,
    ) -> _Proven | str:
        home = self._home(suspect)
        faults = self._identities(trial.one(home))
        if suspect.identity in faults:
            return "the fault is still there"
        verdict = trial.verdict(home, cuts=candidate.cuts, numbers=candidate.prefers == "item")
        if not verdict.kept:
            return verdict.reason
        if len(self.analysis.runs) > 1:
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
        by_file = tuple(("" if at == self.root else at, new) for at, new in edits.items())
        return _Proven(candidate.message, by_file, why)

    def _edits(self, candidate: Candidate) -> dict[str, tuple[Edit, ...]]:
        """The edits of a candidate by file. Raises Refused."""
        from autodetach.codemods import target_of

        found: dict[str, list[Edit]] = {}
        for codemod in candidate.codemods:
            module = self.files.module_at(getattr(target_of(codemod), "lineno", 0))
            found.setdefault(module.path, []).extend(codemod.edits(self._tree(module)))
        return {at: in_order(edits) for at, edits in found.items() if edits}

    def _home(self, suspect: Suspect) -> int:
        """The first path that shows the fault by itself: a repair that fails does so there."""
        for number, run in enumerate(self.analysis.runs):
            if number == len(self._shown_by):
                is_new = run in self.analysis.distinct
                self._shown_by.append(self._identities(replace(self.analysis, runs=[run])) if is_new else set())
            if suspect.identity in self._shown_by[number]:
                return number
        return 0

    def _identities(self, analysis: Analysis) -> set[tuple[object, ...]]:
        return {s.identity for s in self._suspects(analysis)}

    def _tree(self, module: Module) -> Tree:
        from autodetach.codemods.tree import Tree

        if module.path not in self._trees:
            self._trees[module.path] = Tree(self.files.sources[module.path], module.tree, module.first)
        return self._trees[module.path]

    def _span(self, node: ast.AST) -> tuple[str, int, int]:
        """The file of a node (empty for the analysed one) and its byte offsets there."""
        module = self.files.module_at(getattr(node, "lineno", 0))
        source = self.files.sources[module.path]
        line, col = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        end_line, end_col = getattr(node, "end_lineno", line), getattr(node, "end_col_offset", col)
        start = source.offset_from_ast(line - module.first, col)
        return self._shown(module), start, source.offset_from_ast(end_line - module.first, end_col)

    def _step(self, step: StoryStep) -> StoryStep:
        module = self.files.module_at(step.line)
        return StoryStep(step.line - module.first, step.text, self._shown(module))

    def _shown(self, module: Module) -> str:
        return "" if module.path == self.root else module.path


def _pause() -> None:
    if _again is not None and _again.pause is not None:
        _again.pause()


@dataclass(frozen=True, slots=True)
class _Proven:
    """A repair that has passed; `why_unsafe` is None where it is safe."""

    message: str
    edits: tuple[tuple[str, tuple[Edit, ...]], ...]
    why_unsafe: str | None
    observed: tuple[str, ...] = ()

    def fix_at(self, path: str) -> Fix:
        """As the fix of a finding in the file `path`."""
        own = next((new for at, new in self.edits if at == path), ())
        rest = tuple((at, new) for at, new in self.edits if at != path)
        kind = Applicability.SAFE if self.why_unsafe is None else Applicability.UNSAFE
        return Fix(self.message, kind, own, self.why_unsafe, rest, self.observed)


def in_order(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Edits in the order of their places; of equal ones, one."""
    return tuple(sorted(dict.fromkeys(edits), key=lambda e: (e.start, e.end)))
