"""The language server as a process, and the pipes to it: frames go in as they are, answers come out."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 180.0
"""Seconds for an answer, on a machine that is busy with something else."""
MEASURE = 1 << 20


class Silent(AssertionError):
    """The server has not answered."""


class Pipe:
    """A server that was started, and told to begin in a folder."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "autodetach", "server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "XDG_CACHE_HOME": str(folder), "PYTHONPATH": str(ROOT)},
        )
        self.errors = b""
        self.published: dict[str, tuple[int | None, list[Any]]] = {}
        self.said: Counter[str] = Counter()
        self._answers: dict[int, Any] = {}
        self._inbox: queue.Queue[Any] = queue.Queue()
        self._number = 1_000_000
        self._threads = [threading.Thread(target=f, daemon=True) for f in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()
        uri = folder.as_uri()
        capabilities = {"textDocument": {"publishDiagnostics": {"relatedInformation": True, "versionSupport": True}}}
        start = {"processId": None, "rootUri": uri, "capabilities": capabilities}
        self.answer(self.ask("initialize", start))
        self.tell("initialized", {})

    def write(self, raw: bytes) -> None:
        """Send bytes. Raises BrokenPipeError."""
        assert self.process.stdin is not None
        self.process.stdin.write(raw)
        self.process.stdin.flush()

    def tell(self, method: str, params: Any) -> None:
        self.write(framed({"jsonrpc": "2.0", "method": method, "params": params}))

    def ask(self, method: str, params: Any) -> int:
        """Send a question; its number."""
        self._number += 1
        self.write(framed({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}))
        return self._number

    def answer(self, number: int, patience: float = PATIENCE) -> Any:
        """The answer to a question, a result or an error. Raises Silent."""
        end = time.monotonic() + patience
        while number not in self._answers:
            try:
                self._take(self._inbox.get(timeout=max(0.0, end - time.monotonic())))
            except (queue.Empty, EOFError):
                raise Silent(f"no answer; it said {self.errors[-2000:]!r}") from None
        return self._answers.pop(number)

    def megabytes(self) -> float:
        """The resident memory of the server and of its helpers (Linux)."""
        return sum(_resident(one) for one in family(self.process.pid)) / MEASURE

    def end(self) -> int:
        """End it as the protocol wants; the exit code."""
        self.answer(self.ask("shutdown", None))
        self.tell("exit", None)
        code = self.process.wait(PATIENCE)
        self.kill()
        return code

    def kill(self) -> None:
        """End the process, whatever it does, and everything that was for it."""
        self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    def _take(self, message: Any) -> None:
        if message is None:
            raise EOFError
        if "method" not in message:
            if isinstance(message.get("id"), int):
                self._answers[message["id"]] = message
            return
        self.said[message["method"]] += 1
        if "id" in message:
            self.write(framed({"jsonrpc": "2.0", "id": message["id"], "result": {"applied": True}}))
        elif message["method"] == "textDocument/publishDiagnostics":
            params = message["params"]
            self.published[params["uri"]] = (params.get("version"), params["diagnostics"])

    def _read(self) -> None:
        assert self.process.stdout is not None
        while True:
            length = 0
            while line := self.process.stdout.readline().strip():
                name, _, value = line.partition(b":")
                length = int(value) if name == b"Content-Length" else length
            if not length:
                self._inbox.put(None)
                return
            self._inbox.put(json.loads(self.process.stdout.read(length)))

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors += line


def framed(message: Any) -> bytes:
    """A message, or bytes in its place, with its header."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def family(pid: int) -> list[int]:
    """A process and all below it (Linux)."""
    found = [pid]
    for one in found:
        for thread in Path(f"/proc/{one}/task").glob("*/children"):
            found += map(int, thread.read_text().split())
    return found


def states(pid: int) -> list[str]:
    """The states of a process and of all below it: `Z` is one that has ended and that nobody has asked about."""
    return [Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[0] for one in family(pid)]


def _resident(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
