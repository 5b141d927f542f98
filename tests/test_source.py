from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise

import libcst as cst
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from libcst.metadata import MetadataWrapper, PositionProvider

from autodetach.decoding import SourceError
from autodetach.source import Edit, Position, Source, Span, compose

UTF8_BOM = b"\xef\xbb\xbf"
COOKIES = {
    "utf-8": "",
    "iso8859-1": "# -*- coding: latin-1 -*-\n",
    "cp1252": "# coding=cp1252\n",
    "gbk": "# coding: gbk\n",
    "shift_jis": "# vim: set fileencoding=shift_jis :\n",
}


def source_of(text: str, encoding: str = "utf-8", bom: bool = False) -> Source:
    return Source.from_bytes(UTF8_BOM * bom + text.encode(encoding), "a.py")


@st.composite
def sources(draw: st.DrawFn) -> Source:
    encoding = draw(st.sampled_from(sorted(COOKIES)))
    letters = {"utf-8": "é😀\u2028\x85", "gbk": "中文", "shift_jis": "日ソ"}.get(encoding, "éÿ")
    newlines = draw(st.sampled_from(("\n", "\r\n", "\r", "\r\n\n\r")))
    text = draw(st.text(alphabet=f"ab \t\f\v{letters}{newlines}", max_size=40))
    bom = encoding == "utf-8" and draw(st.booleans())
    return source_of(COOKIES[encoding] + text, encoding, bom)


@st.composite
def edits_of(draw: st.DrawFn, source: Source, keep: int = 0) -> list[Edit]:
    """Legal edits behind the first `keep` bytes; a replacement may touch the next one and insertions may coincide."""
    text = source.text
    legal = [i for i in range(len(text) + 1) if text[max(0, i - 1) : i + 1] != "\r\n"]
    offsets = [offset for offset in map(source.offset_from_character, legal) if offset >= keep]
    chosen = sorted(draw(st.lists(st.sampled_from(offsets), max_size=8)))
    replacement = st.text(alphabet="XY\n", max_size=4)
    return [Edit(a, b, draw(replacement)) for a, b in zip(chosen[::2], chosen[1::2], strict=False)]


def cookie_end(source: Source) -> int:
    return source.raw.index(b"\n") + 1 if source.encoding != "utf-8" else 0


# --- reading


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"s = 'plain'",
        "s = 'é'".encode(),
        UTF8_BOM + "s = 'é'".encode(),
        UTF8_BOM + b"# coding: UTF_8_sig\ns = 1",
        UTF8_BOM + b"# coding: utf8\ns = 1",
        UTF8_BOM + b"# coding: latin-1\ns = 1",
        b"# coding: latin-1\ns = '\xe9'",
        b"#!/usr/bin/python\n# -*- coding: iso-8859-15 -*-\ns = '\xa4'",
        b"\n# coding: latin-1\ns = '\xe9'",
        b"\f# coding: latin-1\ns = '\xe9'",
        b"# \xe9\n# coding: latin-1\ns = '\xe9'",
        b"# \xe9 coding: latin-1\ns = '\xe9'",
        b"# a\r# coding: latin-1\rs = '\xe9'",
        b"# a\r\n# coding: latin-1\r\ns = '\xe9'\r\n",
        b"# vim: set fileencoding=cp1252 :\ns = '\x80'",
        b"# vim: set fileencoding = latin-1\ns = '\xe9'",
        b"# coding: latin_1-unix\ns = '\xe9'",
        b"# coding: Latin-1\ns = '\xe9'",
        b"# coding: utf-8-unix\ns = '\xe9'",
        b"# coding: utf8\ns = '\xc3\xa9'",
        b"# coding:\ns = '\xe9'",
        b"# coding: coding: latin-1\ns = '\xe9'",
        b"# coding: nonsense coding: latin-1\ns = '\xe9'",
        b"# coding: nonsense\ns = 1",
        b"# coding: hex\ns = 1",
        b"# coding: undefined\ns = 1",
        b"# coding: ascii\ns = '\xe9'",
        b"# coding: cp1252\ns = '\x81'",
        b"# coding: utf-16\ns = 1",
        b"# " + b"x" * 5000 + b"\n# coding: latin-1\ns = '\xe9'",
        b"s = 1\n# coding: latin-1\nt = '\xe9'",
        b"'''\n# coding: latin-1\n\xe9'''",
        b"\\\n# coding: latin-1\n'\xe9'",
        b"#\n#\n# coding: latin-1\n'\xe9'",
        b"# coding: gbk\ns = '\xd6\xd0'",
        b"# coding: gbk\ns = '\xd6",
    ],
)
def test_a_file_is_decoded_as_cpython_decodes_it(raw: bytes) -> None:
    try:
        expected = ast.dump(ast.parse(raw))
    except SyntaxError:
        with pytest.raises(SourceError):
            Source.from_bytes(raw, "a.py")
    else:
        assert ast.dump(ast.parse(Source.from_bytes(raw, "a.py").text)) == expected


