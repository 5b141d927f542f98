"""Faults at every step of writing, and whatever a file may be or become meanwhile."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from autodetach.disk import temporary, write
from autodetach.disk.write import Replacement, WriteError, obstacle, replace_bytes, replace_together, write_result

ROOT = Path(__file__).parent.parent.parent
OLD, NEW = b"old\n", b"new\n"
PROGRAM = (
    "import torch\nnet = torch.nn.Linear(2, 2)\nopt = torch.optim.SGD(net.parameters(), 0.1)\ntotal = 0\n"
    "for x in range(3):\n    loss = net(torch.ones(2)).sum()\n    opt.zero_grad()\n    loss.backward()\n"
    "    opt.step()\n    total += loss\nprint(total)\n"
)
FIXED = PROGRAM.replace("total += loss", "total += loss.item()")
NOBODY = 65534
AS_ROOT = os.geteuid() == 0


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.py"
    path.write_bytes(OLD)
    return path


def run(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "autodetach", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_faults_before_every_call() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults", "--short"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    words = done.stdout.split()
    assert int(words[2]) > 200, "processes were killed"
    assert int(words[6].rstrip(";")) > 100, "errors were raised"


def test_a_file_with_several_names_is_left_alone(file: Path, tmp_path: Path) -> None:
    os.link(file, tmp_path / "b.py")
    with pytest.raises(WriteError, match=r"it has 2 names \(hard links\)"):
        replace_bytes(str(file), OLD, NEW)
    with pytest.raises(WriteError, match=r"it has 2 names \(hard links\)"):
        write_result(str(file), NEW)
    assert (obstacle(str(file)) or "").startswith("it has 2 names")
    assert file.read_bytes() == OLD
    assert file.stat().st_nlink == 2
    assert sorted(os.listdir(tmp_path)) == ["a.py", "b.py"]
    # What the message says to do, helps.
    subprocess.run("cp -p a.py c && mv c a.py", shell=True, cwd=tmp_path, check=True)
    replace_bytes(str(file), OLD, NEW)
    assert (file.read_bytes(), (tmp_path / "b.py").read_bytes()) == (NEW, OLD)


def test_links_through_links(file: Path, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "one.py").symlink_to("inner/two.py")
    (tmp_path / "inner" / "two.py").symlink_to(file)
    replace_bytes(str(tmp_path / "one.py"), OLD, NEW)
    assert file.read_bytes() == NEW
    assert (tmp_path / "one.py").is_symlink() and (tmp_path / "inner" / "two.py").is_symlink()


def test_links_that_lead_nowhere(tmp_path: Path) -> None:
    dangling, loop = tmp_path / "dangling", tmp_path / "loop"
    dangling.symlink_to("not_there.json")
    loop.symlink_to("loop")
    for link in (dangling, loop):
        with pytest.raises(WriteError, match="cannot write"):
            replace_bytes(str(link), OLD, NEW)
    write_result(str(dangling), NEW)
    assert dangling.is_symlink()
    assert (tmp_path / "not_there.json").read_bytes() == NEW
    assert obstacle(str(loop)) == "the symbolic links lead round in a circle"
    with pytest.raises(WriteError, match="lead round in a circle"):
        write_result(str(loop), NEW)
    assert loop.is_symlink()


@pytest.mark.parametrize("name", ["x" * 252 + ".py", "a\nb.py", os.fsdecode(b"inv\xff.py"), "-rf.py", "ä b'\".py"])
def test_names(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(OLD)
    replace_bytes(str(path), OLD, NEW)
    assert path.read_bytes() == NEW
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o1644, 0o666, 0o200])
def test_special_modes_stay_whatever_the_umask(file: Path, mode: int) -> None:
    file.chmod(mode)
    mode = stat.S_IMODE(file.stat().st_mode)
    before = os.umask(0o077)
    try:
        if os.access(file, os.R_OK):
            replace_bytes(str(file), OLD, NEW)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == mode


@pytest.mark.skipif(not AS_ROOT, reason="only root gives files away")
def test_the_owner_stays_also_where_folders_give_their_group(file: Path, tmp_path: Path) -> None:
    os.chown(tmp_path, 0, 12)
    tmp_path.chmod(0o2777)
    os.chown(file, 33, 44)
    replace_bytes(str(file), OLD, NEW)
    assert (file.stat().st_uid, file.stat().st_gid) == (33, 44)
    os.chown(file, 0, 0)
    replace_bytes(str(file), NEW, OLD)
    assert (file.stat().st_uid, file.stat().st_gid) == (0, 0)


def test_a_file_that_cannot_be_given_back_is_left_alone(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    real = os.stat

    def other_owner(path: str, **more: bool) -> os.stat_result:
        found = list(real(path, **more))
        found[5] += os.fspath(path) == str(file)
        return os.stat_result(found)

    monkeypatch.setattr(os, "chown", refuse)
    monkeypatch.setattr(os, "stat", other_owner)
    with pytest.raises(WriteError, match="belongs to a user or a group"):
        replace_bytes(str(file), OLD, NEW)
    assert file.read_bytes() == OLD
    assert os.listdir(file.parent) == ["a.py"]


@pytest.mark.skipif(sys.platform != "linux", reason="Python has these calls on Linux only")
def test_extended_attributes_stay(file: Path) -> None:
    try:
        os.setxattr(file, "user.note", b"keep")
    except OSError:
        pytest.skip("the file system has no extended attributes")
    replace_bytes(str(file), OLD, NEW)
    assert os.getxattr(file, "user.note") == b"keep"


@pytest.mark.skipif(sys.platform != "linux", reason="Python has these calls on Linux only")
def test_an_attribute_that_cannot_be_kept(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {str(file): {"system.posix_acl_access": b"x", "security.selinux": b"label"}}

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(temporary, "_attributes", lambda path: kept.get(path, {}))
    monkeypatch.setattr(os, "setxattr", refuse)
    with pytest.raises(WriteError, match=r"extended attribute system\.posix_acl_access could not be kept"):
        replace_bytes(str(file), OLD, NEW)
    del kept[str(file)]["system.posix_acl_access"]
    replace_bytes(str(file), OLD, NEW)
    assert file.read_bytes() == NEW


def test_all_or_none(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.py", "b.py", "c.py")]
    for path in paths:
        path.write_bytes(OLD)
    paths[2].write_bytes(b"theirs")
    with pytest.raises(WriteError, match="changed on disk") as caught:
        replace_together([Replacement(str(path), OLD, NEW) for path in paths])
    assert (caught.value.path, caught.value.replaced) == (str(paths[2]), ())
    assert [path.read_bytes() for path in paths] == [OLD, OLD, b"theirs"]
    assert len(os.listdir(tmp_path)) == 3


@pytest.mark.parametrize("also_back", [True, False])
def test_what_was_replaced_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, also_back: bool) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_bytes(OLD)
    second.write_bytes(OLD)
    real, calls = os.replace, []

    def replace(source: str, target: str) -> None:
        calls.append(target)
        if len(calls) == 2 or (len(calls) > 2 and not also_back):
            raise OSError(errno.EIO, "Input/output error")
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(WriteError, match="input/output error") as caught:
        replace_together([Replacement(str(path), OLD, NEW) for path in (first, second)])
    assert second.read_bytes() == OLD
    assert (first.read_bytes(), caught.value.replaced) == ((OLD, ()) if also_back else (NEW, (str(first),)))
    assert sorted(os.listdir(tmp_path)) == ["a.py", "b.py"]


def test_what_others_left_is_removed_and_what_they_use_is_not(file: Path, tmp_path: Path) -> None:
    left = tmp_path / ".autodetach-0123456789abcdef.tmp"
    left.write_bytes(b"half")
    used = tmp_path / ".autodetach-fedcba9876543210.tmp"
    others = [tmp_path / ".autodetach-notes.tmp", tmp_path / ".autodetach-0123456789abcdef.tmp.py"]
    for other in others:
        other.write_bytes(b"mine")
    (tmp_path / ".autodetach-00000000000000ff.tmp").symlink_to(others[0])
    with open(used, "wb") as held:
        temporary._lock(held.fileno())
        replace_bytes(str(file), OLD, NEW)
    assert not left.exists()
    assert used.exists() and all(other.read_bytes() == b"mine" for other in others)


def test_a_locked_file_is_waited_for(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with temporary.locked(str(file)) as held:
        assert held is not None
        monkeypatch.setattr(temporary, "_ATTEMPTS", 2)
        with pytest.raises(WriteError, match="another program has locked it"):
            replace_bytes(str(file), OLD, NEW)
    replace_bytes(str(file), OLD, NEW)
    assert file.read_bytes() == NEW


def test_a_file_that_has_become_so_already_is_no_conflict(file: Path) -> None:
    file.write_bytes(NEW)
    before = file.stat()
    replace_bytes(str(file), OLD, NEW)
    assert os.path.samestat(before, file.stat())


def test_a_file_that_is_replaced_meanwhile(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor that saves by renaming, between our last look and now."""
    real = temporary.locked

    def locked(path: str) -> object:
        held = real(path)
        opened = held.__enter__()
        theirs = file.with_name("theirs")
        theirs.write_bytes(OLD)
        theirs.replace(file)

        class Held:
            def __enter__(self) -> object:
                return opened

            def __exit__(self, *_: object) -> None:
                held.__exit__(None, None, None)

        return Held()

    monkeypatch.setattr(write, "locked", locked)
    with pytest.raises(WriteError, match="changed on disk"):
        replace_bytes(str(file), OLD, NEW)
    assert file.read_bytes() == OLD


