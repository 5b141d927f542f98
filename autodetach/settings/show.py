"""The settings that hold somewhere, as a person and as a program read them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from autodetach.console import printable
from autodetach.settings.config import FILE_NAME, Resolved

WIDTH = 100


def as_text(place: str, file: str | None, settings: Sequence[Resolved], rules: Sequence[str]) -> str:
    """A table that pyproject.toml could hold, with a comment on each line that says where it comes from."""
    lines = [
        printable(f"# Settings for {place}, from {file or f'no file: no {FILE_NAME} above it has [tool.autodetach]'}."),
        f"# Rules that are on: {', '.join(rules) or 'none'}.",
        "[tool.autodetach]",
    ]
    for setting in settings:
        origin = printable(" and ".join(setting.origins)) or "default"
        value = _toml(setting.value)
        if setting.value is None:
            lines.append(f"# {setting.key} is not set")
        elif len(value) > WIDTH and isinstance(setting.value, list):
            lines += [f"{setting.key} = [  # {origin}", *(f"    {_toml(item)}," for item in setting.value), "]"]
        else:
            lines.append(f"{setting.key} = {value}  # {origin}")
    return "".join(f"{line}\n" for line in lines)


def as_json(place: str, file: str | None, settings: Sequence[Resolved], rules: Sequence[str]) -> str:
    """One object; `from` is a list of files and "command line", empty for a default."""
    document = {
        "path": place,
        "file": file,
        "rules": list(rules),
        "settings": {s.key: {"value": s.value, "from": list(s.origins)} for s in settings},
    }
    return json.dumps(document, indent=2) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        pairs = ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    # Strings and truth values are written alike in JSON and TOML.
    return json.dumps(value).replace("\x7f", "\\u007f")
