"""What there is to know of the rules and of the settings."""

from __future__ import annotations

import os

from autodetach.commands.request import CLEAN, TROUBLE, Request, UsageError
from autodetach.console import printable, put, say
from autodetach.disk.files import relative
from autodetach.report import OutputFormat
from autodetach.settings.config import posix


def rule(text: str | None) -> int:
    """Print the page of one rule, or a table of all."""
    from autodetach.settings.selection import RULES, UnknownRule, find_rule

    if text is not None:
        try:
            put(find_rule(text).page.rstrip() + "\n")
        except UnknownRule as error:
            say(f"error: {printable(str(error))}")
            return TROUBLE
        return CLEAN
    # The page has the whole paragraph on the safety of the fix; a table has room for its first sentence.
    known = ((r.code, r.name, r.summary, r.fix_safety.partition(". ")[0].removesuffix(".")) for r in RULES)
    rows = [("code", "name", "what it finds", "fix"), *sorted(known)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        put("  ".join((*cells, row[3])) + "\n")
    return CLEAN


def config(path: str | None, request: Request) -> int:
    """Print the settings that hold for a file or a folder, and where each comes from."""
    from autodetach.settings.selection import RULES
    from autodetach.settings.show import as_json, as_text

    if request.output_format not in (OutputFormat.TEXT, OutputFormat.JSON):
        raise UsageError(f"settings can be printed as text or json, not as {request.output_format.value}")
    cwd = os.getcwd()
    place = os.path.abspath(os.path.join(cwd, path or "."))
    is_folder = os.path.isdir(place)
    # A file need not be there: an editor may ask before it is saved.
    folder = place if is_folder else os.path.dirname(place)
    if not os.path.isdir(folder):
        raise UsageError(f"{path}: no such file or folder")
    configuration = request.configuration(cwd)
    settings = configuration.settings_for(folder)
    codes = settings.codes if is_folder else settings.options_for(posix(place)).codes
    rules = sorted(rule.code for rule in RULES if codes is None or rule.code in codes)
    show = as_json if request.output_format is OutputFormat.JSON else as_text
    put(show(relative(place, cwd), configuration.file_for(folder), configuration.resolved(folder), rules))
    return CLEAN
