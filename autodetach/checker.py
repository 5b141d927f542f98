"""One source in, findings with proven fixes out: here machine and rules meet, and in `repairs` the codemods too."""

from __future__ import annotations

import ast
import contextlib
import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from autodetach import old_names
from autodetach.finding import Finding, Problem, StoryStep
from autodetach.kept import forget
from autodetach.projects.project import Files, Finder, parse
from autodetach.relevance import is_idle, may_matter
from autodetach.room import with_room
from autodetach.source import Edit, Source, Span
from autodetach.uses import Uses, uses

if TYPE_CHECKING:
    from autodetach.incremental.again import Again
    from autodetach.machine.evidence import Evidence
    from autodetach.machine.project import Module
    from autodetach.machine.run import Analysis
    from autodetach.proving.proven import Proven
    from autodetach.proving.repairs import Repairs
    from autodetach.suspect import Suspect
    from autodetach.view.program import Program

CUT_IMPORTS = "only partly analysed: with all that it imports, its paths and calls are more than the budget allows"
MAX_LEFT = 400_000
"""Objects that checks may leave behind before those that died are looked for."""
MAX_NESTING = 6000
"""Python frames that the machine may need for deeply nested programs; others run out of budget long before."""


class CheckOptions(NamedTuple):
    """What to look for. `codes` are the enabled rule codes, None for all of them.

    `alternatives`: also prove other repairs than the first, which takes longer. Without `fixes`, repairs are looked for
    only where the finding depends on them: the findings are the same, and few of them have a fix. `whole`: run also
    what cannot have a finding, to learn what it does with the files of others.
    """

    codes: frozenset[str] | None = None
    prefer_accumulate: Literal["item", "detach"] = "item"
    prefer_shared: Literal["retain", "sum"] = "retain"
    alternatives: bool = False
    fixes: bool = True
    whole: bool = False


class CheckResult(NamedTuple):
    """Findings in the order of their places. With problems, the file was not analysed, or not whole.

    `sources` are all files that were taken into account, by absolute path, the analysed one first. `used` says where
    the comments stand that silence something, see `suppress.sift`, and `known` what a record knows, see `Wanted`: each
    by file, the analysed one being the empty path. `evidence` is what was given, as it is to be asked about
    programs that repairs make of this one. `cost` is what it took, in the units of `machine.running`. `uses` tells what
    this program does with what all files make, by absolute path, the analysed one being the empty path.
    """

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...] = ()
    sources: Mapping[str, Source] = {}
    used: frozenset[tuple[str, int]] = frozenset()
    known: frozenset[tuple[str, int, str]] = frozenset()
    evidence: Evidence | None = None
    cost: int = 0
    uses: Mapping[str, Uses] = {}


Choice = tuple[tuple[int, ...], frozenset[tuple[str, int, str]]]
"""The places of what is wanted, and what a record knows of the others: see `Wanted.sift`."""


class Wanted(Protocol):
    """Which findings to tell, and to repair, of those that no comment silences; without one, all."""

    def sift(self, findings: Sequence[Finding], sources: Mapping[str, Source], root: str) -> Choice:
        """The places in `findings` of those that are wanted; of the others, those that a record knows.

        `root` is the path of the analysed file among `sources`, which the findings call by the empty path. A known one
        is a path as in the findings, the offset, and what the record calls it.
        """

    def after(self, changes: Iterable[Change]) -> Wanted:
        """The same where files have been changed meanwhile."""


class Change(NamedTuple):
    """What became of one file: `edits` count in `original`, and make `source` of it. `path` is absolute."""

    path: str
    original: Source
    edits: tuple[Edit, ...]
    source: Source

    @property
    def stored(self) -> bytes:
        """The bytes that the file is to have."""
        return self.original.stored_with(self.edits)


_again: Again | None = None
_pausing: Callable[[], None] | None = None


