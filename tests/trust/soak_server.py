"""A day of an editor in minutes: `python -m tests.trust.soak_server --edits 10000 --seed 1`.

A server gets edits, opens, closes, questions and their cancellation, at random, and keeps what it needs for what is
open. At the end its memory is not larger than it was in the first half (plus a margin), none of its processes is dead
and unburied, nothing was complained of, and what it shows for each text is what `check` says of that text.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from autodetach.checks import CheckOptions
from autodetach.disk.files import FoundFile
from autodetach.perform import run_one
from autodetach.projects.imports import forget
from autodetach.task import Task

from .pipe import Pipe, states

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = [p.read_text() for p in sorted(ROOT.glob("fixtures/*/*.before.py")) if p.stat().st_size < 1500][::9]
PIECES = (
    "\n",
    "    ",
    "x = 1\n",
    "é𝄞",
    "(",
    ")",
    "loss.backward()\n",
    "# c\n",
    "total += loss\n",
    "\r\n",
    "'''",
    "\u2028",
    "",
)
FILES = 6
MARGIN = 60.0
"""Megabytes by which the server may be larger at the end than it ever was in the first half."""
ENOUGH = 1000
"""Edits after which all is loaded that will be."""
SETTLING = 1.0
TRIES = 20
"""On a machine that is busy, what is to be told may come a second late; what is wrong stays wrong."""


@dataclass
class Report:
    """What was done, and what is wrong."""

    edits: int = 0
    opens: int = 0
    closes: int = 0
    questions: int = 0
    cancelled: int = 0
    megabytes: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


class Editor:
    """What an editor has open, and what it does next."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = Random(seed)
        self.folder = folder
        self.pipe = Pipe(folder)
        self.report = Report()
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.paths = [folder / f"f{number}.py" for number in range(FILES)]
        for path in self.paths:
            path.write_text(self.random.choice(PROGRAMS))
        self._asked: list[int] = []

    def step(self) -> None:
        """One thing that people do."""
        path = self.random.choice(self.paths)
        uri = path.as_uri()
        if uri not in self.texts:
            self._open(uri, path.read_text())
        elif self.random.random() < 0.05:
            del self.texts[uri]
            self.report.closes += 1
            self.pipe.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
        elif self.random.random() < 0.15:
            self._ask(uri)
        else:
            self._edit(uri)

    def _open(self, uri: str, text: str) -> None:
        self.texts[uri], self.versions[uri] = text, self.versions.get(uri, 0) + 1
        self.report.opens += 1
        item = {"uri": uri, "languageId": "python", "version": self.versions[uri], "text": text}
        self.pipe.tell("textDocument/didOpen", {"textDocument": item})

    def _edit(self, uri: str) -> None:
        text = self.texts[uri]
        self.versions[uri] += 1
        self.report.edits += 1
        if self.random.random() < 0.1:
            new = self.random.choice(PROGRAMS)
            change: dict[str, Any] = {"text": new}
        else:
            start = self.random.randrange(len(text) + 1)
            end = min(len(text), start + self.random.choice((0, 0, 1, 3, 20)))
            # Between the two characters of a line end there is no place.
            start -= text[max(0, start - 1) : start + 1] == "\r\n"
            end -= text[max(0, end - 1) : end + 1] == "\r\n"
            piece = self.random.choice(PIECES)
            new = text[:start] + piece + text[end:]
            change = {"range": {"start": place(text, start), "end": place(text, end)}, "text": piece}
        self.texts[uri] = new
        document = {"uri": uri, "version": self.versions[uri]}
        self.pipe.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})

    def _ask(self, uri: str) -> None:
        at = place(self.texts[uri], self.random.randrange(len(self.texts[uri]) + 1))
        where: dict[str, Any] = {"textDocument": {"uri": uri}, "position": at}
        if self.random.random() < 0.5:
            where = {"textDocument": {"uri": uri}, "range": {"start": at, "end": at}, "context": {"diagnostics": []}}
        number = self.pipe.ask("textDocument/hover" if "position" in where else "textDocument/codeAction", where)
        self.report.questions += 1
        if self.random.random() < 0.5:
            self.report.cancelled += 1
            self.pipe.tell("$/cancelRequest", {"id": number})
        self._asked.append(number)
        # Nobody waits for each answer, but somebody reads them.
        while len(self._asked) > 8:
            self.pipe.answer(self._asked.pop(0))

    def settle(self) -> None:
        """Wait until everything has been looked at, and all has been told."""
        while self._asked:
            self.pipe.answer(self._asked.pop(0))
        for uri in self.texts:
            self.pipe.answer(
                self.pipe.ask("textDocument/hover", {"textDocument": {"uri": uri}, "position": place("", 0)})
            )
        time.sleep(SETTLING)
        self.pipe.answer(self.pipe.ask("textDocument/hover", {"textDocument": {"uri": "x:"}, "position": place("", 0)}))

    def compare(self) -> list[str]:
        """What is shown and is not what `check` says of the same texts, once all has been told."""
        self.settle()
        wrong: list[str] = []
        for uri, text in self.texts.items():
            held = self.pipe.answer(
                self.pipe.ask("workspace/executeCommand", {"command": "autodetach.text", "arguments": [uri]})
            )
            if held.get("result") != text:
                wrong.append(f"{uri}: the server has another text")
            shown = sorted(
                (one["range"]["start"]["line"] + 1, str(one["code"]))
                for one in self.pipe.published[uri][1]
                if one.get("code")
            )
            expected = checked(str(self.folder / Path(uri).name), text)
            if shown != expected:
                wrong.append(f"{uri}: shows {shown}, and check says {expected}")
        closed = {path.as_uri() for path in self.paths} - set(self.texts)
        wrong += [
            f"{uri}: closed, and still has diagnostics" for uri in closed if self.pipe.published.get(uri, (0, []))[1]
        ]
        if self.pipe.errors:
            wrong.append(f"it complains: {self.pipe.errors[:2000].decode()}")
        return wrong


