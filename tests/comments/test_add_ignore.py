"""Comments that are written for findings."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autodetach.comments.add_ignore import NotSilenced, ignoring
from autodetach.comments.unused import unused
from autodetach.finding import Finding, Severity
from autodetach.source import Source, Span

CODES = {"LEAK": ("AD101", "accumulated-loss"), "RISK": ("AD201", "shared-graph")}


def with_comments(text: str, reason: str = "") -> tuple[str, int]:
    source = Source.from_bytes(text.encode("utf-8" if "latin" not in text else "latin-1"), "x.py")
    findings = []
    for match in re.finditer("LEAK|RISK", source.text):
        span = Span(source.offset_from_character(match.start()), source.offset_from_character(match.end()))
        findings.append(Finding(*CODES[match[0]], "kept", Severity.WARNING, span))
    edits = ignoring(source, findings, reason)
    return source.with_edits(edits).text, len(edits)


A = "# autodetach: ignore[AD101]"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("LEAK\n", f"LEAK  {A}\n"),
        ("LEAK", f"LEAK  {A}"),
        ("LEAK   \r\nx\r\n", f"LEAK  {A}   \r\nx\r\n"),
        ("LEAK + RISK\n", "LEAK + RISK  # autodetach: ignore[AD101, AD201]\n"),
        ("RISK; LEAK; LEAK\n", "RISK; LEAK; LEAK  # autodetach: ignore[AD101, AD201]\n"),
        ("f(\n    LEAK,\n    1,\n)\nx\n", f"f(\n    LEAK,\n    1,\n)  {A}\nx\n"),
        ("x = 1 + \\\n    LEAK + \\\n    2\n", f"x = 1 + \\\n    LEAK + \\\n    2  {A}\n"),
        ("s = LEAK + '''a\n  # b\n'''\n", f"s = LEAK + '''a\n  # b\n'''  {A}\n"),
        ("s = '# no'; LEAK\n", f"s = '# no'; LEAK  {A}\n"),
        ("LEAK  # why\n", f"LEAK  # why  {A}\n"),
        ("LEAK  # noqa: E501\n", f"LEAK  # noqa: E501  {A}\n"),
        ("LEAK  # type: ignore\n", f"LEAK  # type: ignore  {A}\n"),
        ("LEAK  # autodetach: ignore[AD201] old\n", "LEAK  # autodetach: ignore[AD201, AD101] old\n"),
        ("LEAK  # autodetach: ignore[]\n", f"LEAK  {A}\n"),
        ("f(\n    LEAK,  # autodetach: ignore[AD201]\n)\n", "f(\n    LEAK,  # autodetach: ignore[AD201, AD101]\n)\n"),
        ("f(\n    LEAK  # a\n    # b\n)  # c\n", f"f(\n    LEAK  # a\n    # b\n)  # c  {A}\n"),
        ("for x in LEAK:  # a\n    x\n", f"for x in LEAK:  # a  {A}\n    x\n"),
        ("for x in y: LEAK\n", f"for x in y: LEAK  {A}\n"),
        ("if x:\n\tLEAK\nelse:\n\tRISK\n", f"if x:\n\tLEAK  {A}\nelse:\n\tRISK  # autodetach: ignore[AD201]\n"),
        ("é = 'é'; LEAK  # é\nü\n", f"é = 'é'; LEAK  # é  {A}\nü\n"),
        ("# coding: latin-1\né = LEAK\n", f"# coding: latin-1\né = LEAK  {A}\n"),
        ("x\rLEAK\ry\r", f"x\rLEAK  {A}\ry\r"),
        ("\ufeffLEAK\n", f"LEAK  {A}\n"),
    ],
)
def test_where_the_comment_goes(before: str, after: str) -> None:
    text, edits = with_comments(before)
    assert text == after
    assert edits == before.count("else") + 1, "one edit for each statement"
    assert with_comments(before, "a\n reason")[0].count("a reason") == (0 if "ignore[" in before else edits)


def test_a_reason_that_the_file_cannot_hold() -> None:
    with pytest.raises(NotSilenced, match="iso8859-1"):
        with_comments("# coding: latin-1\nLEAK\n", "→")


def test_where_no_comment_can_stand() -> None:
    with pytest.raises(NotSilenced):
        with_comments("x = LEAK \\\n\n")


STATEMENTS = (
    "LEAK",
    "x = LEAK; RISK",
    "f(\n    LEAK,  # one\n    # two\n    RISK)",
    "x = 1 + \\\n    LEAK",
    "s = '''\n# autodetach: ignore[AD2]\n''' + LEAK",
    "if x: LEAK",
    "for é in RISK:\n    # a block\n    LEAK",
    "class A:\n\tdef f(self, x=LEAK):  # noqa: E501\n\t\treturn RISK  # type: ignore[misc]",
    "LEAK  # é #",
    "x = '#'",
    "",
    "# a comment",
)


@given(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=8), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_what_is_written_is_removed_again_when_it_is_not_needed(parts: list[str], newline: str, closed: bool) -> None:
    before = "\n".join(parts).replace("\n", newline) + (newline if closed else "")
    after, _ = with_comments(before, "because")
    source = Source.from_bytes(after.encode(), "x.py")
    for _ in range(4 * len(parts) + 1):
        found = unused(source, (), None)
        if not found:
            break
        assert found[0].fix is not None
        source = source.with_edits(found[0].fix.edits)
    assert source.text == before
