"""What is known of texts: while they are being looked at, and where the analysis itself goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import cast

from lsprotocol import types

from autodetach.finding import Finding, Severity
from autodetach.lsp.desk import Desk
from autodetach.lsp.documents import Documents
from autodetach.lsp.workers import Workers
from autodetach.source import Span
from autodetach.task import Outcome, Task


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


TEXT = "import torch\none\ntwo\n"


class Telling:
    """Workers that tell of the second text early: of a part of it, then of its first path."""

    size = 1

    def __init__(self) -> None:
        self.asked = 0

    async def run(
        self, work: object, task: Task, early: bool, about: str, heard: Callable[[Outcome], None] | None
    ) -> Outcome:
        self.asked += 1
        source = task.changed[task.file.path]

        def outcome(*words: str) -> Outcome:
            places = [source.raw.index(word.encode()) for word in words]
            spans = (Span(at, at + len(word)) for at, word in zip(places, words, strict=True))
            findings = tuple(Finding("AD101", "name", "about it", Severity.ERROR, span) for span in spans)
            return Outcome(task.file, findings, source=source)

        if heard is None:
            return outcome("one", "two")
        heard(outcome("two")._replace(about=((4, 4),)))
        heard(outcome("two"))
        return outcome("one", "two")


def test_what_is_told_early_is_told_of_a_part_and_then_of_the_first_path(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(TEXT)
    documents = Documents()
    documents.folders[tmp_path.as_uri()] = str(tmp_path)
    opened = documents.open(types.TextDocumentItem(path.as_uri(), "python", 1, TEXT))
    assert opened is not None
    told: list[tuple[bool, list[int]]] = []

    def note(root: str, is_new: bool) -> None:
        findings = [one.finding for one in desk.findings().get(root, ())]
        told.append((is_new, [finding.span.start for finding in findings]))

    async def test() -> None:
        desk.edited(str(path), opened=True)
        await desk.settled(str(path))
        insert = types.Range(types.Position(1, 0), types.Position(1, 0))
        opened.change([types.TextDocumentContentChangePartial(insert, "# more\n")], 2)
        desk.edited(str(path))
        await desk.settled(str(path))

    desk = Desk(documents, cast("Workers", Telling()), note, print)
    asyncio.run(asyncio.wait_for(test(), 20))
    after = TEXT.replace("one", "# more\none")
    before, now = ([text.index("one"), text.index("two")] for text in (TEXT, after))
    assert told == [(True, before), (True, now), (False, now[1:]), (False, now)]
