"""An editor's side of the conversation, as plain as can be: what it gets is kept as JSON."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

Json = Any
PATIENCE = 120.0
ANSWERS: dict[str, Json] = {"workspace/applyEdit": {"applied": True}, "window/showDocument": {"success": True}}

EVERYTHING: dict[str, Json] = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "codeDescriptionSupport": True, "versionSupport": True},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source.fixAll"]}},
            "isPreferredSupport": True,
        },
    },
    "workspace": {"workspaceEdit": {"documentChanges": True}, "didChangeWatchedFiles": {"dynamicRegistration": True}},
}


class Client:
    """A server and the pipe to it. Requests of the server are granted, and kept in `asked`."""

    def __init__(self, cache: Path, arguments: Iterable[str] = ("server",)) -> None:
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "autodetach", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        self.notified: list[tuple[str, Json]] = []
        self.asked: list[tuple[str, Json]] = []
        self.errors = b""
        self._inbox: queue.Queue[Json] = queue.Queue()
        self._answers: dict[int, Json] = {}
        self._id = 0
        self._threads = [threading.Thread(target=f, daemon=True) for f in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    def initialize(
        self, *folders: Path, capabilities: Mapping[str, Json] = EVERYTHING, **more: Json
    ) -> dict[str, Json]:
        """Begin the conversation; the capabilities of the server."""
        result = self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": folders[0].as_uri() if folders else None,
                "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name} for folder in folders] or None,
                "capabilities": capabilities,
                **more,
            },
        )
        self.notify("initialized", {})
        found: dict[str, Json] = result["capabilities"]
        return found

    def open(self, uri: str, text: str, version: int = 1) -> None:
        item = {"uri": uri, "languageId": "python", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, version: int, *changes: Json) -> None:
        self.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)},
        )

    def diagnostics(self, uri: str, version: int | None = None) -> list[Json]:
        """What is published for a text, of that version if there is one, from the next message on."""
        found = self.wait(
            "textDocument/publishDiagnostics",
            lambda p: p["uri"] == uri and (version is None or p.get("version") == version),
        )
        items: list[Json] = found["diagnostics"]
        return items

    def actions(self, uri: str, where: Json, only: list[str] | None = None) -> list[Json]:
        context: dict[str, Json] = {"diagnostics": []}
        if only is not None:
            context["only"] = only
        found = self.request(
            "textDocument/codeAction", {"textDocument": {"uri": uri}, "range": where, "context": context}
        )
        actions: list[Json] = found
        return actions

    def request(self, method: str, params: Json) -> Json:
        """The result of a request. Raises ServerError."""
        return self.answer(self.send(method, params))

    def send(self, method: str, params: Json) -> int:
        """Ask without waiting; the number of the question."""
        self._id += 1
        self._write({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        return self._id

    def cancel(self, number: int) -> None:
        self.notify("$/cancelRequest", {"id": number})

    def answer(self, number: int) -> Json:
        """The result of a question. Raises ServerError."""
        self._until(lambda: number in self._answers)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise ServerError(answer["error"])
        return answer["result"]

    def answer_or_code(self, number: int) -> int | None:
        """None for a result, the code for an error."""
        try:
            self.answer(number)
        except ServerError as error:
            return error.code
        return None

    def notify(self, method: str, params: Json) -> None:
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def wait(self, method: str, wanted: Callable[[Json], bool] = lambda _: True) -> Json:
        """The next message of a method for which `wanted` holds; what came before it is forgotten."""
        found: list[Json] = []

        def look() -> bool:
            while self.notified and not found:
                name, params = self.notified.pop(0)
                if name == method and wanted(params):
                    found.append(params)
            return bool(found)

        self._until(look)
        return found[0]

    def stop(self) -> int:
        """End the conversation as the protocol wants; the exit code of the server."""
        assert self.request("shutdown", None) is None
        self.notify("exit", None)
        return self.process.wait(PATIENCE)

    def _until(self, done: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not done():
            try:
                message = self._inbox.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise TimeoutError(f"no answer; the server said: {self.errors.decode()[-2000:]}") from None
            if message is None:
                raise EOFError(f"the server has gone; it said: {self.errors.decode()[-2000:]}")
            if "method" not in message:
                self._answers[message["id"]] = message
            elif "id" in message:
                self.asked.append((message["method"], message.get("params")))
                self._write({"jsonrpc": "2.0", "id": message["id"], "result": ANSWERS.get(message["method"])})
            else:
                self.notified.append((message["method"], message.get("params")))

    def _write(self, message: Json) -> None:
        assert self.process.stdin is not None
        body = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def _read(self) -> None:
        assert self.process.stdout is not None
        while True:
            length = 0
            while line := self.process.stdout.readline().strip():
                name, _, value = line.partition(b":")
                assert name in (b"Content-Length", b"Content-Type"), line
                length = int(value) if name == b"Content-Length" else length
            if not length:
                self._inbox.put(None)
                return
            self._inbox.put(json.loads(self.process.stdout.read(length)))

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors += line


class ServerError(Exception):
    """The server has answered with an error."""

    def __init__(self, error: Json) -> None:
        super().__init__(error["message"])
        self.code: int = error["code"]
        self.data = error.get("data")