@pytest.mark.parametrize("save", ["replace", "truncate"])
def test_an_editor_that_saves_all_the_time(file: Path, save: str) -> None:
    """What the editor has saved last is there, or what was made of it; nothing is mixed."""
    ended = threading.Event()
    contents = [b"%d\n" % number * 2000 for number in range(200)]
    problems: list[str] = []

    def edit() -> None:
        for content in contents:
            if save == "replace":
                other = file.with_name("other")
                other.write_bytes(content)
                other.replace(file)
            else:
                file.write_bytes(content)
            time.sleep(0.001)
        ended.set()

    editor = threading.Thread(target=edit)
    editor.start()
    while not ended.is_set():
        try:
            read = file.read_bytes()
            if read in contents:
                replace_bytes(str(file), read, read + b"fixed\n")
                found = file.read_bytes()
                if save == "replace" and found not in contents and found.removesuffix(b"fixed\n") not in contents:
                    problems.append(repr(found[:40]))
        except WriteError as error:
            if "changed on disk" not in str(error):
                problems.append(str(error))
    editor.join()
    assert not problems
    assert file.read_bytes().removesuffix(b"fixed\n") == contents[-1]
    assert os.listdir(file.parent) == ["a.py"]


def test_two_at_once(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"a{number}.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "autodetach", "fix", "."]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    both = [subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE) for _ in range(2)]
    for one in both:
        _, said = one.communicate()
        assert one.returncode == 0 or (one.returncode == 2 and b"run again" in said), said
    assert {path.read_text() for path in tmp_path.iterdir()} == {FIXED}
    assert len(os.listdir(tmp_path)) == 6


def test_what_was_not_done_is_said_and_the_rest_is_done(tmp_path: Path) -> None:
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text(PROGRAM)
    os.link(tmp_path / "b.py", tmp_path / "hard.txt")
    done = run(tmp_path, "fix", ".")
    assert done.returncode == 2
    assert done.stderr.startswith("b.py: error: it has 2 names (hard links)")
    assert [(tmp_path / name).read_text() == FIXED for name in ("a.py", "b.py", "c.py")] == [True, False, True]


def test_a_repair_of_two_files_is_not_half_done(tmp_path: Path) -> None:
    project = ROOT / "fixtures" / "projects" / "two_packages" / "before"
    for path in project.rglob("*.py"):
        target = tmp_path / path.relative_to(project)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(path.read_text())
    (tmp_path / "train.py").write_text((tmp_path / "train.py").read_text() + PROGRAM)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.py")}
    assert run(tmp_path, "diff", "--unsafe-fixes", ".").stdout.count("+++ ") >= 1
    os.link(tmp_path / "train.py", tmp_path / "hard.txt")
    done = run(tmp_path, "fix", "--unsafe-fixes", ".")
    assert (done.returncode, "train.py: error: it has 2 names" in done.stderr) == (2, True)
    assert {path: path.read_bytes() for path in before} == before


AS_NOBODY = """
import os, sys, encodings.idna
from autodetach.disk.write import WriteError, replace_bytes
os.setgroups([]), os.setgid(65534), os.setuid(65534)
try:
    replace_bytes(sys.argv[1], b"old\\n", b"new\\n")
except WriteError as error:
    print(error)
"""


@pytest.mark.skipif(not AS_ROOT, reason="only root can become another user")
@pytest.mark.parametrize(
    ("mode_of_file", "mode_of_folder", "said"),
    [
        (0o444, 0o755, "no permission to write\n"),
        (0o644, 0o555, "cannot write: permission denied\n"),
        (0o644, 0o755, ""),
    ],
)
def test_without_rights(mode_of_file: int, mode_of_folder: int, said: str) -> None:
    # Folders of tests are for one user only.
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        place, path = Path(folder), Path(folder, "a.py")
        path.write_bytes(OLD)
        for one, mode in ((path, mode_of_file), (place, mode_of_folder)):
            os.chown(one, NOBODY, NOBODY)
            one.chmod(mode)
        command = [sys.executable, "-c", AS_NOBODY, str(path)]
        done = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
        )
        assert (done.stdout, done.stderr) == (said, "")
        assert path.read_bytes() == (OLD if said else NEW)
        assert os.listdir(place) == ["a.py"]


