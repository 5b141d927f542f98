"""One source in, findings with proven fixes out. Errors are data, and what cannot have a finding is not run."""

from __future__ import annotations

import ast
import contextlib
import gc
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from autodetach import old_names
from autodetach.checks import CheckOptions, CheckResult, Wanted
from autodetach.finding import Finding, Problem
from autodetach.named_tuples import NamedTuple
from autodetach.projects.project import Files, Finder, parse
from autodetach.relevance import is_idle, may_matter
from autodetach.remembered import kept_analysis
from autodetach.room import with_room
from autodetach.source import Source

if TYPE_CHECKING:
    from autodetach.machine.evidence import Evidence

CUT_IMPORTS = "only partly analysed: with all that it imports, its paths and calls are more than the budget allows"
MAX_LEFT = 400_000
"""Objects that checks may leave behind before those that died are looked for."""


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

    kept = kept_analysis()
    told = kept.told if kept is not None else None
    early = told and (lambda result: told(chosen(result)))
    program = _Program(source, path or source.path, finder, changed)
    return chosen(with_room(program.result, options, evidence, early))


class _Program(NamedTuple):
    """A source at an absolute path, and where what it imports is found."""

    source: Source
    at: str
    finder: Finder | None
    changed: Mapping[str, Source] | None

    def result(
        self, options: CheckOptions, evidence: Evidence | None, told: Callable[[CheckResult], None] | None
    ) -> CheckResult:
        source = self.source
        try:
            kept = kept_analysis()
            tree = parse(source) if kept is None else kept.tree(source, self.at)
        except SyntaxError as error:
            from autodetach.syntax import described

            number = error.lineno or 0
            line = source.line_text(number) if 1 <= number <= source.line_count else ""
            return CheckResult((), (Problem(source.path, described(error, line), error.lineno),))
        except (ValueError, RecursionError, MemoryError) as error:
            return CheckResult((), (Problem(source.path, f"cannot be parsed: {error}", None),))
        is_asked = evidence is not None or options.whole or self._is_told()
        result = CheckResult(()) if not is_asked and self._is_idle(tree) else self._run(tree, options, evidence, told)
        old = old_names.first_line(tree)
        if old is None:
            return result
        place = source.place_of_line(old)
        problem = Problem(source.path, old_names.MESSAGE, place.line, partial=True, cell=place.cell)
        return result._replace(problems=(*result.problems, problem))

    def _is_told(self) -> bool:
        kept = kept_analysis()
        return kept is not None and may_matter(self.source.raw) and kept.is_told()

    def _is_idle(self, tree: ast.Module) -> bool:
        texts = {name: other.raw for name, other in (self.changed or {}).items()}
        return is_idle(self.source.raw, self.at, self.finder, texts, tree)

    def _run(
        self,
        tree: ast.Module,
        options: CheckOptions,
        evidence: Evidence | None,
        told: Callable[[CheckResult], None] | None,
    ) -> CheckResult:
        from autodetach.examination import Examination

        source, at = self.source, self.at
        with _undisturbed():
            files = Files(at, source, tree, self.finder, self.changed)
            early = told and (lambda result: told(_sifted(result, source, files)))
            examination = Examination(files, options, evidence, early)
            trained: frozenset[str] = frozenset()
            if len(files.modules) > 1 and not examination.analysis.complete:
                # With all that it imports it is too much; without what takes the most of it, it may not be.
                from autodetach.projects.costly import costly, trained_in

                trained = trained_in(examination.analysis, files)
                without = costly(examination.analysis, files)
                if without:
                    files = Files(at, source, tree, self.finder, self.changed, without)
                    examination = Examination(files, options, evidence)
            if len(files.modules) > 1 and not examination.analysis.complete:
                # On its own it may not be too much. What it calls there is at hand, so nothing is to be assumed of it.
                files = Files(at, source, tree)
                examination = Examination(files, options, evidence, only_certain=True)
            result = examination.result()
            if examination.analysis.complete and not trained <= {module.path for module in files.modules}:
                result = result._replace(problems=(Problem(source.path, CUT_IMPORTS, partial=True), *result.problems))
            if kept_analysis() is None:
                examination.dissolve()
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
