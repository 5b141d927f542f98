from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from unidiff.patch import PatchSet

from autodetach.patch import patched_file, render, render_bytes
from autodetach.source import Edit, Source

TOOLS = {
    "git": (("git", "apply", "--check", "the.patch"), ("git", "apply", "the.patch")),
    "patch": (("patch", "-p1", "--dry-run", "-i", "the.patch"), ("patch", "-p1", "-i", "the.patch")),
}
if sys.platform == "win32":
    TOOLS["patch"] = (
        ("patch", "-p1", "--binary", "--dry-run", "-i", "the.patch"),
        ("patch", "-p1", "--binary", "-i", "the.patch"),
    )


def applied(tool: str, files: Mapping[str, bytes], patch: bytes) -> dict[str, bytes]:
    """What the files hold after the tool has checked and applied the patch, both without a word of complaint."""
    with tempfile.TemporaryDirectory() as folder:
        for name, raw in files.items():
            Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, name).write_bytes(raw)
        Path(folder, "the.patch").write_bytes(patch)
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": folder, "GIT_CONFIG_NOSYSTEM": "1", "HOME": folder}
        environment.pop("GIT_DIR", None)
        for command in TOOLS[tool]:
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
            assert done.returncode == 0, (command, done.stdout, done.stderr, patch)
            assert b"fuzz" not in done.stdout
            assert b"offset" not in done.stdout
        left = {path.relative_to(folder).as_posix() for path in Path(folder).rglob("*") if path.is_file()}
        assert left == {*files, "the.patch"}
        return {name: Path(folder, name).read_bytes() for name in files}


def check(changes: Mapping[str, tuple[Source, Sequence[Edit]]], context: int = 3) -> str:
    """Build one patch, let git, patch and unidiff read it, and give it back."""
    files = [patched_file(source, edits, name, context) for name, (source, edits) in changes.items()]
    text = render(files)
    raw = render_bytes(files)
    assert raw == text.encode("utf-8", "surrogateescape")
    before = {name: source.raw for name, (source, _) in changes.items()}
    after = {name: source.apply(edits) for name, (source, edits) in changes.items()}

    changed = [file for file in files if file]
    assert len(changed) == sum(before[name] != after[name] for name in before)
    if changed:
        for tool in TOOLS:
            if shutil.which(tool):
                assert applied(tool, before, raw) == after, tool

    parsed = PatchSet(text)
    assert [file.path for file in parsed] == [file.path for file in changed]
    assert [str(file) for file in parsed] == [str(file) for file in changed]
    for ours, theirs in zip(changed, parsed, strict=True):
        assert (ours.added, ours.removed) == (theirs.added, theirs.removed)
        for our_hunk, their_hunk in zip(ours, theirs, strict=True):
            assert our_hunk.is_valid()
            for line in their_hunk:
                line.diff_line_no = None
            assert list(our_hunk) == list(their_hunk)
    return text


def patch_of(text: str, edits: Sequence[Edit], context: int = 3) -> str:
    return check({"a.py": (Source.from_bytes(text.encode(), "a.py"), edits)}, context)


def replacing(text: str, *pairs: tuple[str, str]) -> str:
    """The hunks of a patch that replaces each old part, found once in the text, by its new one."""
    edits = []
    for old, new in pairs:
        assert text.count(old) == 1
        start = len(text[: text.index(old)].encode())
        edits.append(Edit(start, start + len(old.encode()), new))
    header, _, hunks = patch_of(text, edits).partition("+++ b/a.py\n")
    assert header == "--- a/a.py\n" * bool(hunks)
    return hunks


TEN = "".join(f"line {number}\n" for number in range(10))


def test_both_tools_are_here() -> None:
    assert [tool for tool in TOOLS if shutil.which(tool) is None] == []


# --- hunks


def test_a_hunk_has_three_lines_of_context() -> None:
    assert replacing(TEN, ("5", "five")) == (
        "@@ -3,7 +3,7 @@\n line 2\n line 3\n line 4\n-line 5\n+line five\n line 6\n line 7\n line 8\n"
    )


def test_adjacent_lines_are_removed_together() -> None:
    assert replacing("a\nb\nc\n", ("a", "x"), ("b", "y")) == "@@ -1,3 +1,3 @@\n-a\n-b\n+x\n+y\n c\n"


def test_two_edits_of_one_line() -> None:
    assert replacing("a = b\n", ("a", "x"), ("b", "y")) == "@@ -1,1 +1,1 @@\n-a = b\n+x = y\n"


def test_equal_lines_at_the_ends_of_an_edit_are_context() -> None:
    assert replacing("a\nb\nc\nd\n", ("a\nb\nc\nd", "a\nx\ny\nc\nd")) == "@@ -1,4 +1,5 @@\n a\n-b\n+x\n+y\n c\n d\n"


def test_an_edit_that_ends_at_the_start_of_a_line_leaves_that_line_alone() -> None:
    assert replacing("a\nb\nc\nd\n", ("b\n", ""), ("d", "e")) == "@@ -1,4 +1,3 @@\n a\n-b\n c\n-d\n+e\n"


