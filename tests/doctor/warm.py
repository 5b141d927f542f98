"""A process that has imported PyTorch once, and forks a child for every program: that saves seconds each.

The child is as good as a fresh `python`, but for modules that are loaded already; what depends on them needs a process
of its own (`program_runs.run`).
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from .program_runs import ROOT, Ran, environment, run

PRELOADED = "torch numpy torch.optim autodetach.app autodetach.cli autodetach.doctor.command autodetach.runner".split()
FUNCTIONAL = "torch.utils.checkpoint torch.func torch._dynamo libcst libcst.metadata autodetach.codemods".split()


class Warm:
    """Runs `python ARGS` in children of a warm process; without `os.fork`, in fresh ones."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[str] | None = None

    def __enter__(self) -> Warm:
        if hasattr(os, "fork"):
            argv = [sys.executable, "-W", "ignore", "-m", "tests.doctor.warm"]
            self._server = subprocess.Popen(
                argv, cwd=ROOT, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._server is not None:
            assert self._server.stdin is not None
            self._server.stdin.close()
            self._server.wait(30)

    def __call__(self, *args: str, cwd: Path, text: str = "") -> Ran:
        """Run a script or, behind `-m`, a module; `text` is its standard input."""
        server = self._server
        if server is None:
            return run([sys.executable, *args], cwd, text)
        assert server.stdin is not None and server.stdout is not None
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "in").write_text(text)
            server.stdin.write(json.dumps([args, str(cwd), folder]) + "\n")
            server.stdin.flush()
            code = int(server.stdout.readline())
            return Ran(code, Path(folder, "out").read_text(), Path(folder, "err").read_text())


def serve() -> None:
    """Read requests, one a line, and answer each with an exit code; a signal that ended the child is negative."""
    for name in (*PRELOADED, *FUNCTIONAL):
        __import__(name)
    for line in sys.stdin:
        args, cwd, folder = json.loads(line)
        child = os.fork()
        if not child:
            _child(args, cwd, folder)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _child(args: Sequence[str], cwd: str, folder: str) -> NoReturn:
    os.chdir(cwd)
    for number, name, flags in ((0, "in", os.O_RDONLY), (1, "out", os.O_WRONLY), (2, "err", os.O_WRONLY)):
        descriptor = os.open(os.path.join(folder, name), flags | os.O_CREAT, 0o600)
        os.dup2(descriptor, number)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", closefd=False, errors="backslashreplace", buffering=1)
    signal.alarm(170)
    code = _run(args)
    os._exit(code)


def _run(args: Sequence[str]) -> int:
    import atexit
    import runpy
    import threading
    import traceback

    del sys.modules["__main__"]
    code = 0
    try:
        if args[0] == "-m":
            sys.argv[:] = args[1:]
            sys.path[0] = os.getcwd()
            runpy.run_module(args[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv[:] = args
            sys.path[0] = os.path.dirname(os.path.abspath(args[0]))
            runpy.run_path(args[0], run_name="__main__")
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    with contextlib.suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(ValueError, OSError):
            stream.flush()
    return code & 0xFF


if __name__ == "__main__":
    serve()
