"""Whatever is typed, the server has the text that the editor has, and it lives."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lsp_client import EVERYTHING, Client, Json
from lsprotocol import types

from autodetach.decoding import SourceError
from autodetach.lsp.places import position_of
from autodetach.lsp.text import Text
from autodetach.source import Source

ENCODINGS = ("utf-8", "utf-16", "utf-32")
EDITS = 500
PIECES = [
    *"\n\r\f\v\t '\"(:=#\\x\u2028\u2029\x85\x1c\u00e9\u20ac\U0001d11e\U0001f600\u0301\ufeff\x00",
    "\r\n",
    "    loss.backward()\n",
    "total += loss",
    "for x in loader:\n",
    "# noqa",
    '"""',
    "\U0001f469\u200d\U0001f680",
]
START = """\
import torch


def train(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss
    print(total / len(loader))
"""
texts = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


def units(text: str, encoding: str) -> int:
    """How many code units the characters take, counted one by one."""
    codes = [ord(character) for character in text]
    if encoding == "utf-8":
        return sum(1 + (code > 0x7F) + (code > 0x7FF) + (code > 0xFFFF) for code in codes)
    return sum(1 + (encoding == "utf-16" and code > 0xFFFF) for code in codes)


def position(text: str, index: int, encoding: str) -> Json:
    """The position of an index, as an editor works it out that walks through its text."""
    line = start = 0
    at = 0
    while at < index:
        if text[at] == "\n" or (text[at] == "\r" and text[at + 1 : at + 2] != "\n"):
            line, start = line + 1, at + 1
        at += 1
    return {"line": line, "character": units(text[start:index], encoding)}


def is_between(text: str, index: int) -> bool:
    """Whether an index lies inside of a line end, where no cursor can be."""
    return text[index - 1 : index + 1] == "\r\n"


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=texts, new=texts, ends=st.tuples(st.floats(0, 1), st.floats(0, 1)), encoding=st.sampled_from(ENCODINGS))
def test_a_change_does_what_the_editor_did(text: str, new: str, ends: tuple[float, float], encoding: str) -> None:
    first, last = sorted(round(end * len(text)) for end in ends)
    first, last = first - is_between(text, first), last - is_between(text, last)
    span = types.Range(*(types.Position(**position(text, n, encoding)) for n in (first, last)))
    changed = Text(text, encoding).changed([types.TextDocumentContentChangePartial(span, new)])
    assert changed.text == text[:first] + new + text[last:]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=texts, encoding=st.sampled_from(ENCODINGS), cookie=st.sampled_from(["", "# coding: latin-1\n"]))
def test_positions_of_the_file_are_positions_of_the_editor(text: str, encoding: str, cookie: str) -> None:
    text = cookie + text
    try:
        source = Source.from_text(text, "a.py")
    except SourceError:
        return
    shown = source.raw.decode(source.encoding)
    assert shown == text
    for index in range(len(text) + 1):
        if not is_between(text, index):
            offset = len(text[:index].encode(source.encoding))
            at = position(text, index, encoding)
            if offset or not source.bom:
                assert position_of(source, offset, encoding) == types.Position(**at)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_places_outside_are_the_nearest_inside(encoding: str) -> None:
    text = Text("a\r\n\U0001d11eb\n", encoding)
    for line, column, index in ((0, 9, 1), (1, 99, 5), (2, 0, 6), (9, 9, 6)):
        assert text.index(types.Position(line, column)) == index
    if encoding != "utf-32":
        assert text.index(types.Position(1, 1)) == 3  # the middle of a character


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_server_keeps_up_with_random_edits(tmp_path: Path, encoding: str) -> None:
    chance = random.Random(f"edits in {encoding}")
    uri = (tmp_path / "train.py").as_uri()
    text = START
    answers: set[int | None] = set()

    def change() -> Json:
        nonlocal text
        if chance.random() < 0.03:
            text = START if chance.random() < 0.5 else START + "".join(chance.choices(PIECES, k=9))
            return {"text": text}
        first = chance.randrange(len(text) + 1)
        last = min(len(text), first + (chance.randrange(12) if chance.random() < 0.5 else 0))
        first, last = first - is_between(text, first), last - is_between(text, last)
        new = "".join(chance.choices(PIECES, k=chance.randrange(4)))
        span = {"start": position(text, first, encoding), "end": position(text, last, encoding)}
        text = text[:first] + new + text[last:]
        return {"range": span, "text": new}

    with Client(tmp_path / "cache") as client:
        offered = {**EVERYTHING, "general": {"positionEncodings": [encoding]}}
        assert client.initialize(tmp_path, capabilities=offered)["positionEncoding"] == encoding
        client.open(uri, text)
        for number in range(1, EDITS + 1):
            client.change(uri, number + 1, *(change() for _ in range(chance.choice((1, 1, 1, 2, 5)))))
            if number % 10 == 0:
                asked = client.send("workspace/executeCommand", {"command": "autodetach.text", "arguments": [uri]})
                assert client.answer(asked) == text, f"after edit {number}"
            if number % 7 == 0:
                about = {"textDocument": {"uri": uri}, "position": {"line": 8, "character": 0}}
                asked = client.send("textDocument/hover", about)
                client.cancel(asked)
                answers.add(client.answer_or_code(asked))
        assert -32800 in answers
        assert answers <= {-32800, None}
        client.change(uri, EDITS + 2, {"text": START})
        assert [one["code"] for one in client.diagnostics(uri, EDITS + 2)] == ["AD101"]
        assert client.stop() == 0, client.errors.decode()
        assert client.errors == b""
