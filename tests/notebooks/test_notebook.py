"""Notebooks: what is read is what nbformat reads, and what is written changes the edited lines and nothing else."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autodetach.decoding import SourceError
from autodetach.notebooks.cells import CellError
from autodetach.notebooks.notebook import OtherLanguage, read, scan
from autodetach.places import Part
from autodetach.source import Edit, Source

IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def notebook(*sources: str | list[str], **metadata: Any) -> dict[str, Any]:
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
        for source in sources
    ]
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 4}


def edited(raw: bytes, index: int, *edits: tuple[int, int, str]) -> bytes:
    """The notebook with edits that count in the characters of a cell."""
    return scan(raw).with_edits([_part(raw, index, *edits)])


def _part(raw: bytes, index: int, *edits: tuple[int, int, str]) -> Part:
    file = scan(raw)
    text = file.cells[index].text
    source = Source("", text.encode(), text, "utf-8", "\n")
    counted = tuple(Edit(len(text[:start].encode()), len(text[:end].encode()), new) for start, end, new in edits)
    return Part(source, counted, file.cells[index].number, index)


LINED = """{
 "cells": [
  {
   "cell_type": "code",
   "source": [
    "a\\n",
    "b\\n",
    "c"
   ]
  }
 ],
 "nbformat": 4
}"""


@pytest.mark.parametrize(
    ("edits", "lines"),
    [
        ([(0, 1, "x")], ["x\n", "b\n", "c"]),
        ([(0, 0, "x\n")], ["x\n", "a\n", "b\n", "c"]),
        ([(2, 2, "x\ny\n")], ["a\n", "x\n", "y\n", "b\n", "c"]),
        ([(5, 5, "\nx")], ["a\n", "b\n", "c\n", "x"]),
        ([(3, 5, "")], ["a\n", "b"]),
        ([(0, 2, "")], ["b\n", "c"]),
        ([(0, 5, "")], []),
        ([(1, 2, "")], ["ab\n", "c"]),
        ([(0, 1, "x\ny")], ["x\n", "y\n", "b\n", "c"]),
        ([(0, 1, "x"), (4, 5, "z")], ["x\n", "b\n", "z"]),
        ([(0, 2, ""), (2, 4, "")], ["c"]),
        ([(2, 2, "x")], ["a\n", "xb\n", "c"]),
    ],
)
def test_a_new_line_becomes_a_new_string_with_the_indentation_of_the_others(
    edits: list[tuple[int, int, str]], lines: list[str]
) -> None:
    source = ",\n".join(f"    {json.dumps(line)}" for line in lines)
    head, tail = LINED.split('    "a')[0], LINED.split('"c"')[1]
    want = head + source + tail if lines else head.rstrip() + "]" + tail.split("]", 1)[1]
    assert edited(LINED.encode(), 0, *edits).decode() == want


def test_every_character_of_a_cell_has_its_place_in_the_file() -> None:
    text = r'{"cells": [{"cell_type": "code", "source": ["é\u0061\n", "\ud83d\ude00b"]}], "nbformat": 4}'
    raw = text.encode()
    places = [raw[scan(raw).offset(0, number) :].decode() for number in range(6)]
    rest = '], "nbformat": 4}'.replace("]", "]}]", 1)
    assert places == [
        r'é\u0061\n", "\ud83d\ude00b"' + rest,
        r'\u0061\n", "\ud83d\ude00b"' + rest,
        r'\n", "\ud83d\ude00b"' + rest,
        r'\ud83d\ude00b"' + rest,
        'b"' + rest,
        '"' + rest,
    ]


@pytest.mark.parametrize(
    ("source", "want"),
    [
        (r'"a\nb"', r'"a\nx\nb"'),
        (r'["a\n","b"]', r'["a\n","x\n","b"]'),
        (r'["a\n" , "b"]', r'["a\n" , "x\n" , "b"]'),
        (r'["a\nb"]', r'["a\n", "x\n", "b"]'),
        ('["a\\n",\r\n\t"b"\r\n]', '["a\\n",\r\n\t"x\\n",\r\n\t"b"\r\n]'),
    ],
)
def test_the_style_of_the_file_is_kept(source: str, want: str) -> None:
    text = '{"nbformat":4, "cells":[{"source":%s,"cell_type":"code"}]}\r\n'
    assert edited((text % source).encode(), 0, (2, 2, "x\n")).decode() == text % want


def test_escapes_are_kept_and_new_characters_are_written_as_the_file_writes_them() -> None:
    text = r'{"cells": [{"cell_type": "code", "source": "\u0061\u00e9\ud83d\ude00\/%sb"}], "nbformat": 4}'
    assert edited((text % "").encode(), 0, (4, 4, 'é"\n')).decode() == text % r"\u00e9\"\n"
    text = text.replace("}]", ', "metadata": {"é": 1}}]')
    assert edited((text % "").encode(), 0, (4, 4, 'é"\n')).decode() == text % r"é\"\n"


def test_only_python_cells_are_read() -> None:
    raw = notebook("a", "b", "c")
    raw["cells"][0]["cell_type"] = "markdown"
    raw["cells"][1]["metadata"] = {"vscode": {"languageId": "sql"}}
    raw["cells"][2]["metadata"] = {"tags": ["raises-exception"]}
    cells = read(json.dumps(raw).encode(), "a.ipynb")
    assert (cells.texts, cells.numbers, set(cells.expected)) == (("c",), (3,), {3})


@pytest.mark.parametrize(
    ("raw", "message", "line"),
    [
        (b"", "not valid JSON", 1),
        (b"[]", "it has no cells", None),
        (b"{}", "it has no cells", None),
        (b'{"cells": {}}', "it has no cells", None),
        (b'{"cells": []}', "does not say its format", None),
        (b'{"cells": [1], "nbformat": 4}', "cell 1 is no object", None),
        (b'{"cells": [{}], "nbformat": 4}', "cell 1 has no type", None),
        (b'{"cells": [{"cell_type": "code"}], "nbformat": 4}', "cell 1 has no source", None),
        (b'{"cells": [{"cell_type": "code", "source": [1]}], "nbformat": 4}', "neither a string nor", None),
        (b'{"worksheets": [], "nbformat": 3}', "format 3, and only format 4 is read", None),
        (b'{"cells": [], "nbformat": 4} x', "not valid JSON", 1),
        (b'{"cells": [],\n "nbformat": 4', "not valid JSON", 2),
        (b'{\n"a": "\xff"}', "not valid UTF-8", 2),
        (b"[" * 100_000, "nested too deeply", None),
        (b'{"a":' * 100_000, "nested too deeply", None),
    ],
)
def test_what_is_no_notebook_is_said_in_one_line(raw: bytes, message: str, line: int | None) -> None:
    with pytest.raises(SourceError, match=message) as caught:
        read(raw, "a.ipynb")
    assert caught.value.line == line
    assert "\n" not in caught.value.message


def test_a_notebook_of_another_language_is_skipped() -> None:
    for metadata in ({"language_info": {"name": "R"}}, {"kernelspec": {"language": "julia"}}):
        with pytest.raises(OtherLanguage, match="not Python"):
            read(json.dumps(notebook("x <- 1", **metadata)).encode(), "a.ipynb")
    for metadata in ({"language_info": {"name": "python"}}, {"kernelspec": {"language": "python"}}, {}):
        assert read(json.dumps(notebook("x = 1", **metadata)).encode(), "a.ipynb").texts == ("x = 1",)


def test_a_broken_cell_has_its_number_and_line() -> None:
    with pytest.raises(CellError, match="syntax error") as caught:
        read(json.dumps(notebook("", "y = 1\nz =")).encode(), "a.ipynb")
    assert (caught.value.cell, caught.value.line) == (2, 2)


# How long a try takes says more about the machine than about the code.
SLOWLY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

TEXT = st.lists(
    st.sampled_from(["x = 1", "\n", "\r\n", '"', "\\", "\\n", "é", "𝄞", "\t", "/", "\u2028", "'", "\x0c"]), max_size=12
).map("".join)
INDENT = st.sampled_from([None, 0, 1, 4, "\t"])


def split(text: str, how: int) -> str | list[str]:
    if how == 0:
        return text
    return text.splitlines(keepends=True) if how == 1 else [text[i : i + 3] for i in range(0, len(text), 3)]


@SLOWLY
@given(
    st.lists(st.tuples(TEXT, st.integers(0, 2)), min_size=1, max_size=4),
    st.integers(0),
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6), TEXT), max_size=4),
    INDENT,
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
)
def test_cells_are_read_and_edited_as_nbformat_reads_them(
    cells: list[tuple[str, int]],
    index: int,
    places: list[tuple[int, int, str]],
    indent: int | str | None,
    ascii_only: bool,
    newline: str,
) -> None:
    data = notebook(*(split(text, how) for text, how in cells))
    data["cells"][0]["outputs"] = [{"output_type": "display_data", "data": {"image/png": IMAGE}, "metadata": {}}]
    data["cells"].insert(1, {"cell_type": "markdown", "metadata": {}, "source": ["# É\n", "text"]})
    text = json.dumps(data, indent=indent, ensure_ascii=ascii_only) + newline
    raw = text.replace("\n", newline).encode() if newline != "\n" else text.encode()
    texts = [text for text, _ in cells]
    assert [cell.text for cell in scan(raw).cells] == texts == _as_nbformat_reads(raw)

    index %= len(cells)
    before = texts[index]
    edits: list[tuple[int, int, str]] = []
    at = 0
    for skip, length, new in places:
        start = min(at + skip, len(before))
        at = min(start + length, len(before))
        edits.append((start, at, new.replace("\r\n", "\n")))
    if any(before[i - 1 : i + 1] == "\r\n" for start, end, _ in edits for i in (start, end) if i):
        return
    pieces = [before[:0]]
    copied = 0
    for start, end, new in edits:
        pieces += (before[copied:start], new)
        copied = end
    texts[index] = "".join((*pieces, before[copied:]))
    part = _part(raw, index, *edits)
    changed = scan(raw).with_edits([part])
    (in_file,) = scan(raw).edits([part])
    assert raw[: in_file.start] + in_file.replacement.encode() + raw[in_file.end :] == changed
    assert _as_nbformat_reads(changed) == texts
    _assert_same_outside(raw, changed, index)


def _as_nbformat_reads(raw: bytes) -> list[str]:
    read_back = nbformat.reads(raw.decode(), as_version=nbformat.NO_CONVERT)  # type: ignore[no-untyped-call]
    return [cell.source for cell in read_back.cells if cell.cell_type == "code"]


def _assert_same_outside(before: bytes, after: bytes, index: int) -> None:
    old, new = scan(before).cells[index], scan(after).cells[index]
    assert before.decode()[: old.start] == after.decode()[: new.start]
    assert before.decode()[old.end :] == after.decode()[new.end :]
