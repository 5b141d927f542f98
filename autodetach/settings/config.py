"""Settings: `[tool.autodetach]` of the nearest pyproject.toml of each file, and what the command line says over it."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NoReturn

from autodetach.checks import CheckOptions
from autodetach.disk.globs import PathPatterns
from autodetach.disk.reasons import reason_of
from autodetach.named_tuples import NamedTuple

FILE_NAME = "pyproject.toml"
DEFAULT_EXCLUDE = (
    ".autodetach_cache",
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".git-rewrite",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pants.d",
    ".pyenv",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    ".vscode",
    "__pycache__",
    "__pypackages__",
    "_build",
    "buck-out",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)
SUFFIXES = (".py", ".ipynb")
DEFAULT_INCLUDE = tuple(f"*{suffix}" for suffix in SUFFIXES)
PREFERENCES = ("item", "detach", "retain", "sum")


class ConfigError(Exception):
    """A setting that cannot be used; the text names the file (or the option) and the key, and is one line."""


class Overrides(NamedTuple):
    """What the command line says; None, or empty, where it says nothing. `exclude` adds to the configured one."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    unsafe_fixes: bool | None = None
    baseline: str | None = None


class Settings(NamedTuple):
    """The settings for the files of one folder; `codes` is None where all rules are on.

    `include` is None where a walk takes what has one of SUFFIXES, `baseline` and `cache_dir` are absolute paths.
    """

    codes: frozenset[str] | None
    exclude: tuple[PathPatterns, ...]
    per_file_ignores: tuple[tuple[PathPatterns, frozenset[str]], ...]
    unsafe_fixes: bool
    prefer_accumulate: Literal["item", "detach"]
    prefer_shared: Literal["retain", "sum"]
    include: PathPatterns | None = None
    baseline: str | None = None
    cache_dir: str | None = None

    def excludes(self, path: str) -> bool:
        """Whether a walk leaves out the file or folder at the absolute posix `path`."""
        return any(patterns.match(path) for patterns in self.exclude)

    def options_for(self, path: str) -> CheckOptions:
        """How to check the file at the absolute posix `path`."""
        codes = self.codes
        for patterns, ignored in self.per_file_ignores:
            if patterns.match(path):
                codes = (_all_codes() if codes is None else codes) - ignored
        return CheckOptions(codes, self.prefer_accumulate, self.prefer_shared)


class _Table(NamedTuple):
    """`[tool.autodetach]` as it stands in a file, its types checked; `folder` is where its patterns start."""

    file: str = ""
    folder: str = ""
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = {}
    unsafe_fixes: bool = False
    prefer: tuple[str, ...] = ()
    include: tuple[str, ...] | None = None
    baseline: str | None = None
    cache_dir: str | None = None
    given: tuple[str, ...] = ()


class Resolved(NamedTuple):
    """A setting as it holds: its key, its value, and where that comes from; nowhere where it is the default."""

    key: str
    value: object
    origins: tuple[str, ...]


