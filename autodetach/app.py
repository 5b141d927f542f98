"""The command line as typer reads it, with its help texts."""

from __future__ import annotations

from typing import Annotated

import typer

from autodetach import __version__
from autodetach.report import OutputFormat

app = typer.Typer(
    name="autodetach",
    help="""Find, explain and repair PyTorch autograd graphs that live too long or too short.

    A loss kept together with its graph fills the memory; a graph that is walked twice, or carried into the next pass of
    a loop, raises "Trying to backward through the graph a second time". Your program is read, never run.

    \b
    autodetach check train.py        what is wrong, with the story behind it
    autodetach diff src              what `fix` would change, as a patch
    autodetach fix src               change it
    autodetach rule                  which faults are known
    autodetach server                the same in an editor

    Settings are read from [tool.autodetach] in the nearest pyproject.toml.
    """,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
)

Paths = Annotated[
    list[str] | None,
    typer.Argument(metavar="PATHS", help="Files, folders, or - for standard input. [default: .]", show_default=False),
]
Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select", metavar="RULES", help="Only these rules: codes (AD101), prefixes (AD1) or names, with commas."
    ),
]
Ignore = Annotated[
    list[str] | None, typer.Option("--ignore", metavar="RULES", help="Not these rules: codes, prefixes or names.")
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude", metavar="GLOBS", help="Files and folders that a walk leaves out, besides the configured ones."
    ),
]
UnsafeFixes = Annotated[
    bool | None,
    typer.Option(
        "--unsafe-fixes/--no-unsafe-fixes",
        help="Also fixes that rest on an assumption or may change how parameters are updated.",
        show_default=False,
    ),
]
Format = Annotated[OutputFormat, typer.Option("--output-format", help="How findings are printed.")]
StdinFilename = Annotated[
    str | None,
    typer.Option("--stdin-filename", metavar="PATH", help="What standard input is called in messages and settings."),
]
Config = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="Use [tool.autodetach] of this TOML file and of no other."),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", metavar="N", min=1, help="Processes at most. [default: one a processor]")
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Neither read nor write the cache.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors, and nothing else.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        from autodetach.console import put

        put(f"autodetach {__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    pass


def _add(name: str, summary: str, text: str) -> None:
    """Add one of the commands that look at files; they take the same arguments."""

    def command(
        paths: Paths = None,
        select: Select = None,
        ignore: Ignore = None,
        exclude: Exclude = None,
        unsafe_fixes: UnsafeFixes = None,
        output_format: Format = OutputFormat.TEXT,
        stdin_filename: StdinFilename = None,
        config: Config = None,
        jobs: Jobs = None,
        no_cache: NoCache = False,
        quiet: Quiet = False,
    ) -> None:
        from autodetach.commands import COMMANDS, Request, exit_code_of
        from autodetach.config import Overrides

        request = Request(
            paths=tuple(paths or ()),
            overrides=Overrides(_split(select) if select else None, _split(ignore), _split(exclude), unsafe_fixes),
            output_format=output_format,
            stdin_filename=stdin_filename,
            config=config,
            jobs=jobs,
            quiet=quiet,
        )
        raise typer.Exit(exit_code_of(lambda: COMMANDS[name](request)))

    app.command(name, short_help=summary, help=text)(command)


_add(
    "check",
    "Print what is wrong, and why.",
    """Print what is wrong, each finding with the story of how it comes about. No file is changed.

    \b
    autodetach check                                 every .py file below the current folder
    autodetach check train.py models                 a file and a folder
    autodetach check --select AD1,AD201 .            some rules only
    autodetach check --output-format json .          for another program
    autodetach check - --stdin-filename a.py < a.py  standard input

    Exit code: 0 nothing found, 1 something found, 2 wrong use or a file that could not be read.
    """,
)
_add(
    "diff",
    "Print what `fix` would change, as a patch.",
    """Print what `fix` would change, as a patch on standard output; the reasons go to standard error.

    \b
    autodetach diff src                              look
    autodetach diff src | git apply                  apply, as `autodetach fix src` would
    autodetach diff --unsafe-fixes src > fixes.patch

    The output is a patch whatever --output-format says. Exit code: 0 nothing found, 1 something found, 2 wrong use or a
    file that could not be read.
    """,
)
_add(
    "fix",
    "Repair what can be repaired, in place.",
    """Repair what can be repaired, in place, and print what is left.

    \b
    autodetach fix src                               safe fixes
    autodetach fix --unsafe-fixes src                all fixes
    autodetach fix - < train.py > fixed.py           from standard input to standard output

    A fix is safe if it rests on no assumption and every parameter is updated as before, or, in a program that raised,
    as it would have been. Exit code: 0 nothing is left, 1 something is left, 2 wrong use or a file that could not be
    read or written.
    """,
)


@app.command("rule", short_help="Explain a rule, or list all.")
def _rule(
    rule: Annotated[
        str | None, typer.Argument(metavar="CODE", help="Such as AD101, or a name.", show_default=False)
    ] = None,
) -> None:
    """Explain a rule: what it does, why it is bad, an example, when its fix is safe. Without CODE, list all rules."""
    from autodetach import commands

    raise typer.Exit(commands.exit_code_of(lambda: commands.rule(rule)))


@app.command("server", short_help="Serve an editor: the language server.")
def _server(
    tcp: Annotated[
        str | None,
        typer.Option("--tcp", metavar="HOST:PORT", help="Listen there, on this machine only.", show_default=False),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="PORT", min=1, max=65535, help="The same as --tcp 127.0.0.1:PORT."),
    ] = None,
    stdio: Annotated[
        bool, typer.Option("--stdio", help="Speak on standard input and output, which is the default.")
    ] = False,
) -> None:
    """Serve an editor: diagnostics with their stories, fixes as code actions, also in notebooks.

    \b
    pip install "autodetach[lsp]"    what it needs
    autodetach server                speaks LSP on standard input and output; editors start it themselves

    Settings are those of the command line: [tool.autodetach] in the nearest pyproject.toml.
    """
    from autodetach import commands

    raise typer.Exit(commands.exit_code_of(lambda: commands.server(tcp, None if stdio else port)))


def _split(values: list[str] | None) -> tuple[str, ...]:
    """Options may be repeated, and each may hold several values with commas between."""
    items = tuple(item.strip() for value in values or () for item in value.split(","))
    return tuple(item for item in items if item) or items[:1]
