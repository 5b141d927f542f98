"""Comments that silence findings."""

from __future__ import annotations

import pytest

from autodetach.comments.marks import may_name_rules
from autodetach.comments.suppress import sift
from autodetach.finding import Finding, Severity
from autodetach.source import Source, Span


def finding_at(source: Source, text: bytes) -> Finding:
    start = source.raw.index(text)
    return Finding("AD101", "accumulated-loss", "kept", Severity.WARNING, Span(start, start + len(text)))


def is_visible(code: str, at: str = "total += loss") -> bool:
    source = Source.from_bytes(code.encode(), "x.py")
    return bool(sift(source, [finding_at(source, at.encode())]).visible)


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "#noqa",
        "# NOQA",
        "# noqa # why not",
        "# type: ignore[misc]  # noqa",
        "# noqa: AD101",
        "# noqa:AD101",
        "# noqa: E501, AD101",
        "# noqa: E501 ad101 since it is short",
        "# noqa: AD1",
        "# noqa: accumulated-loss",
        "# autodetach: ignore",
        "# autodetach:ignore because the run is short",
        "# autodetach: ignore[AD101]",
        "# autodetach: ignore[AD101, AD201] a debugging script",
        "# autodetach: ignore[accumulated-loss]",
        "# noqa: E501  # autodetach: ignore[AD101]",
    ],
)
def test_silenced(comment: str) -> None:
    assert not is_visible(f"total += loss  {comment}\n")


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: E501",
        "# noqa: AD102",
        "# noqa: because I say so",
        "# noqa:",
        "# noqa-like",
        "# flake8: noqa",
        "# nono noqa",
        "# autodetach: ignore[AD2]",
        "# autodetach: ignore[]",
        "# autodetach: ignore[AD101",
        "# autodetach: ignored",
        "# autodetach: off",
        "# ignore[AD101]",
    ],
)
def test_not_silenced(comment: str) -> None:
    assert is_visible(f"total += loss  {comment}\n")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("total += loss; s = '# noqa'\n", True),
        ("s = '''\n# noqa\n'''; total += loss\n", True),
        ("# noqa\ntotal += loss\n# noqa\n", True),
        ("if x:  # noqa\n    total += loss\n", True),
        ("if x:\n    total += loss  # noqa\n", False),
        ("f(\n    1,\n    total += loss,\n)  # noqa\n".replace("total += loss", "total"), False),
        ("f(  # noqa\n    1,\n    total,\n)\n", False),
        ("f(\n    1,  # noqa: AD101\n    2,  # noqa: E501\n    total,\n)\ng()\n", False),
        ("a = 1 + \\\n    total  # noqa\n", False),
        ("g()  # noqa\na = total\n", True),
        ("for i in y: total += loss  # noqa", False),
        ("x = '''\n'''  # noqa\r\ntotal\r\n", True),
        ("\f\n\ta = 'é'; total  # noqa\r\n", False),
        ("total  # noqa\n)\n", False),
        ("total = (  # noqa\n", True),
    ],
)
def test_which_statement_a_comment_belongs_to(code: str, expected: bool) -> None:
    assert is_visible(code, "total") is expected


def test_lone_carriage_returns_end_lines() -> None:
    assert not is_visible("a = 1\rtotal += loss  # noqa\rb = 2\r")
    assert is_visible("a = 1  # noqa\rtotal += loss\r")


def test_nothing_is_tokenised_without_a_marker(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise AssertionError("tokenised")

    monkeypatch.setattr("autodetach.comments.suppress.tokenize.generate_tokens", fail)
    assert is_visible("total += loss  # a comment\n")
    with pytest.raises(AssertionError, match="tokenised"):
        is_visible("total += loss  # noqa\n")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("# autodetach: ignore-file\ntotal\n", False),
        ("# autodetach: ignore-file[AD101] a demonstration\ntotal\n", False),
        ("total\n# autodetach: ignore-file[AD1]\n", False),
        ("# autodetach: ignore-file[AD2]\ntotal\n", True),
        ("# autodetach: ignore-files\ntotal\n", True),
        ("x = 1  # autodetach: ignore-file\ntotal\n", True),
        ("'''\n# autodetach: ignore-file\n'''\ntotal\n", True),
        ("# autodetach: off\ntotal\n", False),
        ("# autodetach: off\nx\n# autodetach: on\ntotal\n", True),
        ("# autodetach: off\ntotal\n# autodetach: on\n", False),
        ("total\n# autodetach: off\n", True),
        ("# autodetach: off[AD101] why\nx\n\ntotal\n", False),
        ("# autodetach: off[AD2]\ntotal\n", True),
        ("x  # autodetach: off\ntotal\n", True),
        ("# autodetach: off\nx  # autodetach: on\ntotal\n", False),
        ("def f():\n    # autodetach: off\n    x\ntotal\n", True),
        ("def f():\n    # autodetach: off\n    x\n\n    total\n", False),
        ("def f():\n    # autodetach: off\n    if x:\n        y\n    total\nz\n", False),
        ("def f():\n\t# autodetach: off\n\tx\n# a comment at the left ends no block\n\ttotal\n", False),
        ("# autodetach: off\n# autodetach: off[AD2]\n# autodetach: on\ntotal\n", False),
        ("# autodetach: off\n# autodetach: off[AD2]\n# autodetach: on\n# autodetach: on\ntotal\n", True),
        ("f(\n    # autodetach: off\n    total,\n    # autodetach: on\n)\n", False),
    ],
)
def test_files_and_blocks(code: str, expected: bool) -> None:
    assert is_visible(code, "total") is expected


@pytest.mark.parametrize(
    ("code", "needed"),
    [
        ("total  # noqa: AD1, AD101\n", "AD1, AD101"),
        ("total  # noqa  # autodetach: ignore[AD101]\n", "AD101]"),
        ("total  # autodetach: ignore  # noqa: AD101\n", "AD101\n"),
        ("# autodetach: ignore-file\n# autodetach: off\ntotal  # autodetach: ignore\n", "# autodetach: ignore\n"),
        ("# autodetach: ignore-file[AD101]\n# autodetach: off\ntotal\n", "# autodetach: off"),
        ("é = total  # é # autodetach: ignore[AD3, accumulated-loss] é\n", "accumulated-loss"),
    ],
)
def test_of_several_comments_the_closest_and_most_exact_is_needed(code: str, needed: str) -> None:
    source = Source.from_bytes(code.encode(), "x.py")
    sifted = sift(source, [finding_at(source, b"total")])
    assert sifted.used == {source.raw.index(needed.encode())}


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("x = 1  # noqa: F401\n", False),
        ("x = 1  # noqa: F401, E501 since AD101\n", False),
        ("x = 1  # noqa\n", False),
        ("x = 1  # NoQA: e501,\tad101\n", True),
        ("x = 1  # noqa: AD1\n", True),
        ("x = 1  # noqa:E501 Accumulated-Loss\n", True),
        ("x = 1  # Autodetach : ignore\n", True),
        ("x = 1\n", False),
    ],
)
def test_comments_for_others_are_not_read(text: str, ours: bool) -> None:
    assert may_name_rules(text.encode()) == ours