class Configuration:
    """Finds the settings that hold in a folder, and remembers them."""

    def __init__(self, cwd: str, overrides: Overrides, config: str | None = None, *, isolated: bool = False) -> None:
        """`config` is a file to use for all folders, its patterns relative to `cwd`. Raises ConfigError.

        If `isolated`, no file is looked for.
        """
        self._cwd = cwd
        self._overrides = overrides
        self._settings: dict[str, tuple[_Table, Settings]] = {}
        self._default = self._settled(_Table(folder=posix(cwd)))
        self._only = self._default if isolated else None
        if config is not None:
            self._only = self._settled(_required_table(config, posix(cwd)))

    def settings_for(self, folder: str) -> Settings:
        """The settings of the nearest pyproject.toml, at or above the absolute path `folder`, that has some.

        Raises ConfigError if they cannot be used.
        """
        return self._nearest(folder)[1]

    def resolved(self, folder: str) -> tuple[Resolved, ...]:
        """Every setting that holds in a folder, and where it comes from. Raises ConfigError."""
        table, settings = self._nearest(folder)
        over = self._overrides
        line = "command line"

        def one(key: str, value: object, *, overridden: bool = False, added: bool = False) -> Resolved:
            in_file = (table.file,) if key in table.given and not overridden else ()
            return Resolved(key, value, (*in_file, line) if overridden or added else in_file)

        ignore = over.ignore if over.select is not None else (*table.ignore, *over.ignore)
        prefer = [settings.prefer_accumulate, settings.prefer_shared]
        return (
            one("select", list(over.select or table.select or ("ALL",)), overridden=over.select is not None),
            one(
                "ignore",
                list(ignore),
                overridden=over.select is not None and bool(over.ignore),
                added=bool(over.ignore),
            ),
            one("include", list(table.include or DEFAULT_INCLUDE)),
            one("exclude", [*table.exclude, *over.exclude], added=bool(over.exclude)),
            one("extend-exclude", list(table.extend_exclude)),
            one("per-file-ignores", {glob: list(codes) for glob, codes in table.per_file_ignores.items()}),
            one("unsafe-fixes", settings.unsafe_fixes, overridden=over.unsafe_fixes is not None),
            one("prefer", prefer),
            one("baseline", settings.baseline, overridden=over.baseline is not None),
            one("cache-dir", settings.cache_dir),
        )

    def file_for(self, folder: str) -> str | None:
        """The file whose settings hold in a folder, as it is shown; None where there is none. Raises ConfigError."""
        return self._nearest(folder)[0].file or None

    def _nearest(self, folder: str) -> tuple[_Table, Settings]:
        if self._only is not None:
            return self._only
        climbed = []
        while folder not in self._settings:
            climbed.append(folder)
            table = _table_in(folder, self._cwd)
            parent = os.path.dirname(folder)
            if table is not None:
                self._settings[folder] = self._settled(table)
            elif parent == folder:
                self._settings[folder] = self._default
            else:
                folder = parent
        settings = self._settings[folder]
        self._settings.update(dict.fromkeys(climbed, settings))
        return settings

    def _settled(self, table: _Table) -> tuple[_Table, Settings]:
        return table, self._settle(table)

    def _settle(self, table: _Table) -> Settings:
        overrides = self._overrides
        return Settings(
            codes=_enabled(table, overrides),
            exclude=(
                PathPatterns.of(table.exclude + table.extend_exclude, table.folder),
                PathPatterns.of(overrides.exclude, posix(self._cwd)),
            ),
            per_file_ignores=tuple(
                (PathPatterns.of([glob], table.folder), _ignored(table, glob)) for glob in table.per_file_ignores
            ),
            unsafe_fixes=table.unsafe_fixes if overrides.unsafe_fixes is None else overrides.unsafe_fixes,
            prefer_accumulate="detach" if "detach" in table.prefer else "item",
            prefer_shared="sum" if "sum" in table.prefer else "retain",
            include=None if table.include is None else PathPatterns.of(table.include, table.folder),
            baseline=self._baseline(table),
            cache_dir=table.cache_dir and os.path.abspath(os.path.join(table.folder, table.cache_dir)),
        )

    def _baseline(self, table: _Table) -> str | None:
        if self._overrides.baseline is not None:
            return os.path.abspath(os.path.join(self._cwd, self._overrides.baseline))
        return table.baseline and os.path.abspath(os.path.join(table.folder, table.baseline))


def posix(path: str) -> str:
    """An absolute path as patterns see it."""
    return path.replace(os.sep, "/") if os.sep != "/" else path


# The rules are needed only where somebody chooses among them, and reading them takes time that a start has little of.


def _all_codes() -> frozenset[str]:
    from autodetach.settings.selection import Layer, enabled_codes

    return enabled_codes([Layer()])


def _enabled(table: _Table, overrides: Overrides) -> frozenset[str] | None:
    if table.select is None and overrides.select is None and not (table.ignore or overrides.ignore):
        return None
    from autodetach.settings.selection import Layer, enabled_codes

    _known("--select", overrides.select or ())
    _known("--ignore", overrides.ignore)
    _known(f"{table.file}: [tool.autodetach] select", table.select or ())
    _known(f"{table.file}: [tool.autodetach] ignore", table.ignore)
    return enabled_codes([Layer(table.select, table.ignore), Layer(overrides.select, overrides.ignore)])


def _ignored(table: _Table, glob: str) -> frozenset[str]:
    return _known(f'{table.file}: [tool.autodetach] per-file-ignores."{glob}"', table.per_file_ignores[glob])


