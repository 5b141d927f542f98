"""The command line as typer reads it, with its help texts."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated

import typer

from autodetach import __version__
from autodetach.options import (
    AddIgnore,
    Baseline,
    CacheDir,
    Config,
    DiffBase,
    Exclude,
    ExitNonZeroOnFix,
    ExitZero,
    ForceExclude,
    Format,
    Ignore,
    Interactive,
    Isolated,
    Jobs,
    NoCache,
    OutputFile,
    Paths,
    Quiet,
    Reason,
    Select,
    Statistics,
    StdinFilename,
    UnsafeFixes,
    WriteBaseline,
    rule_names,
)
from autodetach.report import OutputFormat

if TYPE_CHECKING:
    from autodetach.settings.config import Overrides

app = typer.Typer(
    name="autodetach",
    help="""Find, explain and repair PyTorch autograd graphs that live too long or too short.

    A loss kept together with its graph fills the memory; a graph that is walked twice, or carried into the next pass of
    a loop, raises "Trying to backward through the graph a second time". Your program is read, and run only by
    `autodetach run`.

    \b
    autodetach check train.py        what is wrong, with the story behind it
    autodetach diff src              what `fix` would change, as a patch
    autodetach fix src               change it
    autodetach explain error.txt     what a traceback that PyTorch printed comes from
    autodetach rule                  which faults are known
    autodetach server                the same in an editor
    autodetach config                which settings hold here

    Each command has examples in its own --help. Settings are read from [tool.autodetach] in the nearest pyproject.toml.
    """,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
)


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


CHECK_ONLY = ("write_baseline", "add_ignore", "reason")


def _add(name: str, summary: str, text: str, without: tuple[str, ...] = ()) -> None:
    """Add one of the commands that look at files; they take the same arguments, but for some `without`."""

    def command(
        paths: Paths = None,
        select: Select = None,
        ignore: Ignore = None,
        exclude: Exclude = None,
        unsafe_fixes: UnsafeFixes = None,
        output_format: Format = OutputFormat.TEXT,
        stdin_filename: StdinFilename = None,
        config: Config = None,
        isolated: Isolated = False,
        jobs: Jobs = None,
        no_cache: NoCache = False,
        cache_dir: CacheDir = None,
        quiet: Quiet = False,
        output_file: OutputFile = None,
        statistics: Statistics = False,
        exit_zero: ExitZero = False,
        exit_non_zero_on_fix: ExitNonZeroOnFix = False,
        force_exclude: ForceExclude = False,
        baseline: Baseline = None,
        diff_base: DiffBase = None,
        write_baseline: WriteBaseline = None,
        add_ignore: AddIgnore = False,
        reason: Reason = None,
        interactive: Interactive = False,
    ) -> None:
        from autodetach.commands.checking import COMMANDS
        from autodetach.commands.request import Request, exit_code_of

        request = Request(
            paths=tuple(paths or ()),
            overrides=_overrides(select, ignore, exclude, unsafe_fixes, baseline),
            output_format=output_format,
            stdin_filename=stdin_filename,
            config=config,
            isolated=isolated,
            jobs=jobs,
            quiet=quiet,
            output_file=output_file,
            statistics=statistics,
            exit_zero=exit_zero,
            exit_non_zero_on_fix=exit_non_zero_on_fix,
            force_exclude=force_exclude,
            diff_base=diff_base,
            write_baseline=write_baseline,
            add_ignore=add_ignore,
            reason=reason,
            interactive=interactive,
            no_cache=no_cache,
            cache_dir=cache_dir,
        )
        raise typer.Exit(exit_code_of(lambda: COMMANDS[name](request)))

    # typer reads the options from the signature.
    signature = inspect.signature(command, eval_str=True)
    taken = [parameter for parameter in signature.parameters.values() if parameter.name not in without]
    command.__signature__ = signature.replace(parameters=taken)  # type: ignore[attr-defined]
    app.command(name, short_help=summary, help=text)(command)


_add(
    "check",
    "Print what is wrong, and why.",
    """Print what is wrong, each finding with the story of how it comes about. No file is changed.

    \b
    autodetach check                                 all Python files and notebooks below the current folder
    autodetach check train.py models                 a file and a folder
    autodetach check --select AD1,AD201 .            some rules only
    autodetach check --output-format json .          for another program
    autodetach check --output-format sarif -o autodetach.sarif
    autodetach check --statistics                    how often each rule finds something
    autodetach check - --stdin-filename a.py < a.py  standard input
    autodetach check --write-baseline known.json     record what is there today, and from now on
    autodetach check --baseline known.json           tell only what is new
    autodetach check --diff-base origin/main         tell only what this branch brings

    \b
    Comments silence what is right as it is; those that silence nothing are reported as AD901:
    # autodetach: ignore[AD101] why                  the statement before it; --add-ignore writes these
    # autodetach: off[AD101] why                     from this line to `# autodetach: on`, or to the block's end
    # autodetach: ignore-file[AD101] why             the file

    Exit code: 0 nothing found, 1 something found (0 with --exit-zero), 2 wrong use or a file that could not be read.
    """,
    without=("exit_non_zero_on_fix", "interactive"),
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
    without=("exit_non_zero_on_fix", "statistics", "interactive", "cache_dir", *CHECK_ONLY),
)
_add(
    "fix",
    "Repair what can be repaired, in place.",
    """Repair what can be repaired, in place, and print what is left.

    \b
    autodetach fix src                               safe fixes
    autodetach fix --unsafe-fixes src                all fixes
    autodetach fix -i src                            ask about each: yes, no, another repair, silence it, quit
    autodetach fix - < train.py > fixed.py           from standard input to standard output

    A fix is safe if it rests on no assumption and every parameter is updated as before, or, in a program that raised,
    as it would have been. Exit code: 0 nothing is left, 1 something is left (or, with --exit-non-zero-on-fix, was
    repaired), 2 wrong use or a file that could not be read or written.
    """,
    without=("cache_dir", *CHECK_ONLY),
)


@app.command("explain", short_help="Explain a traceback: the story behind it, and the patch.")
def _explain(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file with the traceback, or - for standard input.")
    ] = "-",
    only_diff: Annotated[
        bool, typer.Option("--diff", help="Print the patch, and nothing else, on standard output.")
    ] = False,
    unsafe_fixes: UnsafeFixes = None,
    output_format: Annotated[
        OutputFormat, typer.Option("--output-format", metavar="[text|json]", help="For a person, or for a program.")
    ] = OutputFormat.TEXT,
    output_file: OutputFile = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Explain an error that PyTorch's autograd raised: paste the traceback, and get the story behind it and the patch.

    \b
    python train.py 2>&1 | autodetach explain        what a program prints, straight from it
    autodetach explain                               paste, then press Enter and Ctrl-D (Windows: Ctrl-Z, Enter)
    autodetach explain error.txt                     a file: a saved traceback, or a whole log
    autodetach explain error.txt --diff | git apply  the repair alone; with --unsafe-fixes also one to be read first
    autodetach explain error.txt --output-format json

    \b
    Known are, in the words of all versions since 0.4:
    Trying to backward through the graph a second time
    one of the variables needed for gradient computation has been modified by an inplace operation
    element 0 of tensors does not require grad and does not have a grad_fn
    Can't call numpy() on Tensor that requires grad
    a leaf Variable that requires grad is being used in an in-place operation
    invalid index of a 0-dim tensor
    CUDA out of memory (which graphs grow with every pass?)
    'NoneType' object has no attribute ..., where the line says `.grad`

    The traceback may come from Python, IPython, Jupyter, pytest or Rich, with colours and with what a logger puts
    before each line; of several the last one counts. Call it from the folder of the program: files are read, never run.

    Exit code: 1 a finding explains the error, 0 no finding does (the text says what to do), 2 wrong use, or no such
    error in the text.
    """
    from autodetach.commands import explaining
    from autodetach.commands.request import Request, exit_code_of

    request = Request(
        overrides=_overrides(None, None, None, unsafe_fixes, None),
        output_format=output_format,
        config=config,
        quiet=quiet,
        output_file=output_file,
    )
    raise typer.Exit(exit_code_of(lambda: explaining.explain(file, request, only_diff=only_diff)))