def place(text: str, index: int) -> dict[str, int]:
    """The position of an index as LSP counts: lines end at LF, CR LF and CR; columns are UTF-16 units."""
    before = text[:index].replace("\r\n", "\n").replace("\r", "\n")
    last = before.rpartition("\n")[2]
    return {"line": before.count("\n"), "character": len(last.encode("utf-16-le", "surrogatepass")) // 2}


def checked(path: str, text: str) -> list[tuple[int, str]]:
    """Lines and codes of what `check` finds in a text."""
    forget()
    outcome = run_one(Task(FoundFile(path, path), CheckOptions(), raw=text.encode()))
    source = outcome.source
    if source is None:
        return []
    return sorted((source.position(f.span.start).line, f.code) for f in outcome.findings)


def soak(edits: int, seed: int) -> Report:
    """So many edits, and what came of them."""
    with tempfile.TemporaryDirectory() as place_:
        editor = Editor(Path(place_).resolve(), seed)
        report = editor.report
        try:
            while report.edits < edits:
                editor.step()
                if report.edits and report.edits % max(1, edits // 10) == 0:
                    report.megabytes.append(round(editor.pipe.megabytes(), 1))
                    editor.step()
            for _ in range(TRIES):
                wrong = editor.compare()
                if not wrong:
                    break
            report.wrong += wrong
            report.megabytes.append(round(editor.pipe.megabytes(), 1))
            if "Z" in states(editor.pipe.process.pid):
                report.wrong.append("a process has ended, and nobody has asked about it")
            if edits >= ENOUGH and report.megabytes[-1] > max(report.megabytes[: len(report.megabytes) // 2]) + MARGIN:
                report.wrong.append(f"memory grows: {report.megabytes}")
            code = editor.pipe.end()
            if code:
                report.wrong.append(f"ended with {code}")
        finally:
            editor.pipe.kill()
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures. 1 if a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.trust.soak_server", description=__doc__)
    parser.add_argument("--edits", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    begun = time.monotonic()
    report = soak(options.edits, options.seed)
    print(json.dumps(report.__dict__, indent=1))
    print(f"{time.monotonic() - begun:.0f} s")
    return int(bool(report.wrong))


if __name__ == "__main__":
    sys.exit(main())
