"""A program under observation, until it ends."""

from __future__ import annotations

from typing import NoReturn

from autodetach.commands.request import UsageError
from autodetach.doctor import command
from autodetach.doctor.plot import PlotError
from autodetach.doctor.program import ProgramError, leave


def run(request: command.RunRequest) -> NoReturn:
    """Run a program, and end this process as it has ended. Raises, before it runs, UsageError and ConfigError."""
    if request.fix and request.diff:
        raise UsageError("--diff prints the repair, and --fix applies it; give one of them")
    try:
        ending = command.run(request)
    except (PlotError, ProgramError) as error:
        raise UsageError(str(error)) from None
    leave(ending)
