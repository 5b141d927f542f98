"""The language server, until the editor leaves."""

from __future__ import annotations

from autodetach.commands.request import CLEAN, UsageError


def server(tcp: str | None, port: int | None) -> int:
    """Serve an editor until it leaves."""
    from autodetach.lsp.launch import LaunchError, address, serve

    try:
        serve(address(tcp, port))
    except LaunchError as error:
        raise UsageError(str(error)) from None
    return CLEAN