def test_lines_are_joined_and_split() -> None:
    assert replacing("a\nb\nc\n", ("a\nb", "ab")) == "@@ -1,3 +1,2 @@\n-a\n-b\n+ab\n c\n"
    assert replacing("ab\nc\n", ("b", "\nb")) == "@@ -1,2 +1,3 @@\n-ab\n+a\n+b\n c\n"


def test_six_lines_apart_share_a_hunk_and_seven_do_not() -> None:
    assert replacing(TEN, ("1", "x"), ("8", "y")).count("@@ -") == 1
    assert replacing(TEN, ("1", "x"), ("9", "y")) == (
        "@@ -1,5 +1,5 @@\n line 0\n-line 1\n+line x\n line 2\n line 3\n line 4\n"
        "@@ -7,4 +7,4 @@\n line 6\n line 7\n line 8\n-line 9\n+line y\n"
    )


def test_later_hunks_are_numbered_by_what_earlier_ones_add() -> None:
    hunks = replacing(TEN, ("line 0\n", "one\ntwo\nthree\n"), ("9", "nine"))
    assert [line for line in hunks.splitlines() if line.startswith("@@")] == ["@@ -1,4 +1,6 @@", "@@ -7,4 +9,4 @@"]


@pytest.mark.parametrize("context", [1, 2, 5])
def test_context_is_counted_in_lines(context: int) -> None:
    text = patch_of(TEN, [Edit(35, 36, "x")], context)
    assert text.count("\n ") == min(context, 5) + min(context, 4)


def test_edits_that_change_nothing_print_nothing() -> None:
    assert patch_of("a\nb\n", []) == ""
    assert patch_of("a\nb\n", [Edit(0, 3, "a\nb")]) == ""


# --- ends of files


@pytest.mark.parametrize(
    ("text", "pair", "hunk"),
    [
        ("a\nb", ("b", "b\n"), "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"),
        ("a\nb\n", ("b\n", "b"), "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n"),
        (
            "a\nb",
            ("b", "c"),
            "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
        ),
        ("a\nb", ("a", "c"), "@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n"),
        (
            "a\nb",
            ("\nb", ""),
            "@@ -1,2 +1,1 @@\n-a\n-b\n\\ No newline at end of file\n+a\n\\ No newline at end of file\n",
        ),
        ("a\nb", ("b", ""), "@@ -1,2 +1,1 @@\n a\n-b\n\\ No newline at end of file\n"),
        ("a\n", ("a\n", ""), "@@ -1,1 +0,0 @@\n-a\n"),
        ("a", ("a", ""), "@@ -1,1 +0,0 @@\n-a\n\\ No newline at end of file\n"),
        (
            "a",
            ("a", "a\nb"),
            "@@ -1,1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n\\ No newline at end of file\n",
        ),
    ],
)
def test_the_end_of_a_file(text: str, pair: tuple[str, str], hunk: str) -> None:
    assert replacing(text, pair) == hunk


@pytest.mark.parametrize("end", ["", "\n"])
def test_an_insertion_at_the_very_end(end: str) -> None:
    expected = "@@ -1,1 +1,2 @@\n a\n+b\n" if end else "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+ab\n"
    assert patch_of(f"a{end}", [Edit(len(end) + 1, len(end) + 1, "b\n")]).endswith(expected)


def test_the_last_newline_goes_and_text_comes_in_its_place() -> None:
    assert patch_of("a\n", [Edit(1, 2, ""), Edit(2, 2, "b\n")]).endswith("@@ -1,1 +1,1 @@\n-a\n+ab\n")


@pytest.mark.parametrize("end", ["", "\n"])
def test_an_empty_file_is_filled(end: str) -> None:
    assert patch_of("", [Edit(0, 0, "a\n"), Edit(0, 0, f"b{end}")]).startswith(
        "--- a/a.py\n+++ b/a.py\n@@ -0,0 +1,2 @@\n+a"
    )


# --- bytes


def test_a_carriage_return_is_no_end_of_a_line() -> None:
    assert replacing("a\rb\rc", ("b", "x")) == (
        "@@ -1,1 +1,1 @@\n-a\rb\rc\n\\ No newline at end of file\n+a\rx\rc\n\\ No newline at end of file\n"
    )
    assert replacing("a\r\nb\r\nc\r\n", ("b", "x\ny")) == "@@ -1,3 +1,4 @@\n a\r\n-b\r\n+x\r\n+y\r\n c\r\n"


def test_separators_of_unicode_and_form_feeds_are_no_ends_either() -> None:
    assert replacing("\fa\n'\u2028\x85\v'\nb\n", ("b", "c")) == "@@ -1,3 +1,3 @@\n \fa\n '\u2028\x85\v'\n-b\n+c\n"


