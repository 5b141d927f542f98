"""What is known of texts, where the analysis itself goes wrong."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

from lsprotocol import types

from autodetach.lsp.desk import Desk
from autodetach.lsp.documents import Documents
from autodetach.lsp.workers import Workers


class Failing:
    """Workers whose tasks fail."""

    size = 1

    async def run(self, *_: object, **__: object) -> object:
        raise ValueError("no good")


def test_an_analysis_that_fails_is_said_to_have_failed(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("import torch\n")
    (tmp_path / "b.py").write_text("import torch\n")
    documents = Documents()
    documents.folders[tmp_path.as_uri()] = str(tmp_path)
    documents.open(types.TextDocumentItem(path.as_uri(), "python", 1, "import torch\n"))
    heard: list[str] = []

    async def each(number: int, count: int, path: str) -> None:
        heard.append(path)

    async def test() -> None:
        told: list[tuple[str, bool]] = []
        desk = Desk(documents, cast("Workers", Failing()), lambda *one: told.append(one), heard.append)
        desk.edited(str(path), opened=True)
        await desk.settled(str(path))
        assert not desk.is_pending(str(path))
        assert told == [(str(path), True)]
        (problem,) = desk.problems(str(path))
        assert "ValueError: no good" in problem.message
        assert await desk.scan(each) == [str(path), str(tmp_path / "b.py")]

    asyncio.run(asyncio.wait_for(test(), 20))
    assert heard == [str(path), str(tmp_path / "b.py")]
