"""Any edits of an editor: the text that the server has is the one that the editor has."""

from __future__ import annotations

import json
from typing import Any

from lsprotocol import types

from autodetach.lsp.text import Text, column_of, index_in

SEEDS = (
    b'{"text": "a\\nb\\r\\n\\u00e9\\ud83d\\ude00\\f\\u2028x\\r", "edits": [[0, 1, 2, 3, "x"], [1, 0, 1, 0, "y"], "w"]}',
    b'{"text": "", "edits": [[0, 0, 9, 9, "\\ud800"], [0, 1, 0, 2, "\\udc00"]]}',
)
WORDS = tuple(
    rb"""
    [ ] , "\ud83d\ude00" "\u00e9" "\r" "\n" "\r\n" "\u2028" "\f" "" 0 1 2 3 99 4294967295 "\ud800" "\udc00"
    """.split()
)


def one(raw: bytes) -> None:
    """Raises where a promise is broken."""
    try:
        document: Any = json.loads(raw)
        first, edits = document["text"], document["edits"]
        parts = [change(edit) for edit in edits]
        assert isinstance(first, str)
    except (ValueError, TypeError, KeyError, AssertionError, RecursionError):
        return
    for encoding in ("utf-8", "utf-16", "utf-32"):
        text = Text(first, encoding)
        for part in parts:
            before = text.text
            text = text.changed([part])
            if isinstance(part, types.TextDocumentContentChangePartial):
                assert part.text in text.text or not part.text
                assert len(text.text) <= len(before) + len(part.text)
            for line in text.text.splitlines():
                for at in range(len(line) + 1):
                    column = column_of(line[:at], encoding)
                    assert index_in(line, column, encoding) <= len(line)


def change(edit: Any) -> types.TextDocumentContentChangeEvent:
    """An edit in the words of LSP. Raises ValueError and TypeError."""
    if isinstance(edit, str):
        return types.TextDocumentContentChangeWholeDocument(edit)
    *numbers, new = edit
    if len(numbers) != 4 or not isinstance(new, str) or not all(type(n) is int and 0 <= n < 2**32 for n in numbers):
        raise ValueError(edit)
    start, end = types.Position(*numbers[:2]), types.Position(*numbers[2:])
    return types.TextDocumentContentChangePartial(range=types.Range(start, end), text=new)
