"""What `check` keeps for the next run: where, and how it is removed."""

from __future__ import annotations

import os

from autodetach.commands.request import CLEAN, Request
from autodetach.console import counted, printable, say
from autodetach.disk.files import below, relative
from autodetach.settings.config import Configuration


def clean(request: Request) -> int:
    """Remove what `check` keeps for the next run."""
    from autodetach.cache import clean as remove

    cwd = os.getcwd()
    folder = cache_folder(request, request.configuration(cwd), cwd)
    count = None if folder is None else remove(folder)
    if folder is not None and count is not None and not request.quiet:
        what = f"{counted(count, 'file')} from " if os.path.isdir(folder) else ""
        say(f"Removed {what}{printable(relative(folder, cwd))}.")
    return CLEAN


def cache_folder(request: Request, configuration: Configuration, cwd: str) -> str | None:
    """Where results are kept: as the command line, the environment or the settings say. Raises ConfigError.

    None where a link in the project, which somebody else may have made, leads out of it.
    """
    from autodetach.cache import FOLDER, home
    from autodetach.projects.imports import is_inside, project_root

    given = request.cache_dir or os.environ.get("AUTODETACH_CACHE_DIR")
    if given:
        return home(os.path.abspath(os.path.join(cwd, given)))
    project = project_root(cwd)
    folder = home(configuration.settings_for(cwd).cache_dir or os.path.join(project, FOLDER))
    leads_out = below(folder, project) != folder and not is_inside(project, folder)
    return None if leads_out else folder
