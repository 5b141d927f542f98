"""A checker that finds words, so that the tests of everything around it do not depend on what the real one finds.

In a source, LEAK is AD101 with a safe fix (DONE), RISK is AD201 with an unsafe one (the same), STUCK is AD102 without
any, and CRASH makes the checker raise. Run as a program, it is the command line with this checker.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

from autodetach.checks import CheckOptions, CheckResult
from autodetach.finding import Applicability, Finding, Fix, Problem, Severity, StoryStep
from autodetach.fixing import FixResult
from autodetach.source import Edit, Source, Span

NAMES = {"AD101": "accumulated-loss", "AD102": "stored-graph", "AD201": "walked-twice"}
WORDS = {"LEAK": "AD101", "STUCK": "AD102", "RISK": "AD201"}


@dataclass(frozen=True, slots=True)
class FakeRule:
    code: str
    name: str
    summary: str
    fix_safety: str
    page: str


RULES = tuple(
    FakeRule(code, name, f"Finds a {name}.", "Always safe. Nearly.", f"# {code}: {name}\n\nText.\n")
    for code, name in NAMES.items()
)


def install(set_attribute: Callable[[str, object], None]) -> None:
    """Put the fakes where the real things are used; the callable takes a dotted name and a value."""
    set_attribute("autodetach.perform.check", check)
    set_attribute("autodetach.fixing.fix", fix)
    set_attribute("autodetach.perform.is_idle", lambda *_: False)
    set_attribute("autodetach.projects.twins._known", {})
    # First what is made of the other one when it is imported, which may be here.
    set_attribute("autodetach.settings.selection.RULES", RULES)
    set_attribute("autodetach.rules.RULES", RULES)


def check(source: Source, options: CheckOptions, **_: object) -> CheckResult:
    if "CRASH" in source.text:
        raise RuntimeError("boom\nand bang")
    try:
        ast.parse(source.raw)
    except SyntaxError as error:
        return CheckResult((), (Problem(source.path, f"syntax error: {error.msg}", error.lineno),))
    found = (_finding(source, match) for match in re.finditer("|".join(WORDS), source.text))
    return CheckResult(tuple(f for f in found if options.codes is None or f.code in options.codes), ())


def fix(source: Source, options: CheckOptions, *, unsafe: bool, **_: object) -> FixResult:
    result = check(source, options)
    applied = tuple(
        finding
        for finding in result.findings
        if finding.fix is not None and (unsafe or finding.fix.applicability is Applicability.SAFE)
    )
    edits = tuple(edit for finding in applied if finding.fix for edit in finding.fix.edits)
    fixed = source.with_edits(edits) if edits else source
    return FixResult(fixed, edits, applied, check(fixed, options).findings, result.problems)


def _finding(source: Source, match: re.Match[str]) -> Finding:
    code = WORDS[match[0]]
    span = Span(source.offset_from_character(match.start()), source.offset_from_character(match.end()))
    edit = Edit(span.start, span.end, "DONE")
    repair = {
        "AD101": Fix("take the number", Applicability.SAFE, (edit,)),
        "AD201": Fix("sum first", Applicability.UNSAFE, (edit,), "gradients change"),
    }
    return Finding(
        code=code,
        name=NAMES[code],
        message=f"`{match[0]}` keeps its graph",
        severity=Severity.WARNING,
        span=span,
        story=(StoryStep(source.position(span.start).line, "the graph is kept"),),
        fix=repair.get(code),
    )


def _set(name: str, value: object) -> None:
    module, _, attribute = name.rpartition(".")
    __import__(module)
    setattr(sys.modules[module], attribute, value)


if __name__ == "__main__":
    from autodetach.cli import main

    install(_set)
    main()
