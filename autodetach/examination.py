"""The analysis of one program and the search for fixes: the only place where machine, rules and codemods meet."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from autodetach.checks import CheckOptions, CheckResult
from autodetach.finding import Finding, Problem, StoryStep
from autodetach.kept import forget
from autodetach.projects.project import Files
from autodetach.remembered import kept_analysis, pause
from autodetach.source import Span
from autodetach.uses import uses

if TYPE_CHECKING:
    from autodetach.incremental.again import Again
    from autodetach.machine.evidence import Evidence
    from autodetach.machine.project import Module
    from autodetach.machine.run import Analysis
    from autodetach.proving.proven import Proven
    from autodetach.proving.repairs import Repairs
    from autodetach.suspect import Suspect
    from autodetach.view.program import Program

MAX_NESTING = 6000
"""Python frames that the machine may need for deeply nested programs; others run out of budget long before."""


class Examination:
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
        kept = kept_analysis() if evidence is None else None
        known = kept.analysis(files) if kept is not None else None
        if kept is not None and known is None and told is not None:
            self._tell_of_parts(kept, told)
        # Of what is too much with all its imports, the checker goes on with the file alone.
        self.analysis = known or analyse(
            files.root.tree,
            project=files,
            evidence=evidence,
            whole=True,
            between=self._between,
            suspected=lambda analysis: bool(self._suspects(analysis)),
        )
        if kept is not None:
            kept.keep(files, self.analysis)

    def _tell_of_parts(self, kept: Again, told: Callable[[CheckResult], None]) -> None:
        """Have others know of the parts of the program that edits have touched."""
        found = kept.parts_of(self.files)
        if found is None:
            return
        analysis, lines = found
        if analysis is None:
            told(CheckResult((), about=lines))
        else:
            self.analysis = analysis
            told(self.result(repairs=False)._replace(about=lines))
        pause()

    def _between(self, analysis: Analysis) -> None:
        """Have others know of the first path, and go on only if the result is still wanted."""
        try:
            pause()
            if self._told is not None and len(analysis.runs) == 1 and analysis.complete:
                self.analysis = analysis
                self._told(self.result(repairs=False))
                pause()
        except BaseException:
            if (kept := kept_analysis()) is not None:
                kept.drop(analysis)
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
            search = Repairs(self.files, self.analysis, self._suspects, known, pause, alternatives=alternatives)
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
        used = uses(self.analysis, self.files, findings) if kept_analysis() is None and is_asked else {}
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
        """One finding for a fault: the first view with a safe fix, else with an unsafe one, else the first sure one.

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
        shown, chosen = proven[0] if proven else (next((view for view in views if not view.is_guess), views[0]), None)
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


def _without_repetition(findings: list[Finding]) -> tuple[Finding, ...]:
    """In the order of their places; of two faults that read the same to a person, the one with a fix."""
    told: dict[tuple[object, ...], Finding] = {}
    for finding in sorted(findings, key=lambda f: f.fix is None):
        told.setdefault((finding.path, finding.span, finding.code, finding.message), finding)
    return tuple(sorted(told.values(), key=lambda f: (f.path, f.span.start, f.code)))
