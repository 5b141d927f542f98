"""Any bytes as settings: a pyproject.toml, a file for `--config`, a .gitignore."""

from __future__ import annotations

from autodetach.commands.checking import check
from autodetach.commands.request import Request
from autodetach.commands.showing import config
from autodetach.report import OutputFormat

from ..command import fair, folder, inside, run

SEEDS = (
    b'[tool.autodetach]\nselect = ["ALL"]\nignore = ["AD401"]\nextend-exclude = ["third_party"]\n',
    b'[tool.autodetach]\ninclude = ["*.py", "*.ipynb"]\nunsafe-fixes = false\nprefer = ["item", "retain"]\n',
    b'[tool.autodetach.per-file-ignores]\n"tests/*" = ["AD2", "accumulated-loss"]\n[tool.o]\nx = 1979-05-27\n',
    b'tool.autodetach = {baseline = "known.json", cache-dir = "../c"}\n',
    b"[tool]\nautodetach = 3\n# autodetach\n",
    b"*.py\n!a.py\n/build/\n**/x/**\n[a-z]*\n\\#x\n?[!b].py\n",
)
WORDS = tuple(
    rb"""
    [tool.autodetach] [[tool.autodetach]] [tool.autodetach.per-file-ignores] select ignore include exclude
    extend-exclude unsafe-fixes prefer baseline cache-dir = "ALL" "AD1" "AD101" "**/*.py" "[!a" "a\\"
    "*a*a*a*a*a*a*a*b" "\u0000" "\uD7FF" true 1 1.5 inf nan 1979-05-27 [ ] { } , . ''' "\"\"\"" # autodetach ""
    [[[[[[[[[[ "/" ".." "~" "." per-file-ignores "a.py" "known.json" "item" "detach" "/dev/null" "/dev/zero" "\n"
    "\r"
    """.split()
)


def one(raw: bytes) -> None:
    """Raises where a promise is broken."""
    place = folder() / "settings"
    place.mkdir(exist_ok=True)
    (place / "a.py").write_bytes(b"loss.data[0]\n")
    with inside(place):
        for name in ("pyproject.toml", "given.toml", ".gitignore"):
            (place / name).write_bytes(raw)
            given = name if name == "given.toml" else None
            fair(run(lambda given=given: check(Request(paths=(".",), config=given, no_cache=True, jobs=1))))  # type: ignore[misc]
            if name != ".gitignore":
                fair(run(lambda given=given: config(None, Request(config=given))))  # type: ignore[misc]
                as_json = Request(config=given, output_format=OutputFormat.JSON)
                fair(run(lambda as_json=as_json: config("a.py", as_json)))  # type: ignore[misc]
            (place / name).unlink()
