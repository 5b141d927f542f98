"""The reading of `.gitignore` files, held against git itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autodetach.disk.gitignore import is_ignored, parse

PATHS = ["a.py", "b.py", "a/a.py", "a/b.py", "a/b/a.py", "b/a.py", "b/a/b.py", "a b.py", "a-b.py", "!a.py", "#a.py"]


def is_left_out(files: dict[str, str], path: str, root: str = "/r") -> bool:
    """As a walk sees it: a path below an ignored folder is never reached."""
    parsed = [parse(text, f"{root}/{folder}".rstrip("/")) for folder, text in sorted(files.items())]
    parts = path.split("/")
    return any(
        is_ignored(parsed, f"{root}/{'/'.join(parts[: n + 1])}", is_folder=n + 1 < len(parts))
        for n in range(len(parts))
    )


@pytest.mark.parametrize(
    ("text", "left_out", "kept"),
    [
        ("build/\n", ["build/x.py", "a/build/x.py"], ["build.py", "builds/x.py"]),
        ("/build\n", ["build/x.py"], ["a/build/x.py"]),
        ("*.py\n!keep.py\n", ["a.py", "a/b.py"], ["keep.py", "a/keep.py"]),
        ("a/**/b.py\n", ["a/b.py", "a/x/b.py", "a/x/y/b.py"], ["b.py", "x/a/b.py"]),
        ("a/**\n", ["a/b.py", "a/x/b.py"], ["a", "b/a.py"]),
        ("**/x.py\n", ["x.py", "a/b/x.py"], ["ax.py"]),
        ("gen/*.py\n", ["gen/a.py"], ["gen/sub/a.py", "a/gen/a.py"]),
        ("# comment\n\n\\#real.py\n", ["#real.py"], ["comment", "# comment"]),
        ("trailing.py   \r\nkept\\ \n", ["trailing.py", "kept "], ["kept"]),
        ("[!a].py\nx[0-9].py\n", ["b.py", "x7.py"], ["a.py", "xa.py", "/.py"]),
        ("data\n!data/keep.py\n", ["data/keep.py"], []),
        ("unterminated[ab\n[z-a].py\nends\\\n", [], ["unterminateda", "z.py", "ends"]),
    ],
)
def test_one_file(text: str, left_out: list[str], kept: list[str]) -> None:
    assert [path for path in left_out + kept if is_left_out({"": text}, path)] == left_out


def test_the_inner_file_wins() -> None:
    files = {"": "*.py\n", "sub": "!*.py\nlocal.py\n"}
    assert is_left_out(files, "a.py")
    assert not is_left_out(files, "sub/a.py")
    assert is_left_out(files, "sub/local.py")


def test_a_path_elsewhere_is_not_its_business() -> None:
    assert not is_ignored([parse("*\n", "/r/a")], "/r/ab/x.py", is_folder=False)


LINE = st.text(alphabet="ab*?/!^[]-.\\ #py", max_size=8)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the oracle here")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(outer=st.lists(LINE, max_size=4), inner=st.lists(LINE, max_size=3))
def test_git_agrees(tmp_path: Path, outer: list[str], inner: list[str]) -> None:
    if not (tmp_path / ".git").exists():
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
        for path in PATHS:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).touch()
    files = {"": "\n".join(outer), "a": "\n".join(inner)}
    for folder, text in files.items():
        (tmp_path / folder / ".gitignore").write_text(text, encoding="utf-8", newline="")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--others", "--exclude-standard"], cwd=tmp_path, check=True, capture_output=True
    )
    kept = set(listed.stdout.decode().split("\0"))
    assert [path for path in PATHS if not is_left_out(files, path)] == [path for path in PATHS if path in kept]