@pytest.mark.parametrize(
    ("raw", "line", "words"),
    [
        (b"a = 1\r\nb = '\xe9'\r\n", 2, ["0xe9", "byte offset 12", "utf-8"]),
        (UTF8_BOM + b"a\n\xff", 2, ["0xff", "byte offset 5", "utf-8"]),
        (b"# coding: ascii\na = '\xe9'", 2, ["0xe9", "byte offset 21", "ascii"]),
        (b"\n# coding: nonsense\n", 2, ["unknown encoding nonsense"]),
        (UTF8_BOM + b"# coding: latin-1\n", 1, ["byte order mark", "iso-8859-1"]),
        (b"a = 1\rb = \0", 2, ["NUL", "byte offset 10"]),
        ("a = 1\n".encode("utf-16"), 1, ["UTF-16"]),
        (b"\xfe\xff" + "a = 1\n".encode("utf-16-be"), 1, ["UTF-16"]),
        ("a = 1\n".encode("utf-32"), 1, ["UTF-32"]),
        ("# coding: iso-2022-jp\ns = '日本'\n".encode("iso-2022-jp"), 1, ["iso2022_jp", "UTF-8"]),
        (b"# coding: utf-7\ns = '" + "éé".encode("utf-7") + b"'\n", 1, ["utf-7"]),
        (b"# coding: utf-7\ns = '+AOk-'\n", 1, ["utf-7"]),
        (b"# coding: cp037\ns = 1\n", 1, ["cp037"]),
        (b"# coding: utf--8-sig\ns = 1\n", 1, ["utf-8-sig"]),
        (b"# coding: punycode\ns = 1\n", 1, ["punycode"]),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_clear_line(raw: bytes, line: int, words: Sequence[str]) -> None:
    with pytest.raises(SourceError) as caught:
        Source.from_bytes(raw, "a.py")
    assert caught.value.line == line
    assert "\n" not in caught.value.message
    for word in words:
        assert word in caught.value.message
    assert str(caught.value) == caught.value.message


def test_attributes() -> None:
    raw = UTF8_BOM + "x = 'é'\r\ny\n".encode()
    source = Source.from_bytes(raw, "d/a.py")
    assert (source.path, source.raw, source.text) == ("d/a.py", raw, "x = 'é'\r\ny\n")
    assert (source.encoding, source.bom, source.newline) == ("utf-8", True, "\r\n")
    assert not source_of("x").bom


@pytest.mark.parametrize(
    ("text", "newline"),
    [("", "\n"), ("a", "\n"), ("a\nb\r\n", "\n"), ("a\r\nb\n", "\r\n"), ("a\rb\n", "\r"), ("a\r", "\r")],
)
def test_the_first_newline_counts(text: str, newline: str) -> None:
    assert source_of(text).newline == newline


def test_importing_the_module_does_not_import_libcst() -> None:
    code = "import sys, autodetach.source; sys.exit('libcst' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- lines and positions


@given(sources())
def test_lines_end_where_cpython_ends_them(source: Source) -> None:
    lines = re.split(r"\r\n|\r|\n", source.text)
    assert [source.line_text(number) for number in range(1, len(lines) + 1)] == lines
    assert source.line_count == len(lines) - (lines[-1] == "")
    spans = [source.line_span(number) for number in range(1, len(lines) + 1)]
    assert b"".join(source.raw[span.start : span.end] for span in spans) == source.raw.removeprefix(UTF8_BOM)
    for beyond in (0, -1, len(lines) + 1):
        with pytest.raises(ValueError, match="no line"):
            source.line_span(beyond)


def test_cpython_counts_the_same_lines() -> None:
    text = "a\rb\r\nc\nd = '''\v\f\x1c\x85\u2028\r'''\n\fe"
    source = source_of(text)
    names = [node for node in ast.walk(ast.parse(source.raw)) if isinstance(node, ast.Name)]
    assert {node.id: source.line_text(node.lineno)[node.col_offset] for node in names} == {n: n for n in "abcde"}
    assert source.line_count == 6


@given(sources())
def test_every_position_is_the_same_place_in_every_unit(source: Source) -> None:
    text = source.text
    codec = source.encoding
    for index in range(len(text) + 1):
        ends = [newline.end() for newline in re.finditer(r"\r\n?|\n", text) if newline.end() <= index]
        line, start = len(ends) + 1, ends[-1] if ends else 0
        prefix = text[start:index]
        offset = 3 * source.bom + len(text[:index].encode(codec))

        assert source.offset_from_character(index) == offset
        utf16 = len(prefix.encode("utf-16-le")) // 2
        assert source.position(offset) == Position(line, len(prefix), utf16, len(prefix.encode(codec)))
        if "\r" in prefix:
            continue
        assert source.offset_from_ast(line, len(prefix.encode())) == offset
        hidden = re.match(r"([ \t\f]*\f)?", source.line_text(line))
        assert hidden
        if len(prefix) >= hidden.end():
            assert source.offset_from_cst(line, len(prefix) - hidden.end()) == offset


@given(sources())
def test_impossible_positions_raise(source: Source) -> None:
    line = source.line_text(1)
    shown = re.sub(r"\A[ \t\f]*\f", "", line)
    for call in (
        lambda: source.offset_from_ast(1, len(line.encode()) + 1),
        lambda: source.offset_from_ast(1, -1),
        lambda: source.offset_from_cst(1, len(shown) + 1),
        lambda: source.offset_from_character(len(source.text) + 1),
        lambda: source.offset_from_character(-1),
        lambda: source.position(len(source.raw) + 1),
        lambda: source.text_of(Span(0, len(source.raw) + 1)),
        lambda: source.text_of(Span(-1, 0)),
    ):
        with pytest.raises(ValueError, match=r"outside|negative"):
            call()


def test_an_offset_inside_a_character_has_no_position() -> None:
    with pytest.raises(ValueError, match="utf-8"):
        source_of("é").position(1)


def test_lines_of_spans_do_not_ask_for_characters() -> None:
    source = Source.from_bytes("é\né\n\nü".encode(), "a.py")
    assert [source.lines_of(Span(a, b)) for a, b in ((0, 2), (0, 3), (1, 5), (3, 7), (7, 9), (9, 9))] == [
        (1, 1), (1, 1), (1, 2), (2, 3), (4, 4), (4, 4),
    ]  # fmt: skip
    assert Source.from_bytes(b"\xef\xbb\xbfx", "a.py").lines_of(Span(0, 1)) == (1, 1)
    with pytest.raises(ValueError, match="position 10 lies outside"):
        source.lines_of(Span(10, 11))


def test_ascii_bytes_are_not_always_ascii_text() -> None:
    source = Source.from_bytes(b"# coding: utf-7\ns = '+AOk-a'; x", "a.py")
    assert source.line_text(2) == "s = 'éa'; x"
    assert source.offset_from_cst(2, 10) == source.offset_from_ast(2, 11) == source.offset_from_character(26) == 30
    assert source.raw[30:] == b"x"


def test_the_byte_order_mark_belongs_to_no_line() -> None:
    source = source_of("a\n", bom=True)
    assert source.line_span(1) == Span(3, 5)
    assert source.position(0) == source.position(3) == Position(1, 0, 0, 0)


@pytest.mark.parametrize(
    ("text", "indent"),
    [("x", ""), ("  \tx", "  \t"), ("  \f    x", "    "), ("\fx", ""), ("    ", "    "), ("\u3000x", ""), ("", "")],
)
def test_indent_of(text: str, indent: str) -> None:
    assert source_of(text).indent_of(1) == indent


def test_text_of() -> None:
    source = source_of("# coding: gbk\ns = '中文'\r\n", "gbk")
    assert source.text_of(source.line_span(2)) == "s = '中文'\r\n"


PROGRAMS = [
    "x = 'é😀'; y = x",
    "if x:\r    y = '''é\r\né'''; z = y\rw",
    "x\n\f\ny\n\f\fdef f(a,\n\f  b):\n  \f c = 'é'; d\n\f d\n  \fe\n\f # f\n\fg\nclass G:\n  \f  h = '''\n\fé'''; i\n",
    "\fif x:\n \f # c\n  x\n \f# d\n  y\n",
    "a = 1 + \\\r\n b; c = f'{a}é'",
]


@pytest.mark.parametrize(("encoding", "bom"), [("utf-8", False), ("utf-8", True), ("latin-1", False)])
@pytest.mark.parametrize("program", PROGRAMS)
def test_positions_of_ast_and_libcst(program: str, encoding: str, bom: bool) -> None:
    if encoding == "latin-1":
        program = "# coding: latin-1\n" + program.replace("😀", "ÿ")
    source = source_of(program, encoding, bom)

    found = 0
    for node in ast.walk(ast.parse(source.raw)):
        if isinstance(node, ast.Name | ast.Constant) and node.end_lineno and node.end_col_offset is not None:
            start = source.offset_from_ast(node.lineno, node.col_offset)
            shown = source.text_of(Span(start, source.offset_from_ast(node.end_lineno, node.end_col_offset)))
            if isinstance(node, ast.Name):
                assert shown == node.id
                found += 1
    wrapper = MetadataWrapper(cst.parse_module(source.cst_text), unsafe_skip_copy=True)
    for name, place in wrapper.resolve(PositionProvider).items():
        start = source.offset_from_cst(place.start.line, place.start.column)
        shown = source.text_of(Span(start, source.offset_from_cst(place.end.line, place.end.column)))
        if isinstance(name, cst.Name):
            assert shown == name.value
            found += 1
    assert found > 4


# --- edits


def test_edits_are_spliced_and_the_rest_is_copied() -> None:
    source = Source.from_bytes(b"# coding: latin-1\r\nx = '\xe9'\n\fy\rz", "a.py")
    edits = [Edit(29, 29, "second\n"), Edit(29, 29, "é"), Edit(19, 20, "first"), Edit(19, 19, "the ")]
    assert source.apply(edits) == b"# coding: latin-1\r\nthe first = '\xe9'\n\fysecond\r\n\xe9\rz"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_newlines_of_a_replacement_become_those_of_the_source(newline: str) -> None:
    source = source_of(f"a{newline}b")
    assert source.apply([Edit(0, 1, "x\ny\r\nz\r")]) == newline.join(["x", "y", "z", "", "b"]).encode()


@pytest.mark.parametrize(
    "edits",
    [
        [Edit(0, 3, ""), Edit(2, 4, "")],
        [Edit(0, 3, ""), Edit(1, 1, "x")],
        [Edit(1, 2, "x"), Edit(1, 2, "x")],
        [Edit(3, 2, "")],
        [Edit(-1, 0, "")],
        [Edit(0, 99, "")],
        [Edit(7, 7, "x")],
        [Edit(6, 7, "")],
        [Edit(4, 4, "x")],
    ],
)
def test_illegal_edits_raise(edits: list[Edit]) -> None:
    source = source_of("abcé\n\r\n")
    with pytest.raises(ValueError, match=r"overlaps|cuts"):
        source.apply(edits)


def test_half_a_character_of_two_bytes_is_no_place_for_an_edit() -> None:
    source = source_of("# coding: gbk\n中", "gbk")
    with pytest.raises(ValueError, match="cuts"):
        source.apply([Edit(15, 15, "x")])


def test_nothing_goes_before_the_byte_order_mark() -> None:
    with pytest.raises(ValueError, match="outside"):
        source_of("a", bom=True).apply([Edit(0, 0, "x")])


@pytest.mark.parametrize("gap", ["\n", "\r\n", "\r", "\n\f\v", "\n\x1c", "\n\x85"])
def test_a_text_that_its_encoding_lacks_is_refused_with_its_line(gap: str) -> None:
    """Lines end where CPython ends them."""
    with pytest.raises(SourceError) as caught:
        Source.from_text(f"# coding: latin-1\na = 1{gap}b = 2{gap}c = '\u20ac'\n", "x.py")
    assert caught.value.line == 4


def test_what_the_encoding_lacks_is_refused() -> None:
    source = source_of("# coding: latin-1\na\n", "latin-1")
    with pytest.raises(SourceError) as caught:
        source.apply([Edit(18, 19, "é…")])
    assert caught.value.line == 2
    assert "\\u2026" in caught.value.message
    assert "iso8859-1" in caught.value.message


def test_an_edit_of_the_cookie_is_refused() -> None:
    source = source_of("# coding: latin-1\n", "latin-1")
    with pytest.raises(SourceError, match="encoding"):
        source.with_edits([Edit(2, 8, "")])


def test_with_edits_keeps_the_kind_of_newline() -> None:
    edited = source_of("a\r\nb\nc").with_edits([Edit(1, 3, "")])
    assert edited.raw == b"ab\nc"
    assert edited.newline == "\r\n"


@given(st.data())
def test_apply_copies_what_no_edit_covers(data: st.DataObject) -> None:
    source = data.draw(sources())
    edits = data.draw(edits_of(source))
    expected = b""
    copied = 0
    for edit in edits:
        text = edit.replacement.replace("\n", source.newline)
        expected += source.raw[copied : edit.start] + text.encode(source.encoding)
        copied = edit.end
    assert source.apply(edits) == expected + source.raw[copied:]


@given(st.data())
def test_map_offset_follows_a_byte(data: st.DataObject) -> None:
    source = data.draw(sources())
    edits = data.draw(edits_of(source))
    origins: list[int] = []
    expected = {}
    copied = 0
    for edit in edits:
        origins += range(copied, edit.start)
        expected.update(dict.fromkeys(range(edit.start, edit.end), len(origins)))
        origins += [-1] * len(edit.replacement.replace("\n", source.newline))
        copied = edit.end
    origins += range(copied, len(source.raw) + 1)
    expected.update({origin: place for place, origin in enumerate(origins) if origin >= 0})
    assert {offset: source.map_offset(edits, offset) for offset in range(len(source.raw) + 1)} == expected


# --- compose


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_compose_does_what_both_do(data: st.DataObject) -> None:
    source = data.draw(sources())
    keep = cookie_end(source)
    first = data.draw(edits_of(source, keep))
    middle = source.with_edits(first)
    second = data.draw(edits_of(middle, keep))
    composed = compose(first, second, source)

    assert source.apply(composed) == middle.apply(second)
    assert all(a.end <= b.start and a.start < b.end for a, b in pairwise(composed))
    assert all(source.apply([edit]) != source.raw for edit in composed)


def test_an_edit_of_inserted_text_joins_the_insertion() -> None:
    source = source_of("a = 1\nb = 2\n")
    first = [Edit(0, 0, "x = 0\n"), Edit(10, 11, "3")]
    assert compose(first, [Edit(4, 5, "9")], source) == (Edit(0, 0, "x = 9\n"), Edit(10, 11, "3"))
    assert compose(first, [Edit(6, 7, "c")], source) == (Edit(0, 1, "x = 0\nc"), Edit(10, 11, "3"))
    assert compose(first, [Edit(18, 18, "z")], source) == (Edit(0, 0, "x = 0\n"), Edit(10, 11, "3"), Edit(12, 12, "z"))


def test_edits_that_undo_each_other_vanish() -> None:
    source = source_of("a\r\nb\r\n")
    assert compose([Edit(0, 1, "x\n")], [Edit(0, 3, "a")], source) == ()
    assert compose([Edit(3, 3, "x\n")], [Edit(3, 6, "")], source) == ()


def test_compose_keeps_the_newline_of_the_source() -> None:
    source = source_of("a\r\nb\n")
    assert compose([Edit(0, 0, "x\n")], [Edit(0, 1, "y")], source) == (Edit(0, 0, "y\n"),)
    composed = compose([Edit(1, 3, "")], [Edit(0, 0, "x\n")], source)
    assert source.apply(composed) == b"x\r\nab\n"
