"""What is asked of a command, and how it ends: the arguments as typed, and the exit codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from autodetach.console import printable, say
from autodetach.disk.reasons import told
from autodetach.finding import Problem
from autodetach.named_tuples import NamedTuple
from autodetach.output import OutputError
from autodetach.perform import internal_error
from autodetach.report import OutputFormat
from autodetach.settings.config import ConfigError, Configuration, Overrides

CLEAN = 0
FINDINGS = 1
TROUBLE = 2
INTERRUPTED = 130

STDIN = "-"


class UsageError(Exception):
    """Arguments that do not go together; the text says how to call instead, in one line."""


class Request(NamedTuple):
    """The arguments of check, diff and fix, as typed."""

    paths: tuple[str, ...] = ()
    overrides: Overrides = Overrides()
    output_format: OutputFormat = OutputFormat.TEXT
    stdin_filename: str | None = None
    config: str | None = None
    isolated: bool = False
    jobs: int | None = None
    quiet: bool = False
    output_file: str | None = None
    statistics: bool = False
    exit_zero: bool = False
    exit_non_zero_on_fix: bool = False
    force_exclude: bool = False
    diff_base: str | None = None
    write_baseline: str | None = None
    add_ignore: bool = False
    reason: str | None = None
    interactive: bool = False
    no_cache: bool = False
    cache_dir: str | None = None

    @property
    def reads_stdin(self) -> bool:
        """Whether the one file to look at comes from standard input. Raises UsageError."""
        if STDIN in self.paths and len(self.paths) > 1:
            raise UsageError("`-` reads standard input and cannot be mixed with other paths")
        if self.stdin_filename is not None and self.paths not in ((), (STDIN,)):
            raise UsageError("--stdin-filename names what comes from standard input; give no other path than `-`")
        return self.paths == (STDIN,) or self.stdin_filename is not None

    def configuration(self, cwd: str) -> Configuration:
        """The settings, as they are seen from a folder. Raises UsageError and ConfigError."""
        if self.isolated and self.config is not None:
            raise UsageError("--isolated uses no configuration file, and --config names one; give one of them")
        return Configuration(cwd, self.overrides, self.config, isolated=self.isolated)


def exit_code_of(command: Callable[[], int]) -> int:
    """Run a command; what it cannot do becomes one line on standard error and TROUBLE, Ctrl-C becomes INTERRUPTED."""
    try:
        return command()
    except (ConfigError, UsageError, OutputError) as error:
        say(f"error: {printable(str(error))}")
    except OSError as error:
        say(f"error: {printable(told(error))}")
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        say(f"error: {printable(internal_error(error))}")
    return TROUBLE


def say_problems(problems: Iterable[Problem]) -> None:
    for problem in problems:
        say(line_of(problem))


def line_of(problem: Problem) -> str:
    """A problem in one line: its place, whether it is a warning or an error, and what it is."""
    kind = "warning" if problem.partial else "error"
    line = "" if problem.line is None else f":{problem.line}"
    cell = "" if problem.cell is None else f":cell {problem.cell}"
    return f"{printable(problem.path)}{cell}{line}: {kind}: {printable(problem.message)}"
