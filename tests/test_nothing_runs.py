"""No code of the project that is looked at is run, no module is imported from it, and nothing is sent anywhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bombs import ROOT, Project, lay, outside, pythons_own

SCRIPT = "import sys; from autodetach.cli import main; sys.argv[0] = 'autodetach'; main()"

COMMANDS = [
    ("check", "."),
    ("check", "--output-format", "sarif", "train0.py"),
    ("diff", "train0.py"),
    ("fix", "train0.py"),
    ("check", "--add-ignore", "train0.py"),
    ("check", "--write-baseline", "known.json", "train0.py"),
    ("explain", "error.txt"),
    ("config", "."),
    ("rule", "AD101"),
]
TRACEBACK = """Traceback (most recent call last):
  File "train0.py", line 10, in <module>
    loss.backward()
RuntimeError: Trying to backward through the graph a second time
"""


def run(project: Project, *arguments: str, module: bool = True) -> subprocess.CompletedProcess[str]:
    environment = project.environment()
    if module:
        command = [sys.executable, "-m", "autodetach", *arguments]
    else:
        # As the script that pip installs: its own folder is first on the path, and not the current one.
        script = project.spy / "script.py"
        script.write_text(SCRIPT)
        command = [sys.executable, str(script), *arguments]
    return subprocess.run(
        command, cwd=project.folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """For `python -m`, which has its own doings in the current folder."""
    return with_traceback(lay(tmp_path, spared=pythons_own()))


def with_traceback(project: Project) -> Project:
    (project.folder / "error.txt").write_text(TRACEBACK)
    return project


@pytest.mark.parametrize("module", [True, False], ids=["python -m", "script"])
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_no_trap_goes_off(tmp_path: Path, arguments: tuple[str, ...], module: bool) -> None:
    project = with_traceback(lay(tmp_path, spared=pythons_own() if module else ()))
    done = run(project, *arguments, module=module)
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    assert not project.exploded()
    assert not project.noted("exec")
    assert not project.noted("socket.")
    assert not project.noted("subprocess.")
    assert not project.noted("os.")
    assert not outside(project.noted("open"), project.folder, project.spy, ROOT)


def test_the_traps_are_armed(project: Project) -> None:
    """Else the test above would prove nothing."""
    command = [sys.executable, "-c", "open('/etc/hostname'); import json, helper, socket"]
    subprocess.run(command, cwd=project.folder, env=project.environment(), check=False, capture_output=True)
    assert "json" in project.exploded()
    assert "helper" in project.exploded()
    assert any(file.endswith("helper.py") or "helper" in file for file in project.noted("exec"))
    opened = outside(project.noted("open"), project.folder, project.spy, project.went_off, ROOT)
    assert opened == [os.path.realpath("/etc/hostname")]
    assert project.traps > 250


def test_processes_of_the_pool_look_nowhere_else(tmp_path: Path) -> None:
    project = lay(tmp_path, programs=20, spared=pythons_own())
    done = run(project, "check", "-j", "2", ".")
    assert done.returncode == 1, done.stderr
    assert done.stdout.count("AD101") == 20
    assert not project.exploded()


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_are_no_forks_look_nowhere_else(tmp_path: Path, method: str) -> None:
    project = lay(tmp_path, programs=20)
    (project.spy / "script.py").write_text(
        "import sys, multiprocessing\nfrom autodetach.cli import main\n"
        "if __name__ == '__main__':\n"
        f"    multiprocessing.set_start_method({method!r})\n    main()\n"
    )
    environment = project.environment()
    command = [sys.executable, str(project.spy / "script.py"), "check", "-j", "2", "."]
    done = subprocess.run(
        command, cwd=project.folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout.count("AD101") == 20, done.stderr
    assert not project.exploded()


def test_a_server_in_an_editor_runs_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "lsp"))
    from lsp_client import Client

    monkeypatch.chdir(project.folder)
    for name, value in project.environment().items():
        monkeypatch.setenv(name, value)
    file = project.folder / "train0.py"
    with Client(project.spy) as client:
        client.initialize(project.folder)
        client.open(file.as_uri(), file.read_text())
        assert [one["code"] for one in client.diagnostics(file.as_uri())] == ["AD101"]
        assert client.actions(
            file.as_uri(), {"start": {"line": 12, "character": 4}, "end": {"line": 12, "character": 9}}
        )
        client.stop()
    assert not project.exploded()
    # Asyncio's own pair of sockets, which wakes its loop, and the pipes between processes lead nowhere else.
    assert all("listener" in what for what in project.noted("socket.connect"))
    assert not project.noted("socket.getaddrinfo")
    assert all("sock" in what or "listener" in what for what in project.noted("socket.bind"))


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_git_runs_no_program_of_the_repository(project: Project) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
        subprocess.run(["git", *identity, *arguments], cwd=project.folder, check=True, capture_output=True)

    git("init", "-q")
    git("add", "train0.py")
    git("commit", "-qm", "x")
    bomb = project.went_off.parent / "bomb.sh"
    bomb.write_text(f"#!/bin/sh\ntouch {project.went_off}/$1\ncat\n")
    bomb.chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "diff.x.textconv", "diff.x.command", "core.pager", "core.editor"):
        git("config", key, f"{bomb} {key}")
    hooks = project.folder / ".git" / "hooks"
    for hook in ("post-index-change", "fsmonitor-watchman", "pre-auto-gc"):
        (hooks / hook).write_text(f"#!/bin/sh\ntouch {project.went_off}/{hook}\n")
        (hooks / hook).chmod(0o755)
    (project.folder / ".gitattributes").write_text("*.py diff=x\n")
    os.utime(project.folder / "train0.py")
    done = run(project, "check", "--diff-base", "HEAD", "train0.py", module=False)
    assert done.returncode == 0, done.stderr
    assert not project.exploded()


def test_links_of_others_lead_nowhere(tmp_path: Path) -> None:
    project = lay(tmp_path)
    secret = tmp_path / "secret.py"
    secret.write_text((project.folder / "train0.py").read_text())
    (project.folder / "helper.py").unlink(missing_ok=True)
    shutil.rmtree(project.folder / "helper", ignore_errors=True)
    (project.folder / "helper.py").symlink_to(secret)
    (project.folder / "train9.py").symlink_to(secret)
    (project.folder / "train8.py").symlink_to("/dev/zero")
    (project.folder / "train7.py").symlink_to("/dev/stdin")
    (project.folder / ".gitignore").symlink_to("/dev/stdin")
    before = secret.read_bytes()
    done = run(project, "fix", ".", module=False)
    assert "train9.py: warning: a link that leads out of the folder and its repository" in done.stderr
    assert done.returncode == 0, done.stderr
    assert secret.read_bytes() == before
    assert str(secret) not in project.noted("open")
    named = run(project, "check", "train9.py", module=False)
    assert named.returncode == 1, "a file that is named is looked at, wherever it lies"


def test_a_baseline_of_others_is_no_device(tmp_path: Path) -> None:
    project = lay(tmp_path)
    (project.folder / "pyproject.toml").write_text('[tool.autodetach]\nbaseline = "/dev/zero"\n')
    done = run(project, "check", "train0.py", module=False)
    assert (done.returncode, done.stderr) == (2, "error: /dev/zero: not a baseline: it is no regular file\n")


@pytest.mark.parametrize("options", [(), ("-P",)] if sys.version_info >= (3, 11) else [()])
def test_a_program_that_is_run_has_the_path_that_it_always_has(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "program.py").write_text("import sys; print(sys.path)\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def printed(*arguments: str) -> str:
        command = [sys.executable, *options, *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    file = os.path.join("inner", "program.py")
    assert printed("-m", "autodetach", "run", file) == printed(file)
    if not options:
        assert printed("-m", "autodetach", "run", "-m", "inner.program") == printed("-m", "inner.program")
