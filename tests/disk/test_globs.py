"""The globs of our own settings. What they share with `.gitignore` is held against git in test_gitignore."""

from __future__ import annotations

import pytest

from autodetach.disk.globs import PathPatterns, glob_regex


@pytest.mark.parametrize(
    ("glob", "meant", "not_meant"),
    [
        (".venv", ["/r/.venv", "/r/a/.venv"], ["/r/x.venv", "/r/.venv/a.py"]),
        ("*_pb2.py", ["/r/a_pb2.py", "/r/x/y/a_pb2.py"], ["/r/a_pb2.pyc"]),
        ("tests/*.py", ["/r/tests/a.py", "/r/tests/sub/a.py"], ["/r/x/tests/a.py"]),
        ("./docs/", ["/r/docs", "/r/a/docs"], ["/r/docs2"]),
        ("a/b", ["/r/a/b"], ["/r/b", "/r/x/a/b"]),
        ("**/gen/*.py", ["/r/gen/a.py", "/r/x/gen/a.py"], ["/r/xgen/a.py"]),
        ("/elsewhere/*", ["/elsewhere/a.py"], ["/r/elsewhere/a.py"]),
        ("a.py", ["/other/a.py"], ["/r/axpy"]),
        ("data[0-9]", ["/r/data1"], ["/r/data", "/r/datax"]),
    ],
)
def test_path_patterns(glob: str, meant: list[str], not_meant: list[str]) -> None:
    patterns = PathPatterns.of([glob], "/r")
    assert [path for path in meant + not_meant if patterns.match(path)] == meant


def test_the_root_folder_is_a_folder() -> None:
    assert PathPatterns.of(["a/b"], "/").match("/a/b")


def test_a_star_crosses_folders_only_when_asked() -> None:
    assert not glob_regex("tests/*.py").fullmatch("tests/a/b.py")
    assert glob_regex("tests/*.py", star_crosses_folders=True).fullmatch("tests/a/b.py")
