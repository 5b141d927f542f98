"""Starting the server: on standard input and output, or, if asked, on a port of this machine."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import sys

from autodetach.console import printable
from autodetach.disk.reasons import reason_of

MAX_LINE = 1000
"""Characters of a line on standard error; some messages quote all that was sent."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
MISSING = 'the language server needs pygls 2: pip install "autodetach[lsp]"'


class LaunchError(Exception):
    """Why the server does not start, in one line."""


def address(tcp: str | None, port: int | None) -> tuple[str, int] | None:
    """Where to listen; None for standard input and output. Raises LaunchError."""
    if tcp is None:
        return None if port is None else (LOOPBACK[0], port)
    if port is not None:
        raise LaunchError("give --tcp or --port, not both")
    host, _, number = tcp.rpartition(":")
    host = host.strip("[]") or LOOPBACK[0]
    if not number.isdecimal() or not 0 < int(number) < 65536:
        raise LaunchError(f"--tcp takes HOST:PORT, not {tcp}")
    if host not in LOOPBACK:
        # Whoever can connect can have files of this machine read.
        raise LaunchError(f"the server listens on this machine only ({', '.join(LOOPBACK)}), not on {host}")
    return host, int(number)


def serve(where: tuple[str, int] | None) -> None:
    """Serve until the editor leaves. Raises LaunchError."""
    if not _has_pygls():
        raise LaunchError(MISSING)
    from autodetach.lsp.conversation import make_server

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine("autodetach: %(levelname)s: %(message)s"))
    logging.basicConfig(level=logging.ERROR, handlers=[handler])
    server = make_server()
    try:
        if where is None:
            server.start_io()
        else:
            with contextlib.suppress(KeyboardInterrupt):
                server.start_tcp(*where)
    except OSError as error:
        raise LaunchError(f"cannot listen: {reason_of(error)}") from None
    except MemoryError:
        raise LaunchError("a message is longer than the memory has room for") from None
    finally:
        server.end()


class _OneLine(logging.Formatter):
    """What an editor has sent may be wrong in any way: that is a line, and no traceback."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(logging.makeLogRecord({**record.__dict__, "exc_info": None, "exc_text": None}))
        # pygls puts some into the message itself.
        text = text.partition("Traceback (most recent call last)")[0]
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and str(error) not in text:
            text += f": {type(error).__name__}: {error}"
        return printable(" ".join(text.split()))[:MAX_LINE]


def _has_pygls() -> bool:
    try:
        # Version 1 has no such module.
        return importlib.util.find_spec("pygls.lsp.server") is not None
    except ModuleNotFoundError:
        return False