@app.command(
    "run",
    short_help="Run a program, and name the tensor and the line when PyTorch will not.",
    context_settings={"allow_interspersed_args": False},
)
def _run(
    program: Annotated[
        list[str], typer.Argument(metavar="SCRIPT [ARGS]...", help="The script, and what it is called with.")
    ],
    is_module: Annotated[
        bool, typer.Option("-m", help="Run a module or package by its name, as `python -m` does.")
    ] = False,
    fix: Annotated[bool, typer.Option("--fix", help="Repair the files when the program has ended.")] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Print the repair as a patch, behind the program's output.")
    ] = False,
    unsafe_fixes: UnsafeFixes = None,
    steps: Annotated[
        int | None,
        typer.Option(
            "--steps", min=1, metavar="N", help="End the program after N optimizer steps.", show_default=False
        ),
    ] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Look at every pass and every operation, however much slower that is.")
    ] = False,
    plot: Annotated[
        str | None,
        typer.Option(
            "--plot", metavar="FILE", help="Draw what names hold, step by step: .png or .svg.", show_default=False
        ),
    ] = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Run a program unchanged, and watch what PyTorch's autograd does with it.

    \b
    autodetach run train.py --epochs 2           instead of: python train.py --epochs 2
    autodetach run -m package.train --epochs 2   instead of: python -m package.train --epochs 2
    autodetach run --steps 20 --fix train.py     twenty steps, then repair what was seen

    When a backward call fails, the name that carries the old graph is told, the line that built it, and the call that
    freed it, before PyTorch raises its error. At the end: which names hold more and more graph, and which
    `retain_graph=True` kept a graph for nothing. What has raised is repaired even where the repair is unsafe, since
    such a program did not train; all else only by safe fixes, unless --unsafe-fixes is given.

    Exit code: that of the program.
    """
    from autodetach.commands import running
    from autodetach.commands.request import exit_code_of
    from autodetach.doctor.command import RunRequest
    from autodetach.doctor.observer import Options

    request = RunRequest(
        program[0],
        tuple(program[1:]),
        is_module,
        fix,
        diff,
        Options(trace, steps),
        bool(unsafe_fixes),
        config,
        quiet,
        plot,
    )
    raise typer.Exit(exit_code_of(lambda: running.run(request)))


@app.command("clean", short_help="Remove what `check` keeps for the next run.")
def _clean(cache_dir: CacheDir = None, config: Config = None, quiet: Quiet = False) -> None:
    """Remove the results that `check` keeps for the next run: the folder .autodetach_cache of the project, or the one
    that --cache-dir, the environment variable AUTODETACH_CACHE_DIR or the setting `cache-dir` names.

    \b
    autodetach clean                                 the project of the current folder
    autodetach clean --cache-dir /tmp/autodetach     another place

    Only what autodetach has put there is removed. Exit code: 0, or 2 if it cannot be removed.
    """
    from autodetach.commands import keeping
    from autodetach.commands.request import Request, exit_code_of

    request = Request(cache_dir=cache_dir, config=config, quiet=quiet)
    raise typer.Exit(exit_code_of(lambda: keeping.clean(request)))


@app.command("config", short_help="Print the settings that hold, and where each comes from.")
def _config(
    path: Annotated[
        str | None, typer.Argument(metavar="PATH", help="A file or a folder. [default: .]", show_default=False)
    ] = None,
    select: Select = None,
    ignore: Ignore = None,
    exclude: Exclude = None,
    unsafe_fixes: UnsafeFixes = None,
    baseline: Baseline = None,
    config: Config = None,
    isolated: Isolated = False,
    output_format: Annotated[
        OutputFormat, typer.Option("--output-format", metavar="[text|json]", help="For a person, or for a program.")
    ] = OutputFormat.TEXT,
) -> None:
    """Print the settings that hold for a file or a folder, and where each comes from: a pyproject.toml, the command
    line, or nowhere (default).

    \b
    autodetach config                                the current folder
    autodetach config train.py --select AD1          a file, with options of `check`
    autodetach config --output-format json           for another program

    The output can stand in a pyproject.toml as it is. Exit code: 0, or 2 for settings that cannot be used.
    """
    from autodetach.commands import showing
    from autodetach.commands.request import Request, exit_code_of

    request = Request(
        overrides=_overrides(select, ignore, exclude, unsafe_fixes, baseline),
        config=config,
        isolated=isolated,
        output_format=output_format,
    )
    raise typer.Exit(exit_code_of(lambda: showing.config(path, request)))


@app.command("rule", short_help="Explain a rule, or list all.")
def _rule(
    rule: Annotated[
        str | None,
        typer.Argument(
            metavar="CODE", help="Such as AD101, or a name.", show_default=False, autocompletion=rule_names
        ),
    ] = None,
) -> None:
    """Explain a rule: what it does, why it is bad, an example, when its fix is safe. Without CODE, list all rules.

    \b
    autodetach rule                                  code, name and summary of each rule
    autodetach rule AD101
    autodetach rule accumulated-loss                 the same
    """
    from autodetach.commands import showing
    from autodetach.commands.request import exit_code_of

    raise typer.Exit(exit_code_of(lambda: showing.rule(rule)))


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
    from autodetach.commands import serving
    from autodetach.commands.request import exit_code_of

    raise typer.Exit(exit_code_of(lambda: serving.server(tcp, None if stdio else port)))


def _overrides(
    select: list[str] | None,
    ignore: list[str] | None,
    exclude: list[str] | None,
    unsafe_fixes: bool | None,
    baseline: str | None,
) -> Overrides:
    from autodetach.settings.config import Overrides

    chosen = _split(select) if select else None
    return Overrides(chosen, _split(ignore), _split(exclude), unsafe_fixes, baseline)


def _split(values: list[str] | None) -> tuple[str, ...]:
    """Options may be repeated, and each may hold several values with commas between."""
    items = tuple(item.strip() for value in values or () for item in value.split(","))
    return tuple(item for item in items if item) or items[:1]
