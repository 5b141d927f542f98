"""The text format."""

from __future__ import annotations

import re

from autodetach.finding import Applicability, Finding, Fix, Severity, StoryStep
from autodetach.report import Located, OutputFormat, render
from autodetach.report.paragraph import MAX_CHANGED_LINES
from autodetach.source import Edit, Source, Span

SOURCE = Source.from_bytes(b"total = 0\nfor x in y:\n\tloss = f(x)\n\ttotal += loss\n", "a.py")
START = SOURCE.raw.index(b"total +=")
END = len(SOURCE.raw) - 1

PLAIN = Finding("AD101", "accumulated-loss", "`total` keeps every graph", Severity.ERROR, Span(START, END))
FULL = PLAIN._replace(
    story=tuple(StoryStep(line, f"step {line}") for line in (3, 4)),
    assumptions=("`f` returns a tensor with history",),
    fix=Fix("add the number", Applicability.SAFE, (Edit(END, END, ".item()"),)),
    alternatives=(Fix("cut the graph", Applicability.UNSAFE, (), "a later pass would get no gradient"),),
)


def rendered(*findings: Finding, colour: bool = False, shown: str = "src/a.py") -> str:
    return render(OutputFormat.TEXT, [Located(finding, SOURCE, shown, "/x") for finding in findings], colour=colour)


def test_a_finding_with_everything() -> None:
    assert rendered(FULL) == (
        "src/a.py:4:2: AD101 accumulated-loss: `total` keeps every graph\n"
        "  |\n"
        "4 |     total += loss\n"
        "  |     ^^^^^^^^^^^^^\n"
        "   1. line 3: step 3\n"
        "   2. line 4: step 4\n"
        "   assumed: `f` returns a tensor with history\n"
        "   safe fix: add the number\n"
        "     4 -     total += loss\n"
        "       +     total += loss.item()\n"
        "   or unsafe: cut the graph (why unsafe: a later pass would get no gradient)\n"
    )


def test_a_finding_with_the_least() -> None:
    assert rendered(PLAIN).splitlines()[4:] == []


def test_nothing_is_nothing() -> None:
    assert rendered() == ""


def test_findings_are_apart() -> None:
    assert rendered(PLAIN, PLAIN) == rendered(PLAIN) + "\n" + rendered(PLAIN)


def test_an_unsafe_fix_says_why() -> None:
    unsafe = Fix("cut it", Applicability.UNSAFE, (Edit(0, 0, "x\n"),), "numbers change")
    assert rendered(PLAIN._replace(fix=unsafe)).splitlines()[4:] == [
        "   unsafe fix: cut it (why unsafe: numbers change)",
        "     1 + x",
    ]


def test_a_long_change_is_cut_short() -> None:
    lines = 2 * MAX_CHANGED_LINES
    long = Fix("much", Applicability.SAFE, (Edit(0, 0, "x\n" * lines),))
    output = rendered(PLAIN._replace(fix=long)).splitlines()
    assert output[-1] == f"        ... and {lines - MAX_CHANGED_LINES} lines more"
    assert sum(line.endswith("+ x") for line in output) == MAX_CHANGED_LINES


def test_the_numbers_of_many_steps_stand_below_each_other() -> None:
    many = PLAIN._replace(story=tuple(StoryStep(1, "again") for _ in range(10)))
    assert rendered(many).splitlines()[4::9] == ["    1. line 1: again", "   10. line 1: again"]


def test_colours_add_nothing_but_colours() -> None:
    coloured = rendered(FULL, colour=True)
    assert coloured != rendered(FULL)
    assert re.sub(r"\x1b\[\d+m", "", coloured) == rendered(FULL)


def test_the_severity_has_a_colour() -> None:
    assert "\x1b[31mAD101" in rendered(PLAIN, colour=True)
    assert "\x1b[33mAD101" in rendered(PLAIN._replace(severity=Severity.WARNING), colour=True)


def test_what_a_terminal_would_obey_is_escaped() -> None:
    evil = "\x1b[2J\n\u202e"
    fix = Fix(evil, Applicability.UNSAFE, (Edit(0, 0, "'\x1b[2J'\n"),), evil)
    finding = PLAIN._replace(
        message=evil, story=(StoryStep(1, evil),), assumptions=(evil,), fix=fix, alternatives=(fix,)
    )
    output = rendered(finding, shown=f"{evil}.py")
    assert "\x1b" not in output
    assert "\u202e" not in output
    assert output.count(r"\x1b[2J\n\u202e") == 8
