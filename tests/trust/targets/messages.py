"""Any bytes as a message of an editor: a server that lives on, answers, and says what is wrong in a line.

An input is a list of messages, one a line; what is not JSON goes to the server as well. Now and then the bytes go in
without their frame, which ends the conversation.
"""

from __future__ import annotations

import json
from typing import Any

from ..command import NOT_SHOWN, folder
from ..pipe import PATIENCE, Pipe, Silent, framed

PROGRAM = "import torch\ntotal = 0\nfor x in y:\n    loss = torch.nn.Linear(1, 1)(x)\n    total += loss\nprint(total)\n"
URI = "file:///tmp/a.py"
HERE = {"start": {"line": 4, "character": 4}, "end": {"line": 4, "character": 8}}
DOCUMENT = {"uri": URI}


def _message(method: str, params: Any, number: int | None = None) -> bytes:
    made = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(made if number is None else {**made, "id": number}).encode()


_OPEN = _message(
    "textDocument/didOpen", {"textDocument": {**DOCUMENT, "languageId": "python", "version": 1, "text": PROGRAM}}
)
_CHANGE = _message(
    "textDocument/didChange",
    {"textDocument": {**DOCUMENT, "version": 2}, "contentChanges": [{"range": HERE, "text": "x\n"}, {"text": PROGRAM}]},
)
_CLOSE = _message("textDocument/didClose", {"textDocument": DOCUMENT})
_CELLS = {
    "notebookDocument": {
        "uri": "file:///tmp/n.ipynb",
        "notebookType": "x",
        "version": 1,
        "cells": [{"kind": 2, "document": "c:1"}],
    },
    "cellTextDocuments": [{"uri": "c:1", "languageId": "python", "version": 1, "text": PROGRAM}],
}
_SPLICED = {
    "notebookDocument": {"uri": "file:///tmp/n.ipynb", "version": 2},
    "change": {
        "cells": {
            "structure": {"array": {"start": 0, "deleteCount": 1, "cells": []}, "didClose": [{"uri": "c:1"}]},
            "textContent": [{"document": {"uri": "c:1", "version": 2}, "changes": [{"text": "x"}]}],
        }
    },
}
SEEDS = (
    b"\n".join(
        (
            _OPEN,
            _CHANGE,
            _message("textDocument/hover", {"textDocument": DOCUMENT, "position": HERE["start"]}, 1),
            _CLOSE,
        )
    ),
    b"\n".join(
        (
            _OPEN,
            _message(
                "textDocument/codeAction", {"textDocument": DOCUMENT, "range": HERE, "context": {"diagnostics": []}}, 2
            ),
        )
    ),
    b"\n".join((_message("notebookDocument/didOpen", _CELLS), _message("notebookDocument/didChange", _SPLICED))),
    b"\n".join(
        (_message("textDocument/diagnostic", {"textDocument": DOCUMENT}, 3), _message("$/cancelRequest", {"id": 3}))
    ),
    b"\n".join(
        _message("workspace/executeCommand", {"command": f"autodetach.{c}", "arguments": [URI]}, 4)
        for c in ("fixAll", "showRule", "text")
    ),
    _message("workspace/didChangeWatchedFiles", {"changes": [{"uri": URI, "type": 2}]}),
    _message(
        "workspace/didChangeWorkspaceFolders",
        {"event": {"added": [{"uri": "file:///tmp/w", "name": "w"}], "removed": []}},
    ),
    _message("codeAction/resolve", {"title": "x", "data": {"uri": URI}}, 5),
)
WORDS = tuple(
    rb"""
    { } [ ] , : null true -1 0 1 4294967295 99999999999999999999 1.5 "" "\u0000" "\ud800" "file:///%00"
    "file://h/%ff" "untitled:1" "file:///tmp/b.py" "uri" "text" "range" "start" "line" "character" "version"
    "contentChanges" "id" "jsonrpc" "2.0" "1.0" "method" "params" "initialize" "shutdown" "textDocument/didOpen"
    "textDocument/hover" "$/x" "workspace/symbol" "notebookDocument/didClose" "c:1" "c:2" "cells" "kind" "\r"
    "\u2028" "python" "loss.backward()" "import torch\n" [[[[[[
    """.split()
)

_server: Pipe | None = None


def close() -> None:
    """End the server that is running."""
    global _server
    if _server is not None:
        _server.kill()
        _server = None


def one(raw: bytes) -> None:
    """Raises where a promise is broken."""
    global _server
    server = _server = _server or Pipe(folder())
    before = len(server.errors)
    plain = len(raw) % 64 == 0
    try:
        server.write(raw if plain else b"".join(map(framed, raw.split(b"\n"))))
        if plain:
            assert server.process.stdin is not None
            server.process.stdin.close()
            server.process.wait(PATIENCE)
        else:
            server.answer(
                server.ask(
                    "textDocument/hover", {"textDocument": {"uri": "x:"}, "position": {"line": 0, "character": 0}}
                )
            )
    except (BrokenPipeError, Silent):
        if server.process.poll() is None:
            close()
            raise
    code = server.process.poll()
    said = server.errors[before:].decode("utf-8", "replace")
    if code is not None:
        close()
        assert code in (0, 1, 2), (code, said)
    assert "Traceback (most" not in said, said
    assert "never retrieved" not in said, said
    assert not NOT_SHOWN.search(said), ascii(said)