def _known(where: str, selectors: tuple[str, ...]) -> frozenset[str]:
    from autodetach.settings.selection import UnknownRule, codes_of

    try:
        return frozenset().union(*map(codes_of, selectors))
    except UnknownRule as error:
        raise ConfigError(f"{where}: {error}") from None


def _required_table(file: str, folder: str) -> _Table:
    table = _read_table(file, file, folder)
    if table is None:
        raise ConfigError(f"{file}: there is no [tool.autodetach] in it")
    return table


def _table_in(folder: str, cwd: str) -> _Table | None:
    file = os.path.join(folder, FILE_NAME)
    if not os.path.isfile(file):
        return None
    shown = os.path.relpath(file, cwd) if folder == cwd or folder.startswith(cwd + os.sep) else file
    return _read_table(file, shown, posix(folder))


def _read_table(file: str, shown: str, folder: str) -> _Table | None:
    try:
        with open(file, "rb") as stream:
            raw = stream.read()
    except OSError as error:
        raise ConfigError(f"{shown}: cannot read: {reason_of(error)}") from None
    # Most pyproject.toml files say nothing about us, and whether the rest of them is sound is not our business.
    if b"autodetach" not in raw:
        return None
    toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        document = toml.loads(raw.decode())
    except ValueError as error:
        raise ConfigError(f"{shown}: not valid TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{shown}: not valid TOML: nested too deeply") from None
    table = document.get("tool", {}).get("autodetach") if isinstance(document.get("tool", {}), dict) else None
    return None if table is None else _checked(table, shown, folder)


def _checked(table: object, shown: str, folder: str) -> _Table:
    def fail(key: str, what: str) -> NoReturn:
        raise ConfigError(f"{shown}: [tool.autodetach] {key}: {what}")

    if not isinstance(table, dict):
        raise ConfigError(f"{shown}: tool.autodetach must be a table")
    values: dict[str, Any] = {}
    for key, value in table.items():
        reader = _READERS.get(key)
        if reader is None:
            fail(key, f"unknown key{_suggestion(key, _READERS)}")
        try:
            values[key.replace("-", "_")] = reader(value)
        except ValueError as error:
            fail(key, str(error))
    return _Table(file=shown, folder=folder, given=tuple(table), **values)


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f'must be a list of strings, such as ["a", "b"], not {_toml_type(value)}')
    return tuple(value)


def _strings_by_glob(value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise ValueError(f'must be a table, such as {{"tests/*" = ["AD1"]}}, not {_toml_type(value)}')
    result = {}
    for glob, item in value.items():
        try:
            result[glob] = _strings(item)
        except ValueError as error:
            raise ValueError(f'"{glob}": {error}') from None
    return result


def _path(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(
            f'must be a path, such as "baseline.json", not {_toml_type(value) if value != "" else "empty"}'
        )
    if "\0" in value:
        raise ValueError("must be a path, and no path has a NUL in it")
    return value


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {_toml_type(value)}")
    return value


def _preferences(value: object) -> tuple[str, ...]:
    wanted = _strings([value] if isinstance(value, str) else value)
    for item in wanted:
        if item not in PREFERENCES:
            choices = ", ".join(f'"{choice}"' for choice in PREFERENCES)
            raise ValueError(f'"{item}" is none of {choices}{_suggestion(item, PREFERENCES)}')
    for pair in (PREFERENCES[:2], PREFERENCES[2:]):
        if set(pair) <= set(wanted):
            raise ValueError(f'"{pair[0]}" and "{pair[1]}" exclude each other')
    return wanted


_READERS: dict[str, Callable[[object], object]] = {
    "select": _strings,
    "ignore": _strings,
    "include": _strings,
    "exclude": _strings,
    "extend-exclude": _strings,
    "per-file-ignores": _strings_by_glob,
    "unsafe-fixes": _boolean,
    "prefer": _preferences,
    "baseline": _path,
    "cache-dir": _path,
}


def _toml_type(value: object) -> str:
    if isinstance(value, list):
        return "a list with " + next((_toml_type(item) for item in value if not isinstance(item, str)), "strings")
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", dict: "a table"}
    return names.get(type(value), "a date or time")


def _suggestion(text: str, choices: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(text, list(choices), n=1)
    return f"; did you mean `{near[0]}`?" if near else ""