def test_a_patch_holds_the_bytes_of_files_in_several_encodings() -> None:
    latin = "# coding: latin-1\ns = 'é'\nt = 1\n"
    chinese = "# coding: gbk\r\ns = '中'\r\nt = 1\r\n"
    plain = "\ufeffs = 'é\u2028😀'\nt = 1\n"
    text = check(
        {
            "latin.py": (Source.from_bytes(latin.encode("latin-1"), ""), [Edit(23, 24, "è")]),
            "same.py": (Source.from_bytes(b"a\n", ""), []),
            "d/gbk.py": (Source.from_bytes(chinese.encode("gbk"), ""), [Edit(20, 22, "文\n")]),
            "plain.py": (Source.from_bytes(plain.encode(), ""), [Edit(3, 4, "u")]),
        }
    )
    raw = text.encode("utf-8", "surrogateescape")
    assert "+s = 'è".encode("latin-1") in raw
    assert "+s = '文".encode("gbk") in raw
    assert "+\ufeffu = 'é\u2028😀'".encode() in raw


# --- names


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("d/a.py", "a/d/a.py"),
        ("with space/a b.py", "a/with space/a b.py\t"),
        ("x b/y.py", "a/x b/y.py\t"),
        ("é.py", '"a/\\303\\251.py"'),
        ("é 1.py", '"a/\\303\\251 1.py"\t'),
        ('q"b\\s.py', '"a/q\\"b\\\\s.py"'),
        ("t\tn\nr\re\x1bd\x7f.py", '"a/t\\tn\\nr\\re\\033d\\177.py"'),
        ("a/a.py", "a/a/a.py"),
        ("--- .py", "a/--- .py\t"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not have such names")
def test_names_are_written_as_git_writes_them(name: str, shown: str) -> None:
    text = check({name: (Source.from_bytes(b"a\n", name), [Edit(0, 1, "b")])})
    assert text.splitlines()[0] == f"--- {shown}"
    assert text.startswith(f"--- {shown}\n+++ {shown.replace('a/', 'b/', 1)}\n@@")


@pytest.mark.parametrize("path", ["./d//a.py", "d/../d/a.py", "/d/a.py"])
def test_names_are_made_relative(path: str) -> None:
    file = patched_file(Source.from_bytes(b"a\n", path), [Edit(0, 1, "b")], path)
    assert (file.source_file, file.target_file, file.path) == ("a/d/a.py", "b/d/a.py", "d/a.py")


# --- properties


@st.composite
def changes(draw: st.DrawFn) -> tuple[Source, list[Edit]]:
    newlines = draw(st.sampled_from((["\n"], ["\r\n"], ["\r"], ["\n", "\n", "\r\n", "\r"])))
    line = st.sampled_from(("a", "b", "é😀", "", " \f", "-- a", "++ a", "@@ -1 +1 @@", "\u2028", "\\ No newline"))
    lines = draw(st.lists(st.tuples(line, st.sampled_from(newlines)), max_size=25))
    text = "".join(content + newline for content, newline in lines) + draw(st.sampled_from(("", "a", "é")))
    bom = "\ufeff" * draw(st.booleans())
    source = Source.from_bytes((bom + text).encode(), "a.py")

    legal = [i for i in range(len(text) + 1) if text[max(0, i - 1) : i + 1] != "\r\n"]
    chosen = sorted(draw(st.lists(st.sampled_from(legal), max_size=8)))
    replacement = st.sampled_from(("", "", "x", "\n", "x\n", "\nx", "a\nb\n", "a", "b\n\n", "é"))
    offsets = [source.offset_from_character(index) for index in chosen]
    return source, [Edit(a, b, draw(replacement)) for a, b in zip(offsets[::2], offsets[1::2], strict=False)]


@settings(max_examples=150, deadline=None)
@given(st.lists(changes(), min_size=1, max_size=3), st.sampled_from((1, 2, 3, 4)))
@example([(Source.from_bytes(b"a\n", ""), [Edit(1, 2, ""), Edit(2, 2, "x")])], 3)
def test_git_patch_and_unidiff_read_every_patch(several: list[tuple[Source, list[Edit]]], context: int) -> None:
    check({f"d{number}/f.py": change for number, change in enumerate(several)}, context)


@settings(max_examples=300, deadline=None)
@given(changes())
def test_hunks_are_apart_and_begin_and_end_in_context(change: tuple[Source, list[Edit]]) -> None:
    source, edits = change
    file = patched_file(source, edits, "a.py")
    old = source.raw.decode().split("\n")
    new = source.apply(edits).decode().split("\n")
    for hunk in file:
        shown = [line for line in hunk if line.line_type != "\\"]
        assert any(not line.is_context for line in shown)
        for line in shown:
            if line.source_line_no is not None:
                assert line.value == old[line.source_line_no - 1] + "\n"
            if line.target_line_no is not None:
                assert line.value == new[line.target_line_no - 1] + "\n"
        gaps = "".join("." if line.is_context else "#" for line in shown).split("#")
        assert max(map(len, gaps[1:-1]), default=0) <= 6
        assert len(gaps[0]) == 3 or (len(gaps[0]) < 3 and hunk.source_start <= 1)
        last = hunk.source_start + max(hunk.source_length, 1) - 1
        assert len(gaps[-1]) == 3 or (len(gaps[-1]) < 3 and last == len(old) - (old[-1] == ""))
    for before, after in pairwise(file):
        assert after.source_start > before.source_start + before.source_length