def remember(pause: Callable[[], None] | None, told: Callable[[CheckResult], None] | None) -> None:
    """From now on, keep the last analysis of this process, which takes memory: the same program may come again.

    `pause` is called now and then, and may raise what ends the check. `told` hears what the default path of a program
    shows by itself, without repairs, if there are others to be run.
    """
    from autodetach.incremental.again import Again

    global _again, _pausing
    _again, _pausing = _again or Again(), pause
    _again.told = told


@contextlib.contextmanager
def unremembered() -> Iterator[None]:
    """Meanwhile, nothing is taken from what is remembered, nor kept: other programs are checked, too."""
    global _again
    kept, _again = _again, None
    try:
        yield
    finally:
        _again = kept


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
        return result._replace(findings=tuple(result.findings[n] for n in places), known=known)

    told = None if _again is None else _again.told
    early = told and (lambda result: told(chosen(result)))
    return chosen(with_room(_checked, source, options, path, finder, changed, evidence, early))


def _checked(
    source: Source,
    options: CheckOptions,
    path: str,
    finder: Finder | None,
    changed: Mapping[str, Source] | None,
    evidence: Evidence | None,
    told: Callable[[CheckResult], None] | None,
) -> CheckResult:
    try:
        tree = parse(source) if _again is None else _again.tree(source, path or source.path)
    except SyntaxError as error:
        from autodetach.syntax import described

        number = error.lineno or 0
        line = source.line_text(number) if 1 <= number <= source.line_count else ""
        return CheckResult((), (Problem(source.path, described(error, line), error.lineno),))
    except (ValueError, RecursionError, MemoryError) as error:
        return CheckResult((), (Problem(source.path, f"cannot be parsed: {error}", None),))
    result = _of_tree(tree, source, options, path or source.path, finder, changed, evidence, told)
    old = old_names.first_line(source.text, tree)
    if old is None:
        return result
    place = source.place_of_line(old)
    problem = Problem(source.path, old_names.MESSAGE, place.line, partial=True, cell=place.cell)
    return result._replace(problems=(*result.problems, problem))


def _of_tree(
    tree: ast.Module,
    source: Source,
    options: CheckOptions,
    at: str,
    finder: Finder | None,
    changed: Mapping[str, Source] | None,
    evidence: Evidence | None,
    told: Callable[[CheckResult], None] | None,
) -> CheckResult:
    texts = {name: other.raw for name, other in (changed or {}).items()}
    is_told = _again is not None and may_matter(source.raw) and _again.is_told()
    is_asked = evidence is not None or is_told or options.whole
    if not is_asked and is_idle(source.raw, at, finder, texts, tree):
        return CheckResult(())
    with _undisturbed():
        files = Files(at, source, tree, finder, changed)
        session = _Session(files, options, evidence, told and (lambda early: told(_sifted(early, source, files))))
        trained: frozenset[str] = frozenset()
        if len(files.modules) > 1 and not session.analysis.complete:
            # With all that it imports it is too much; without what takes the most of it, it may not be.
            from autodetach.projects.costly import costly, trained_in

            trained = trained_in(session.analysis, files)
            without = costly(session.analysis, files)
            if without:
                files = Files(at, source, tree, finder, changed, without)
                session = _Session(files, options, evidence)
        if len(files.modules) > 1 and not session.analysis.complete:
            # On its own it may not be too much. What it calls there is at hand, so nothing is to be assumed of it.
            files = Files(at, source, tree)
            session = _Session(files, options, evidence, only_certain=True)
        result = session.result()
        if session.analysis.complete and not trained <= {module.path for module in files.modules}:
            result = result._replace(problems=(Problem(source.path, CUT_IMPORTS, partial=True), *result.problems))
        if _again is None:
            session.dissolve()
    return _sifted(result, source, files)


