"""Findings that bring every format into difficulties: odd names, odd characters, several files, several repairs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability, Finding, Fix, Problem, Severity, StoryStep
from autodetach.projects.imports import Imports
from autodetach.report import Located
from autodetach.report.paths import Paths
from autodetach.source import Edit, Source, Span

FOLDER = "/x"
PATHS = Paths(FOLDER, FOLDER)
FIXTURES = Path(__file__).parent.parent.parent / "fixtures"

ODD_NAME = "sub dir/a,b%é.py"
MAIN = Source.from_bytes("import helper\ns = '𝄞é'; total = total + loss; t = '𝄞'; u = 1\nx = 1\n".encode(), ODD_NAME)
HELPER = Source.from_bytes(b"def f(y):\r\n    return y\r\n", "lib/helper.py")
LATIN = Source.from_bytes("# coding: latin-1\ns = 'é'; total += (\n    loss)\n".encode("latin-1"), "latin.py")


def span(source: Source, text: str) -> Span:
    """The first place of a text in a source."""
    raw = text.encode(source.encoding)
    start = source.raw.index(raw)
    return Span(start, start + len(raw))


def edit(source: Source, text: str, new: str) -> Edit:
    """An edit of the first place of a text."""
    at = span(source, text)
    return Edit(at.start, at.end, new)


def two_files() -> Located:
    """A story and a fix that go through two files, and a repair of one file with two edits beside it."""
    helper_path = f"{FOLDER}/lib/helper.py"
    finding = Finding(
        code="AD101",
        name="accumulated-loss",
        message="`total` keeps 100% of <its> & graph",
        severity=Severity.ERROR,
        span=span(MAIN, "total = total + loss"),
        story=(StoryStep(2, "`loss` is made, in a loop"), StoryStep(2, "`y` is \x1bkept", helper_path)),
        assumptions=("`f` returns a tensor",),
        fix=Fix(
            "take the number",
            Applicability.SAFE,
            (edit(MAIN, "loss", "loss.item()"),),
            elsewhere=((helper_path, (edit(HELPER, "return y", "y = 1\nreturn y"),)),),
        ),
        alternatives=(
            Fix(
                "cut it",
                Applicability.UNSAFE,
                (edit(MAIN, "total + loss", "(total +\n  loss)"), edit(MAIN, "u = 1\n", "")),
                "gradients change",
            ),
        ),
    )
    path = f"{FOLDER}/{ODD_NAME}"
    return Located(finding, MAIN, ODD_NAME, path, path, {"": MAIN, helper_path: HELPER})


def several_lines() -> Located:
    """A finding over two lines of a file that is no UTF-8, without a fix."""
    where = span(LATIN, "total += (\n    loss)")
    finding = Finding("AD201", "shared-graph", "`loss` is walked twice", Severity.WARNING, where)
    return Located(finding, LATIN, "latin.py", f"{FOLDER}/latin.py")


def latin_fix() -> Located:
    """A fix behind a character that other encodings write otherwise."""
    fix = Fix("take it", Applicability.SAFE, (edit(LATIN, "total += (\n    loss)", "total += loss"),))
    finding = Finding("AD101", "accumulated-loss", "m", Severity.WARNING, span(LATIN, "total"), fix=fix)
    return Located(finding, LATIN, "latin.py", f"{FOLDER}/latin.py")


ALL = (two_files(), several_lines(), latin_fix())
PROBLEMS = (Problem("bad,1.py", "syntax error: <oops>", 3), Problem("slow.py", "not along all paths", partial=True))


def of_file(path: Path) -> list[Located]:
    """What the checker really finds in a file, with alternatives."""
    source = Source.from_bytes(path.read_bytes(), path.name)
    options = CheckOptions(alternatives=True)
    result = check(source, options, path=str(path), finder=Imports(str(path), str(path.parent)))
    sources: Mapping[str, Source] = {**result.sources, "": source}
    return [
        Located(f, sources[f.path], sources[f.path].path, f.path or str(path), str(path), sources)
        for f in result.findings
    ]


def fixed(located: Located, fix: Fix) -> dict[str, bytes]:
    """What the files are after a fix, by absolute path."""
    by_file = ((located.finding.path, fix.edits), *fix.elsewhere)
    return {located.path_of(path): located.source_of(path).apply(edits) for path, edits in by_file if edits}


def fixes_of(located: Located) -> list[Fix]:
    """All repairs, the first one first."""
    return [fix for fix in (located.finding.fix, *located.finding.alternatives) if fix is not None]
