"""A program under `run` is the program that it is under `python`: what it sees, prints, and how it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from .program_runs import Ran, diagnoses, environment, run
from .warm import Warm

TOOL = ("-m", "autodetach", "run", "-q")
FAULT = "w = torch.ones(3, requires_grad=True)\ny = w.exp()\ny.sum().backward()\ny.sum().backward()\n"


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))


def both(python: Warm, folder: Path, *args: str, text: str = "") -> tuple[Ran, Ran]:
    """Plain, and under observation."""
    return python(*args, cwd=folder, text=text), python(*TOOL, *args, cwd=folder, text=text)


SEEN = """
import os, sys
print(sys.argv, os.getcwd(), __name__, __file__ if os.path.isabs(__file__) else os.path.abspath(__file__))
print(sys.path[0], __package__, __spec__ and __spec__.name, __builtins__.__name__, "__main__" in sys.modules)
import __main__
print(__main__.__dict__ is globals(), sys.modules["__main__"].__file__ == __file__)
"""


def test_what_a_script_sees(python: Warm, tmp_path: Path) -> None:
    write(tmp_path, "sub/seen.py", SEEN)
    plain = run([sys.executable, "sub/seen.py", "--epochs", "2", "-q"], tmp_path)
    observed = run([sys.executable, *TOOL, "sub/seen.py", "--epochs", "2", "-q"], tmp_path)
    assert (observed.code, observed.out) == (plain.code, plain.out)
    assert "not imported PyTorch" in observed.err


@pytest.mark.parametrize("target", ["package", "package.inner"])
def test_what_a_module_sees(target: str, tmp_path: Path) -> None:
    write(tmp_path, "package/__init__.py", "print('package')")
    write(tmp_path, "package/__main__.py", SEEN)
    write(tmp_path, "package/inner.py", "from . import other\n" + SEEN)
    write(tmp_path, "package/other.py", "")
    plain = run([sys.executable, "-m", target, "-x"], tmp_path)
    observed = run([sys.executable, *TOOL, "-m", target, "-x"], tmp_path)
    assert (observed.code, observed.out) == (plain.code, plain.out)


def test_what_a_folder_sees(tmp_path: Path) -> None:
    seen = SEEN.replace("__spec__ and __spec__.name", "1").replace("__package__", "1")
    write(tmp_path, "app/__main__.py", "import helper\n" + seen)
    write(tmp_path, "app/helper.py", "")
    plain = run([sys.executable, "app"], tmp_path)
    observed = run([sys.executable, *TOOL, "app"], tmp_path)
    assert observed.out.replace(f"{tmp_path}/app/", "app/") == plain.out.replace(f"{tmp_path}/app/", "app/")


def test_safe_path(tmp_path: Path) -> None:
    write(tmp_path, "json_of_mine.py", "")
    write(tmp_path, "script.py", "try:\n    import json_of_mine\nexcept ImportError:\n    print('safe')")
    if sys.version_info >= (3, 11):
        assert run([sys.executable, "-P", *TOOL, "script.py"], tmp_path).out == "safe\n"
    assert run([sys.executable, *TOOL, "script.py"], tmp_path).out == ""


ENDINGS = {
    "by its last line": "print(1)",
    "by a number": "import sys; sys.exit(3)",
    "by a great number": "import sys; sys.exit(259)",
    "by a negative number": "import sys; sys.exit(-1)",
    "by None": "import sys; sys.exit()",
    "by a text": "import sys; sys.exit('that was it')",
    "by an error": "import torch\ndef f(x):\n    return 1 / x\nf(0)",
    "by a chain of errors": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('é\\nx') from e",
    "by an error in a class of its own": "class Mine(Exception): pass\nraise Mine(1, 2)",
    "by a hook": "import sys\nsys.excepthook = lambda *a: print('hook', a[0].__name__, a[1])\nraise KeyError(1)",
    "with functions at exit": "import atexit\natexit.register(print, 1)\natexit.register(print, 2)\nprint('end')",
    "with a thread that goes on": (
        "import threading, time\n"
        "def late():\n    time.sleep(0.2)\n    print('late')\n"
        "threading.Thread(target=late).start()\nprint('end')"
    ),
    "with what was read": "import sys\nprint(sys.stdin.read().upper())\nprint(input is input)",
    "behind a guard": "if __name__ == '__main__':\n    print('main')",
    "after pickling": (
        "import pickle, dataclasses\n@dataclasses.dataclass\nclass Point:\n    x: int\n"
        "print(pickle.loads(pickle.dumps(Point(3))), Point.__module__)"
    ),
    "after inspecting": "import inspect\ndef f(): return 1\nprint(inspect.getsource(f), inspect.getmodule(f).__name__)",
}


@pytest.mark.parametrize("name", ENDINGS)
def test_how_it_ends(name: str, python: Warm, tmp_path: Path) -> None:
    write(tmp_path, "it.py", "import torch\n" + ENDINGS[name])
    plain, observed = both(python, tmp_path, "it.py", text="some text\n")
    assert (observed.code, observed.out) == (plain.code, plain.out)
    assert own_frames_removed(plain.err, tmp_path) == own_frames_removed(observed.err, tmp_path)


def own_frames_removed(text: str, folder: Path) -> str:
    """Without what runs the plain program (`runpy`), and with one spelling of its path."""
    text = re.sub(r'  File "[^"]*(?:runpy|warm)\.py", line .*\n(?:    .*\n)+|  File "<frozen runpy>".*\n', "", text)
    return text.replace(f"{folder}{os.sep}", "")


def test_the_traceback_of_autograd_is_pythons_own_but_for_the_note(python: Warm, tmp_path: Path) -> None:
    write(tmp_path, "it.py", "import torch\n" + FAULT)
    plain, observed = both(python, tmp_path, "it.py")
    assert observed.code == plain.code == 1
    expected = own_frames_removed(plain.err, tmp_path)
    assert expected.startswith("Traceback")
    traceback = own_frames_removed(observed.err, tmp_path)
    traceback = traceback[traceback.index("Traceback") :]
    assert traceback.startswith(expected.rstrip())


def test_an_error_that_the_program_catches(python: Warm, tmp_path: Path) -> None:
    caught = "except RuntimeError as e:\n    print(type(e), str(e)[:30])"
    write(tmp_path, "it.py", "import torch\ntry:\n" + textwrap.indent(FAULT, "    ") + caught)
    plain, observed = both(python, tmp_path, "it.py")
    assert (observed.code, observed.out) == (plain.code, plain.out)
    assert [each.kind for each in diagnoses(observed.err)] == ["freed graph"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_signal_ends_it(number: int, code: int, tmp_path: Path) -> None:
    write(tmp_path, "it.py", "import time\nprint('ready', flush=True)\ntime.sleep(60)")
    argv = [sys.executable, *TOOL, "it.py"]
    with subprocess.Popen(
        argv, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # what runs in the background ignores interrupts
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.1)
        process.send_signal(number)
        error = process.stderr.read()
        assert process.wait(30) == code
    assert ("KeyboardInterrupt" in error) == (number == signal.SIGINT)


def test_a_handler_of_the_program_is_asked(tmp_path: Path) -> None:
    write(
        tmp_path,
        "it.py",
        """
        import os, signal, sys
        signal.signal(signal.SIGINT, lambda *a: sys.exit(7))
        os.kill(os.getpid(), signal.SIGINT)
        """,
    )
    assert run([sys.executable, *TOOL, "it.py"], tmp_path).code == 7


@pytest.mark.parametrize("late", [False, True])
def test_the_import_of_pytorch(late: bool, tmp_path: Path) -> None:
    """In a process of its own: the others have imported it before."""
    head = "def load():\n    global torch\n    import torch\nload()\n" if late else "import torch\n"
    write(tmp_path, "it.py", head + FAULT)
    observed = run([sys.executable, *TOOL, "it.py"], tmp_path)
    assert observed.code == 1
    (said,) = diagnoses(observed.err)
    assert said.names == ("y",)


def test_a_broken_pytorch(tmp_path: Path) -> None:
    write(tmp_path, "torch/__init__.py", "raise ImportError('libc10.so: cannot open shared object file')")
    write(tmp_path, "it.py", "try:\n    import torch\nexcept ImportError as e:\n    print(e)")
    observed = run([sys.executable, *TOOL, "it.py"], tmp_path)
    assert (observed.code, observed.out) == (0, "libc10.so: cannot open shared object file\n")


def test_something_else_that_is_called_torch(tmp_path: Path) -> None:
    write(tmp_path, "torch.py", "version = 'none'")
    write(tmp_path, "it.py", "import torch\nprint(torch.version)")
    observed = run([sys.executable, *TOOL, "it.py"], tmp_path)
    assert (observed.code, observed.out) == (0, "none\n")
    assert "Traceback" not in observed.err


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children_are_observed(method: str, tmp_path: Path) -> None:
    write(
        tmp_path,
        "it.py",
        f"""
        import multiprocessing
        import torch

        def work(queue):
            w = torch.ones(3, requires_grad=True)
            y = w.exp()
            y.sum().backward()
            try:
                y.sum().backward()
            except RuntimeError as error:
                queue.put(type(error).__name__)

        if __name__ == "__main__":
            context = multiprocessing.get_context("{method}")
            queue = context.Queue()
            child = context.Process(target=work, args=(queue,))
            child.start()
            print(queue.get())
            child.join()
            print(child.exitcode)
        """,
    )
    observed = run([sys.executable, *TOOL, "it.py"], tmp_path)
    assert observed.out == "RuntimeError\n0\n", observed.err
    (said,) = diagnoses(observed.err)
    assert said.names == ("y",)


def test_what_cannot_be_started(python: Warm, tmp_path: Path) -> None:
    write(tmp_path, "broken.py", "def f(:\n")
    write(tmp_path, "empty/x.py", "")
    write(tmp_path, "deep.py", "x = " + "-" * 200_000 + "1\n")
    for args, text in (
        (("none.py",), "error: none.py: no such file or folder\n"),
        (("broken.py",), "broken.py (line 1)"),
        (("-m", "broken"), "error: -m broken (line 1): "),
        (("deep.py",), "error: deep.py: nested too deeply for Python to compile it\n"),
        (("-m", "deep"), "error: -m deep: nested too deeply for Python to compile it\n"),
        (("--fix", "--diff", "empty/x.py"), "error: --diff prints the repair, and --fix applies it; give one of them"),
        (("empty",), "a folder without a __main__.py"),
        (("-m", "no_such_package"), "-m no_such_package: no such module"),
    ):
        observed = python(*TOOL, *args, cwd=tmp_path)
        assert (observed.code, observed.out) == (2, "")
        assert text in observed.err and observed.err.count("\n") == 1


def test_a_program_in_a_folder_that_is_gone(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "")
    (tmp_path / "gone").mkdir()
    code = "import os, sys; os.rmdir(os.getcwd()); from autodetach.cli import main; main()"
    observed = run([sys.executable, "-c", code, "run", str(tmp_path / "a.py")], tmp_path / "gone")
    assert (observed.code, observed.out, observed.err) == (2, "", "error: the current folder is gone\n")


def test_a_package_that_raises_is_shown_as_python_shows_it(python: Warm, tmp_path: Path) -> None:
    write(tmp_path, "package/__init__.py", "raise RuntimeError('mine')\n")
    write(tmp_path, "package/inner.py", "")
    plain, observed = both(python, tmp_path, "-m", "package.inner")
    assert observed.code == plain.code == 1
    assert observed.err.splitlines()[-1] == plain.err.splitlines()[-1] == "RuntimeError: mine"
    assert "internal error" not in observed.err and "doctor" not in observed.err


UNKNOWN = "[tool.autodetach]\nunknown = 1\n"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ((), "inner/pyproject.toml: [tool.autodetach] unknown: unknown key"),
        (("--config", "none.toml"), "none.toml: cannot read"),
    ],
)
def test_a_wrong_setting_is_told_before_the_program_runs(
    python: Warm, tmp_path: Path, options: tuple[str, ...], text: str
) -> None:
    write(tmp_path, "inner/pyproject.toml", UNKNOWN)
    write(tmp_path, "inner/it.py", "print('it runs')\n")
    observed = python(*TOOL, *options, os.path.join("inner", "it.py"), cwd=tmp_path)
    assert (observed.code, observed.out) == (2, "")
    assert observed.err.startswith(f"error: {text}") and observed.err.count("\n") == 1


def test_a_wrong_setting_that_is_met_later_changes_no_ending(python: Warm, tmp_path: Path) -> None:
    write(tmp_path, "inner/pyproject.toml", UNKNOWN)
    write(tmp_path, "inner/part.py", "import torch\n" + FAULT)
    write(tmp_path, "it.py", "import sys\ntry:\n    import inner.part\nexcept RuntimeError:\n    sys.exit(7)\n")
    observed = python(*TOOL, "it.py", cwd=tmp_path)
    assert observed.code == 7
    assert "Traceback" not in observed.err
    assert "autodetach: inner/pyproject.toml: [tool.autodetach] unknown: unknown key" in observed.err


def test_so_many_steps_are_enough(python: Warm, tmp_path: Path) -> None:
    write(
        tmp_path,
        "it.py",
        """
        import torch
        w = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([w], lr=0.1)
        kept = []
        try:
            for i in range(1000):
                loss = w.exp().sum()
                loss.backward()
                optimizer.step()
                kept.append(loss)
                print(i)
        except Exception:
            print("caught")
        finally:
            print("left")
        """,
    )
    observed = python("-m", "autodetach", "run", "--trace", "--steps", "12", "it.py", cwd=tmp_path)
    assert (observed.code, observed.out.split()[-2:]) == (0, ["10", "left"])
    (said,) = diagnoses(observed.err)
    assert said.names == ("kept",)


def test_a_repair(python: Warm, tmp_path: Path) -> None:
    source = """
        import torch
        w = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([w], lr=0.1)
        total = 0
        for i in range(30):
            loss = w.exp().sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss
        print(float(total))
        """
    write(tmp_path, "it.py", source)
    plain = python("it.py", cwd=tmp_path)
    observed = python(*TOOL, "--trace", "--fix", "it.py", cwd=tmp_path)
    assert observed.out == plain.out
    assert re.search(r"total \+= loss\.(item|detach)\(\)", (tmp_path / "it.py").read_text())
    again = python(*TOOL, "--trace", "it.py", cwd=tmp_path)
    assert diagnoses(again.err) == []