def _sifted(result: CheckResult, source: Source, files: Files) -> CheckResult:
    """The result without what comments silence."""
    findings: list[Finding] = []
    used: set[tuple[str, int]] = set()
    if not result.findings:
        return result._replace(sources=files.sources)
    from autodetach.comments.suppress import sift

    for at in dict.fromkeys(finding.path for finding in result.findings):
        here = files.sources[at] if at else source
        sifted = sift(here, (f for f in result.findings if f.path == at))
        findings += sifted.visible
        used.update((at, mark) for mark in sifted.used)
    return result._replace(findings=tuple(findings), sources=files.sources, used=frozenset(used))


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


class _Session:
    """The analysis of one program and the search for fixes."""

    def __init__(
        self,
        files: Files,
        options: CheckOptions,
        evidence: Evidence | None = None,
        told: Callable[[CheckResult], None] | None = None,
        *,
        only_certain: bool = False,
    ) -> None:
        from autodetach.machine.exploring import analyse

        self.files = files
        self.root = files.root.path
        self.options = options
        self._only_certain = only_certain
        self._told = told
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
        groups: dict[tuple[object, ...], list[Suspect]] = {}
        for suspect in suspects:
            if self.options.codes is None or suspect.code in self.options.codes:
                groups.setdefault(suspect.identity, []).append(suspect)
        # Of several views, the one that can be repaired is shown; a single one is shown anyway.
        search = None
        if repairs and any(self.options.fixes or len(group) > 1 for group in groups.values()):
            from autodetach.proving.repairs import Repairs

            known = frozenset(s.identity for s in suspects)
            alternatives = self.options.alternatives
            search = Repairs(self.files, self.analysis, self._suspects, known, _pause, alternatives=alternatives)
            if self.options.fixes:
                search.prove_together(group[0] for group in groups.values())
        found = [self._finding(group if repairs else group[:1], search) for group in groups.values()]
        findings = _without_repetition(found)
        if search is not None:
            search.dissolve()
        if search is not None and search.given_up:
            text = "not all repairs were tried: that takes more than the budget allows; apply some, and look again"
            problems = (*problems, Problem(self.files.sources[self.root].path, text, partial=True))
        cost = sum(run.cost for run in self.analysis.runs) + (search.cost if search is not None else 0)
        is_asked = bool(findings) or len(self.files.modules) > 1
        used = uses(self.analysis, self.files, findings) if _again is None and is_asked else {}
        return CheckResult(findings, problems, evidence=self.analysis.evidence, cost=cost, uses=used)

    def dissolve(self) -> None:
        """Clear away the analysis: nothing may be asked any more."""
        from autodetach.machine.run import dissolve
        from autodetach.view.program import parents_in

        for statement in (statement for tree in self.analysis.trees for statement in tree.body):
            forget(statement, parents_in)
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
        from autodetach.view.program import Program

        program: Program = Program(analysis, frozenset({self.options.prefer_accumulate, self.options.prefer_shared}))
        found: dict[tuple[object, ...], Suspect] = {}
        for rule in RULES:
            for suspect in rule.find(program):
                if suspect.certain or not self._only_certain:
                    found.setdefault(suspect.key, suspect)
        return list(found.values())

    def _finding(self, views: list[Suspect], search: Repairs | None) -> Finding:
        """One finding for a fault: the first view with a safe fix, else with an unsafe one, else the first.

        Other repairs that pass, of any view, are its alternatives: safe ones first, else in the order of the rules.
        """
        from autodetach.rules import RULES

        proven: list[tuple[Suspect, Proven]] = []
        is_wanted = self.options.fixes or len(views) > 1
        for suspect, fix in search.of(views) if search is not None and is_wanted else ():
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
    if _pausing is not None:
        _pausing()


def _without_repetition(findings: list[Finding]) -> tuple[Finding, ...]:
    """In the order of their places; of two faults that read the same to a person, the one with a fix."""
    told: dict[tuple[object, ...], Finding] = {}
    for finding in sorted(findings, key=lambda f: f.fix is None):
        told.setdefault((finding.path, finding.span, finding.code, finding.message), finding)
    return tuple(sorted(told.values(), key=lambda f: (f.path, f.span.start, f.code)))
