"""Comments that silence nothing, and their removal."""

from __future__ import annotations

import ast

import pytest

from autodetach.comments.suppress import sift
from autodetach.comments.unused import RULE, unused
from autodetach.finding import Applicability, Finding, Severity
from autodetach.rules import RULES
from autodetach.source import Source, Span

HEADINGS = [
    "What it does",
    "Why is this bad",
    "Example",
    "Use instead",
    "Fix safety",
    "When it stays silent",
    "References",
]


def test_the_page_has_the_form_of_the_others() -> None:
    assert [line[3:] for line in RULE.page.splitlines() if line.startswith("## ")] == HEADINGS
    assert RULE.code not in {rule.code for rule in RULES}
    assert RULE.summary == "A comment silences nothing"


def found_in(source: Source, codes: frozenset[str] | None = None) -> tuple[Finding, ...]:
    """Where `total` is, there is a finding."""
    at = source.raw.find(b"total")
    span = Span(at, at + 5)
    findings = [] if at < 0 else [Finding("AD101", "accumulated-loss", "kept", Severity.WARNING, span)]
    return unused(source, sift(source, findings).used, codes)


def cleaned(text: str) -> tuple[str, int]:
    """The text after all removals, one after the other, and how many there were."""
    source = Source.from_bytes(text.encode(), "x.py")
    for count in range(20):
        fixes = [finding.fix for finding in found_in(source) if finding.fix is not None]
        if not fixes:
            return source.raw.decode(), count
        assert fixes[0].applicability is Applicability.SAFE
        edited = source.with_edits(fixes[0].edits)
        assert ast.dump(ast.parse(edited.raw)) == ast.dump(ast.parse(source.raw))
        source = edited
    raise AssertionError("no end")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # autodetach: ignore\n", "x = 1\n"),
        ("x = 1  # autodetach: ignore[AD101] the run is short", "x = 1"),
        ("x = 1\t# autodetach:ignore[AD101]\r\ny\r\n", "x = 1\r\ny\r\n"),
        ("x = 1  # noqa: AD101\n", "x = 1\n"),
        ("x = 1  # noqa: AD101 since it is short\n", "x = 1  # since it is short\n"),
        ("x = 1  # noqa: E501, AD101\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # noqa: AD101,E501\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # noqa: E501 AD1 ,F401 why\n", "x = 1  # noqa: E501 F401 why\n"),
        ("x = 1  # noqa: carried-state, E1\n", "x = 1  # noqa: E1\n"),
        ("x = 1  # type: ignore[misc]  # autodetach: ignore\n", "x = 1  # type: ignore[misc]\n"),
        ("x = 1  # autodetach: ignore[AD101] why  # type: ignore\n", "x = 1  # type: ignore\n"),
        ("x = 1  # noqa: AD101 # autodetach: ignore[AD2] why # mine\n", "x = 1  # mine\n"),
        ("x = 1  # said before # autodetach: ignore\n", "x = 1  # said before\n"),
        ("total  # autodetach: ignore[AD2, AD101, AD3] why\n", "total  # autodetach: ignore[AD101] why\n"),
        ("total  # autodetach: ignore[AD101, AD101]\n", "total  # autodetach: ignore[AD101]\n"),
        ("total  # noqa: AD101  # autodetach: ignore\n", "total  # noqa: AD101\n"),
        ("x\n    \n# autodetach: ignore-file[AD101] why\ny\n", "x\n    \ny\n"),
        ("if x:\n    # autodetach: off[AD101]\n    y\n    # autodetach: on\n", "if x:\n    y\n"),
        ("if x:\n    # autodetach: off\n    y\n", "if x:\n    y\n"),
        ("x\n# autodetach: on\n", "x\n"),
        ("x  # autodetach: off\n", "x\n"),
        ("# autodetach: ignore[AD101]\nx\n", "x\n"),
        ("x  # autodetach: ignore[AD999]\n", "x\n"),
        ("x  # autodetach: ignore[]\n", "x\n"),
        ("f(\n    1,  # autodetach: ignore\n    # autodetach: ignore\n)\n", "f(\n    1,\n)\n"),
        ("é = 'é'  # é # autodetach: ignore[AD101] é # é\n", "é = 'é'  # é # é\n"),
    ],
)
def test_what_is_removed(before: str, after: str) -> None:
    assert cleaned(before)[0] == after


@pytest.mark.parametrize(
    "text",
    [
        "total  # autodetach: ignore[AD101] why\n",
        "total  # noqa: E501, AD101\n",
        "# autodetach: ignore-file\ntotal\n",
        "# autodetach: ignore-file\ntotal\nx  # autodetach: ignore[AD1]\n",
        "# autodetach: off\ntotal\n# autodetach: on\n",
        "x  # noqa\n",
        "x  # noqa: E501, F401\n",
        "x  # noqa: AD999\n",
        "x  # noqa: A1\n",
        "x  # noqa: some-other-linter\n",
        "s = '# autodetach: ignore'\n",
        "x  # autodetach: something else\n",
        "x  # autodetach: ignore[AD101, AD901]\n",
        "x  # noqa: unused-ignore, AD101\n",
    ],
)
def test_what_stays(text: str) -> None:
    assert cleaned(text) == (text, 0)


@pytest.mark.parametrize(
    "text", ["x  # autodetach: ignore\n", "x  # autodetach: ignore[ALL]\n", "x  # autodetach: ignore[AD]\n"]
)
def test_no_comment_keeps_itself_from_being_found(text: str) -> None:
    assert cleaned(text)[0] == "x\n"


def test_rules_that_are_off_are_not_judged() -> None:
    source = Source.from_bytes(
        b"x  # noqa: AD101, AD2\ny  # autodetach: ignore\nz  # autodetach: ignore[AD2]\n", "x.py"
    )
    assert len(found_in(source)) == 3
    [only] = found_in(source, frozenset({"AD101", "AD201"}))
    assert only.message == "`AD101` in `# noqa: AD101, AD2` silences nothing"
    assert found_in(source, frozenset()) == ()
    assert len(found_in(source, frozenset(rule.code for rule in RULES))) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x  # autodetach: off", "`# autodetach: off` silences nothing: it must have a line of its own"),
        (
            "# autodetach: ignore\nx",
            "`# autodetach: ignore` silences nothing: it must stand in the statement that it is for",
        ),
        ("# autodetach: on\nx", "`# autodetach: on` ends nothing: there is no `# autodetach: off` before it"),
        (
            "x  # autodetach: ignore[AD9999]",
            "`# autodetach: ignore[AD9999]` silences nothing: there is no rule `AD9999`",
        ),
        ("x  # autodetach: ignore[ ]", "`# autodetach: ignore[ ]` silences nothing: no rule stands in its brackets"),
    ],
)
def test_it_is_said_why(text: str, message: str) -> None:
    assert [finding.message for finding in found_in(Source.from_bytes(text.encode(), "x.py"))] == [message]


def test_a_line_stays_whose_removal_would_declare_an_encoding() -> None:
    source = Source.from_bytes(b"#!/bin/sh\n# autodetach: ignore-file\n# coding: latin-1\nx\n", "x.py")
    assert [finding.fix for finding in found_in(source)] == [None]
