"""Which files are looked at, and what is said of those that cannot be."""

from __future__ import annotations

import inspect
import io
import os
import sys
from pathlib import Path

import pytest

from autodetach.disk import files
from autodetach.disk.files import MAX_BYTES, FoundFiles, ReadError, find_files, read_bytes, read_stdin
from autodetach.settings.config import Configuration, Overrides


def make(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()


def find(root: Path, *paths: str, exclude: tuple[str, ...] = ()) -> FoundFiles:
    return find_files(paths or (".",), Configuration(str(root), Overrides(exclude=exclude)), str(root))


def shown(root: Path, *paths: str, exclude: tuple[str, ...] = ()) -> list[str]:
    found = find(root, *paths, exclude=exclude)
    assert not found.problems
    return [file.shown for file in found.files]


def problems(root: Path, *paths: str) -> list[str]:
    return [f"{problem.path}: {problem.message}" for problem in find(root, *paths).problems]


def test_a_folder_is_walked_in_order(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "a/z.py", "a/b/c.py", "a.py", "a/notes.txt", "a/stub.pyi", "a/nb.ipynb", "A.py")
    assert shown(tmp_path) == ["A.py", "a/b/c.py", "a/nb.ipynb", "a/z.py", "a.py", "b.py"]
    assert shown(tmp_path, "a") == ["a/b/c.py", "a/nb.ipynb", "a/z.py"]
    assert shown(tmp_path, str(tmp_path / "a")) == ["a/b/c.py", "a/nb.ipynb", "a/z.py"]


def test_paths_elsewhere_are_shown_whole(tmp_path: Path) -> None:
    make(tmp_path, "a/x.py", "b/y.py")
    found = find_files(["../b"], Configuration(str(tmp_path / "a"), Overrides()), str(tmp_path / "a"))
    assert [(file.path, file.shown) for file in found.files] == [(str(tmp_path / "b" / "y.py"),) * 2]


def test_paths_keep_their_order_and_each_file_comes_once(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "b/c.py")
    assert shown(tmp_path, "b", "a.py", ".", "./a.py", "b/../a.py") == ["b/c.py", "a.py"]


def test_a_named_file_is_taken_whatever_it_is_called(tmp_path: Path) -> None:
    make(tmp_path, "script", ".venv/x.py", "ignored.py")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    assert shown(tmp_path, "script", ".venv/x.py", "ignored.py") == ["script", ".venv/x.py", "ignored.py"]
    assert shown(tmp_path) == []


def test_exclude(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "gen/a.py", "x/gen/b.py", ".venv/c.py", "x/node_modules/d.py", "x/a_pb2.py")
    assert shown(tmp_path) == ["a.py", "gen/a.py", "x/a_pb2.py", "x/gen/b.py"]
    assert shown(tmp_path, exclude=("gen", "*_pb2.py")) == ["a.py"]
    assert shown(tmp_path, exclude=("./x/gen/*",)) == ["a.py", "gen/a.py", "x/a_pb2.py"]
    assert shown(tmp_path, ".venv") == [".venv/c.py"], "a folder that is named is walked"


def test_an_inner_configuration_excludes_too(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "in/a.py", "in/b.py")
    (tmp_path / "in" / "pyproject.toml").write_text('[tool.autodetach]\nexclude = ["a.py"]\n')
    assert shown(tmp_path) == ["a.py", "in/b.py"]


def test_gitignore_files_at_every_level(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "out/x.py", "sub/out/y.py", "sub/a.py", "sub/keep/z.py", "sub/b.py", "c.py")
    (tmp_path / ".gitignore").write_text("/out/\na.py\nsub/keep\n")
    (tmp_path / "sub" / ".gitignore").write_text("!a.py\nb.py\n")
    (tmp_path / ".git" / "info").mkdir(parents=True)
    (tmp_path / ".git" / "info" / "exclude").write_text("c.py\n")
    assert shown(tmp_path) == ["sub/a.py", "sub/out/y.py"]
    assert shown(tmp_path, "sub") == ["sub/a.py", "sub/out/y.py"], "the files above count, up to the repository"
    assert shown(tmp_path, "out") == ["out/x.py"], "a folder that is named is walked"


def test_without_a_repository_the_files_above_do_not_count(tmp_path: Path) -> None:
    make(tmp_path, "in/a.py")
    (tmp_path / ".gitignore").write_text("*\n")
    assert shown(tmp_path, "in") == ["in/a.py"]
    assert shown(tmp_path) == []


def test_links_to_folders_are_not_followed_and_loops_end(tmp_path: Path) -> None:
    make(tmp_path, "pkg/a.py", "data/big.py")
    (tmp_path / "pkg" / "loop").symlink_to("..")
    (tmp_path / "pkg" / "data.py").symlink_to("../data")
    assert shown(tmp_path, "pkg") == ["pkg/a.py"]
    assert shown(tmp_path, "pkg/loop/pkg", "pkg") == ["pkg/loop/pkg/a.py"]


def test_a_link_to_a_file_stands_for_it_unless_it_is_there_itself(tmp_path: Path) -> None:
    make(tmp_path, "b/real.py", "elsewhere/other.py")
    (tmp_path / "b" / "a_link.py").symlink_to("real.py")
    (tmp_path / "b" / "c_link.py").symlink_to("../elsewhere/other.py")
    (tmp_path / "b" / "d_link.py").symlink_to("../elsewhere/other.py")
    assert shown(tmp_path, "b") == ["b/c_link.py", "b/real.py"]


def test_links_that_lead_nowhere(tmp_path: Path) -> None:
    make(tmp_path, "a.py")
    (tmp_path / "gone.py").symlink_to("nothing.py")
    (tmp_path / ".#a.py").symlink_to("me@host.1234")
    (tmp_path / "round.py").symlink_to("round.py")
    assert sorted(problems(tmp_path)) == [
        "gone.py: a link to a file that is not there",
        "round.py: the symbolic links lead round in a circle",
    ]
    assert [file.shown for file in find(tmp_path).files] == ["a.py"]


def test_paths_that_cannot_be_found_do_not_stop_the_others(tmp_path: Path) -> None:
    make(tmp_path, "a.py")
    (tmp_path / "loop").symlink_to("loop")
    paths = ("gone.py", "loop", "", "a.py/x", "x" * 300, "nul\0", "a.py")
    *told, nul = problems(tmp_path, *paths)
    assert nul.startswith("nul\0: ")
    assert "embedded null" in nul
    assert told == [
        "gone.py: no such file or folder",
        "loop: the symbolic links lead round in a circle",
        '"": an empty path',
        "a.py/x: not a directory",
        f"{'x' * 300}: file name too long",
    ]
    assert [file.shown for file in find(tmp_path, *paths).files] == ["a.py"]


def test_a_folder_without_rights_does_not_stop_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a/x.py", "b/y.py", "c/z.py")
    real_scandir = os.scandir

    def scandir(path: str) -> object:
        if path.endswith("b"):
            raise PermissionError(13, "Permission denied")
        return real_scandir(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert problems(tmp_path) == ["b: cannot read the folder: permission denied"]
    assert [file.shown for file in find(tmp_path).files] == ["a/x.py", "c/z.py"]


def test_a_tree_deeper_than_the_stack(tmp_path: Path) -> None:
    deep = "d/" * 300 + "a.py"
    make(tmp_path, deep)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 150)
    try:
        assert shown(tmp_path) == [deep]
    finally:
        sys.setrecursionlimit(limit)


def test_special_files_in_a_folder_are_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    make(tmp_path, "folder.py/a.py")
    assert shown(tmp_path) == ["folder.py/a.py"]


def test_reading(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"\xff\r\n")
    assert read_bytes(str(tmp_path / "a.py")) == b"\xff\r\n"
    for path, message in [("gone.py", "no such file or folder"), (".", "is a directory")]:
        with pytest.raises(ReadError, match=message):
            read_bytes(str(tmp_path / path))


def test_a_file_without_rights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(ReadError, match=r"^permission denied$"):
        read_bytes(str(tmp_path / "a.py"))


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (MAX_BYTES, None),
        (MAX_BYTES + 1, "too large: 10.1 MB; limit 10 MB"),
        (2 * MAX_BYTES, "too large: 20 MB; limit 10 MB"),
    ],
)
def test_the_limit_of_size(tmp_path: Path, size: int, message: str | None) -> None:
    with open(tmp_path / "a.py", "wb") as file:
        file.truncate(size)
    if message is None:
        assert len(read_bytes(str(tmp_path / "a.py"))) == size
    else:
        with pytest.raises(ReadError, match=message):
            read_bytes(str(tmp_path / "a.py"))


@pytest.fixture
def _small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 4)


@pytest.mark.usefixtures("_small_limit")
def test_the_limit_holds_for_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1234")))
    assert read_stdin() == b"1234"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"12345")))
    with pytest.raises(ReadError, match="too large"):
        read_stdin()


@pytest.mark.usefixtures("_small_limit")
def test_a_notebook_may_be_larger_since_it_holds_pictures(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(b"12345")
    assert read_bytes(str(tmp_path / "a.ipynb")) == b"12345"