@pytest.mark.skipif(not AS_ROOT, reason="only root mounts file systems")
def test_a_disk_that_is_full(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        # No rights to mount in a container: an error of a full disk is raised in `tests.faults`, at every call.
        return
    try:
        (disk / "a.py").write_text(PROGRAM)
        (disk / "full").write_bytes(b"x" * (64 * 1024 - 4096))
        done = run(disk, "fix", "a.py")
        assert (done.returncode, done.stderr.splitlines()[0]) == (
            2,
            "a.py: error: cannot write: no space left on device",
        )
        assert (disk / "a.py").read_text() == PROGRAM
        assert sorted(os.listdir(disk)) == ["a.py", "full"]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
@pytest.mark.parametrize("writes", [("fix", "a.py"), ("check", "--write-baseline", "k.json", "a.py")], ids=" ".join)
def test_a_limit_of_the_size_of_files(tmp_path: Path, writes: tuple[str, ...]) -> None:
    import resource
    import signal

    (tmp_path / "a.py").write_text(PROGRAM)
    (tmp_path / "k.json").write_text("{}")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    done = subprocess.run(
        [sys.executable, "-B", "-m", "autodetach", *writes],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
    )
    assert (done.returncode, "cannot write: file too large" in done.stderr) == (2, True)
    assert (tmp_path / "a.py").read_text() == PROGRAM
    assert (tmp_path / "k.json").read_text() == "{}"
    assert sorted(os.listdir(tmp_path)) == ["a.py", "k.json"]


def test_a_report_keeps_what_it_is_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = tmp_path / "report.json"
    report.write_bytes(OLD)
    report.chmod(0o640)

    def no(path: str) -> Callable[[], None]:
        raise OSError(errno.EIO, "Input/output error")

    write_result(str(report), NEW)
    assert stat.S_IMODE(report.stat().st_mode) == 0o640
    monkeypatch.setattr(os, "stat", no)
    with pytest.raises(WriteError, match="input/output error"):
        write_result(str(report), b"more")
    monkeypatch.undo()
    assert report.read_bytes() == NEW
