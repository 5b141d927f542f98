"""What is told of an error of the system: the file, and why, in the same words everywhere."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import pytest

import autodetach
from autodetach.disk.reasons import reason_of, told


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOENT, os.strerror(errno.ENOENT)), "no such file or folder"),
        (OSError(errno.EACCES, os.strerror(errno.EACCES), "a.py"), "permission denied"),
        (OSError(errno.EPERM, os.strerror(errno.EPERM)), "permission denied"),
        (OSError(errno.ELOOP, os.strerror(errno.ELOOP)), "the symbolic links lead round in a circle"),
        (OSError(errno.EISDIR, "Is a directory"), "is a directory"),
        (OSError("Only a text"), "only a text"),
        (ValueError("embedded null byte"), "embedded null byte"),
    ],
)
def test_reasons(error: OSError | ValueError, words: str) -> None:
    assert reason_of(error) == words


@pytest.mark.parametrize("name", ["a.py", b"a.py"])
def test_the_file_is_named(name: str | bytes) -> None:
    assert told(OSError(errno.ENOENT, "x", name)) == "a.py: no such file or folder"


@pytest.mark.parametrize("name", [None, "", 3])
def test_where_no_file_is_named(name: str | int | None) -> None:
    assert told(OSError(errno.ENOENT, "x", name)) == "no such file or folder", "the current folder is there"


def test_a_current_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(FileNotFoundError) as caught:
        os.getcwd()
    assert told(caught.value) == "the current folder is gone"
    assert told(OSError(errno.ENOENT, "x", "a.py")) == "a.py: no such file or folder"


def test_no_other_place_has_words_of_its_own() -> None:
    package = Path(autodetach.__file__).parent
    users = [path.name for path in package.rglob("*.py") if re.search(r"\bstrerror\b", path.read_text())]
    assert users == ["reasons.py"]
