"""The arguments and options of the commands that look at files, with their help texts."""

from __future__ import annotations

from typing import Annotated

import typer

from autodetach.report import OutputFormat


def rules(incomplete: str) -> list[tuple[str, str]]:
    """What a shell offers for a list of rules: codes and names for its last item."""
    from autodetach.settings.selection import RULES

    before, comma, begun = incomplete.rpartition(",")
    known = [(word, rule.summary) for rule in RULES for word in (rule.code, rule.name)]
    return [(f"{before}{comma}{word}", text) for word, text in known if word.lower().startswith(begun.lower())]


def rule_names(incomplete: str) -> list[tuple[str, str]]:
    return [] if "," in incomplete else rules(incomplete)


Paths = Annotated[
    list[str] | None,
    typer.Argument(metavar="PATHS", help="Files, folders, or - for standard input. [default: .]", show_default=False),
]
Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select",
        metavar="RULES",
        help="Only these rules: codes (AD101), prefixes (AD1) or names, with commas.",
        autocompletion=rules,
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="RULES", help="Not these rules: codes, prefixes or names.", autocompletion=rules),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude", metavar="GLOBS", help="Files and folders that a walk leaves out, besides the configured ones."
    ),
]
ForceExclude = Annotated[
    bool,
    typer.Option("--force-exclude", help="Leave out what is excluded even where it is named, as commit hooks do."),
]
Baseline = Annotated[
    str | None,
    typer.Option("--baseline", metavar="FILE", help="Leave out the findings that this file records."),
]
WriteBaseline = Annotated[
    str | None,
    typer.Option("--write-baseline", metavar="FILE", help="Record all findings in this file, for --baseline."),
]
DiffBase = Annotated[
    str | None,
    typer.Option(
        "--diff-base",
        metavar="REV",
        help="Only findings on lines changed since the branch left this git revision, uncommitted ones included.",
    ),
]
AddIgnore = Annotated[
    bool, typer.Option("--add-ignore", help="Write `# autodetach: ignore[CODE]` comments for all findings.")
]
Reason = Annotated[
    str | None, typer.Option("--reason", metavar="TEXT", help="What these comments say behind the code.")
]
Interactive = Annotated[
    bool, typer.Option("--interactive", "-i", help="Ask about every finding, and repair what you say yes to.")
]
UnsafeFixes = Annotated[
    bool | None,
    typer.Option(
        "--unsafe-fixes/--no-unsafe-fixes",
        help="Also fixes that rest on an assumption or may change how parameters are updated.",
        show_default=False,
    ),
]
Format = Annotated[
    OutputFormat,
    typer.Option(
        "--output-format",
        help="How findings are printed: for people (text, concise, grouped), for programs (json, json-lines, rdjson), "
        "for services (github, gitlab, sarif, junit).",
    ),
]
OutputFile = Annotated[
    str | None,
    typer.Option("--output-file", "-o", metavar="FILE", help="Write results to this file instead of standard output."),
]
Statistics = Annotated[
    bool,
    typer.Option("--statistics", help="Print how many findings there are of each rule (text, json) instead of them."),
]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 even if something is found.")]
ExitNonZeroOnFix = Annotated[
    bool, typer.Option("--exit-non-zero-on-fix", help="Exit with 1 if something was repaired, even if nothing is left.")
]
StdinFilename = Annotated[
    str | None,
    typer.Option("--stdin-filename", metavar="PATH", help="What standard input is called in messages and settings."),
]
Config = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="Use [tool.autodetach] of this TOML file and of no other."),
]
Isolated = Annotated[bool, typer.Option("--isolated", help="Use no configuration file, but the defaults.")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", metavar="N", min=1, help="Processes at most. [default: one a processor]")
]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Look at every file anew, and keep nothing for the next run.")
]
CacheDir = Annotated[
    str | None,
    typer.Option(
        "--cache-dir",
        metavar="FOLDER",
        envvar="AUTODETACH_CACHE_DIR",
        help="Where results are kept for the next run. [default: .autodetach_cache in the project]",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors, and nothing else.")]
