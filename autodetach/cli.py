"""The entry point: plain calls at once, everything else by way of typer."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

from autodetach import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# What the commands say too; they are loaded only where there is something to do.
PLAIN_COMMANDS = ("check", "diff", "fix")
INTERRUPTED = 130
OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""What is loaded at the start stays: to look through it again and again takes a tenth of the start."""
PLAIN_FLAGS = {"--force-exclude", "--isolated", "--no-cache", "--quiet", "-q", "--unsafe-fixes"}


def run() -> None:
    """As `main`, but plain calls end at once: to take apart all that was loaded lasts longer than to check a file."""
    status: object = 0
    try:
        main()
    except SystemExit as end:
        status = end.code
        # What was run may have something to do at its end, and so may a profiler.
        if not isinstance(status, int) or "autodetach.app" in sys.modules or sys.gettrace() or sys.getprofile():
            raise
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status if isinstance(status, int) else 0)


def _replace_closed_streams() -> None:
    """What a daemon was started without (`>&-`) leads nowhere, and makes no fault and no finding.

    In this order each gets the number of the stream that it stands for: no file that is opened later has it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - until the end


def main() -> None:
    """Run the command line and end the process with its exit code."""
    _replace_closed_streams()
    try:
        gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
        if sys.argv[1:] in (["--version"], ["-V"]):
            sys.stdout.write(f"autodetach {__version__}\n")
            return
        command = plain_command(sys.argv[1:])
        if command is not None:
            sys.exit(command())
        from autodetach.app import app

        app(prog_name="autodetach")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def plain_command(arguments: Sequence[str]) -> Callable[[], int] | None:
    """What to run for arguments that are a command, paths and simple flags; None for all that typer has to read.

    typer takes 90 ms to start, several times what it takes to check a file, and editors and commit hooks call often.
    """
    if not arguments or arguments[0] not in PLAIN_COMMANDS or "_AUTODETACH_COMPLETE" in os.environ:
        return None
    name, *rest = arguments
    flags = {argument for argument in rest if argument.startswith("-") and argument != "-"}
    if not flags <= PLAIN_FLAGS:
        return None
    from autodetach.commands.checking import COMMANDS
    from autodetach.commands.request import Request, exit_code_of
    from autodetach.settings.config import Overrides

    request = Request(
        paths=tuple(argument for argument in rest if argument not in flags),
        overrides=Overrides(unsafe_fixes=True if "--unsafe-fixes" in flags else None),
        quiet=not flags.isdisjoint({"--quiet", "-q"}),
        isolated="--isolated" in flags,
        force_exclude="--force-exclude" in flags,
        no_cache="--no-cache" in flags,
    )
    return lambda: exit_code_of(lambda: COMMANDS[name](request))
