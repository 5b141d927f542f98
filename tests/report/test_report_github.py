"""GitHub annotations, read as the runner reads them.

The form of a command and its properties: docs.github.com, "Workflow commands for GitHub Actions", "Setting an error
message"; what is escaped, and that columns may only be given within one line: actions/toolkit, `packages/core`
(`command.ts`, and `AnnotationProperties` in `core.ts`).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from report_samples import ALL, ODD_NAME, PATHS, PROBLEMS

from autodetach.report import Located
from autodetach.report.github import render
from autodetach.report.paths import Paths

DOCUMENTED = {"title", "file", "line", "endLine", "col", "endColumn"}


class Command(NamedTuple):
    name: str
    properties: dict[str, str]
    message: str


def read(output: str) -> list[Command]:
    """What the runner makes of the lines: properties end at a comma, their list at two colons."""
    commands = []
    for line in output.splitlines():
        match = re.fullmatch(r"::(\w+) (.*?)::(.*)", line)
        assert match, line
        pairs = dict(pair.split("=", 1) for pair in match[2].split(","))
        assert set(pairs) <= DOCUMENTED
        properties = {key: data(value.replace("%3A", ":").replace("%2C", ",")) for key, value in pairs.items()}
        commands.append(Command(match[1], properties, data(match[3])))
    return commands


def data(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def commands_of(*findings: Located, paths: Paths = PATHS) -> list[Command]:
    return read(render(findings, (), paths))


def test_a_finding_with_its_story_and_its_fix() -> None:
    command = commands_of(*ALL)[0]
    assert command.name == "error"
    assert command.properties == {
        "title": "autodetach (AD101 accumulated-loss)",
        "file": ODD_NAME,
        "line": "2",
        "endLine": "2",
        "col": "11",
        "endColumn": "30",  # the last character that is marked
    }
    assert command.message.splitlines() == [
        f"{ODD_NAME}:2:11: AD101 `total` keeps 100% of <its> & graph",
        "   1. line 2: `loss` is made, in a loop",
        "   2. lib/helper.py:2: `y` is \\x1bkept",
        "   assumed: `f` returns a tensor",
        "   safe fix: take the number",
        "     2 - s = '𝄞é'; total = total + loss; t = '𝄞'; u = 1",
        "       + s = '𝄞é'; total = total + loss.item(); t = '𝄞'; u = 1",
        "   in lib/helper.py:",
        "     2 -     return y",
        "       +     y = 1",
        "       + return y",
        "   or unsafe: cut it (why unsafe: gradients change)",
    ]


def test_several_lines_have_no_columns() -> None:
    command = commands_of(ALL[1])[0]
    assert command.name == "warning"
    assert {key: command.properties.get(key) for key in ("line", "endLine", "col", "endColumn")} == {
        "line": "2",
        "endLine": "3",
        "col": None,
        "endColumn": None,
    }


def test_what_could_not_be_checked_is_an_annotation_too() -> None:
    assert read(render([], PROBLEMS, PATHS)) == [
        ("error", {"title": "autodetach", "file": "bad,1.py", "line": "3"}, "syntax error: <oops>"),
        ("warning", {"title": "autodetach", "file": "slow.py"}, "not along all paths"),
    ]


def test_paths_start_at_the_checkout() -> None:
    paths = Paths.of("/x", "/")
    assert [command.properties["file"] for command in commands_of(*ALL, paths=paths)][1:] == ["x/latin.py"] * 2
    assert read(render([], PROBLEMS, paths))[0].properties["file"] == "x/bad,1.py"


def test_one_line_a_command() -> None:
    assert len(render(ALL, PROBLEMS, PATHS).splitlines()) == len(ALL) + len(PROBLEMS)
    assert render([], (), PATHS) == ""
