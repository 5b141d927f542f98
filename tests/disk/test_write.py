"""Writing a fixed file: all or nothing, and never over somebody else's change."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from autodetach.disk.write import WriteError, obstacle, replace_bytes, write_result


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.py"
    path.write_bytes(b"old\r\n")
    return path


def test_the_bytes_are_replaced_and_nothing_is_left_behind(file: Path) -> None:
    replace_bytes(str(file), b"old\r\n", b"new\xe9\r\n")
    assert file.read_bytes() == b"new\xe9\r\n"
    assert os.listdir(file.parent) == ["a.py"]


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o640, 0o600])
def test_mode_bits_stay(file: Path, mode: int) -> None:
    file.chmod(mode)
    replace_bytes(str(file), b"old\r\n", b"new")
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_a_link_stays_a_link(file: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.py"
    link.symlink_to(Path("..") / "a.py")
    replace_bytes(str(link), b"old\r\n", b"new")
    assert os.readlink(link) == os.path.join("..", "a.py")
    assert file.read_bytes() == b"new"
    assert os.listdir(link.parent) == ["link.py"]


def test_a_file_that_changed_is_left_alone(file: Path) -> None:
    with pytest.raises(WriteError, match="changed on disk"):
        replace_bytes(str(file), b"what was analysed", b"new")
    assert file.read_bytes() == b"old\r\n"
    assert os.listdir(file.parent) == ["a.py"]


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="cannot write: no such file"):
        replace_bytes(str(tmp_path / "gone.py"), b"old", b"new")
    assert os.listdir(tmp_path) == []


def test_only_ordinary_files(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="not an ordinary file"):
        replace_bytes(str(tmp_path), b"", b"new")


def test_a_file_without_the_right_to_write(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    with pytest.raises(WriteError, match="no permission"):
        replace_bytes(str(file), b"old\r\n", b"new")
    assert file.read_bytes() == b"old\r\n"


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_half_way_leaves_the_old_file_and_no_other(
    file: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(WriteError if isinstance(error, OSError) else KeyboardInterrupt):
        replace_bytes(str(file), b"old\r\n", b"new")
    assert file.read_bytes() == b"old\r\n"
    assert os.listdir(file.parent) == ["a.py"]


def test_a_change_at_the_last_moment_is_seen(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_fsync = os.fsync

    def fsync_and_edit(handle: int) -> None:
        real_fsync(handle)
        file.write_bytes(b"theirs")

    monkeypatch.setattr(os, "fsync", fsync_and_edit)
    with pytest.raises(WriteError, match="changed on disk"):
        replace_bytes(str(file), b"old\r\n", b"new")
    assert file.read_bytes() == b"theirs"


def test_a_result_is_written_as_any_new_file(tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    beside.touch()
    path = tmp_path / "result.json"
    write_result(str(path), b"[]\n")
    assert path.read_bytes() == b"[]\n"
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(beside.stat().st_mode)
    assert sorted(os.listdir(tmp_path)) == ["beside", "result.json"]


def test_a_result_takes_the_place_of_another(file: Path, tmp_path: Path) -> None:
    file.chmod(0o600)
    link = tmp_path / "link"
    link.symlink_to("a.py")
    write_result(str(link), b"new")
    assert (os.readlink(link), file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == ("a.py", b"new", 0o600)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    assert obstacle(str(path)) is None
    write_result(str(path), b"result")
    assert os.read(reader, 100) == b"result"
    os.close(reader)
    assert os.listdir(tmp_path) == ["pipe"]


def test_half_a_result_is_none(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(WriteError, match="cannot write: no space left on device"):
        write_result(str(file), b"new")
    assert file.read_bytes() == b"old\r\n"
    assert os.listdir(file.parent) == ["a.py"]


def test_what_stands_in_the_way_of_a_result(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    gone = os.path.join("gone", "deep")
    assert obstacle(os.path.join(gone, "x.json")) == f"there is no folder {gone}"
    assert obstacle(os.path.join("a.py", "x.json")) == "a.py is no folder"
    assert obstacle(".") == "this is a folder"
    assert obstacle("new" + os.sep) is not None
    assert (obstacle("x.json"), obstacle("a.py"), obstacle(str(tmp_path / "x.json"))) == (None, None, None)
