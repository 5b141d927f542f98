"""Starting the server: on standard input and output, or, if asked, on a port of this machine."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import sys

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
    from autodetach.lsp.server import make_server

    logging.basicConfig(stream=sys.stderr, level=logging.ERROR, format="autodetach: %(levelname)s: %(message)s")
    server = make_server()
    try:
        if where is None:
            server.start_io()
        else:
            with contextlib.suppress(KeyboardInterrupt):
                server.start_tcp(*where)
    except OSError as error:
        raise LaunchError(f"cannot listen: {error.strerror or error}") from None
    finally:
        server.end()


def _has_pygls() -> bool:
    try:
        # Version 1 has no such module.
        return importlib.util.find_spec("pygls.lsp.server") is not None
    except ModuleNotFoundError:
        return False
