"""Running a program as `python` itself would: its own `__main__`, arguments, folder, exit code and signals."""

from __future__ import annotations

import builtins
import contextlib
import importlib.machinery
import importlib.util
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import CodeType, ModuleType, TracebackType
from typing import NoReturn

from autodetach.disk.reasons import reason_of
from autodetach.doctor.enough import Enough

_HERE = os.path.dirname(os.path.abspath(__file__))


class ProgramError(Exception):
    """The program cannot be started; the text says why, in one line."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program that is ready to run: its `__main__`, its code, and what stands in front of `sys.path`."""

    module: ModuleType
    code: CodeType
    path_entry: str
    argv: tuple[str, ...]

    @property
    def file(self) -> str:
        """The file of its `__main__`."""
        return self.code.co_filename


def script(path: str, arguments: Sequence[str]) -> Program:
    """The program in a file. Raises ProgramError."""
    if os.path.isdir(path):
        inner = os.path.join(path, "__main__.py")
        if not os.path.isfile(inner):
            raise ProgramError(f"{path}: a folder without a __main__.py: name the script to run")
        return _of_file(inner, path, (path, *arguments), folder=os.path.abspath(path))
    return _of_file(path, path, (path, *arguments), folder=os.path.dirname(os.path.realpath(path)))


def module(name: str, arguments: Sequence[str]) -> Program:
    """The program that `python -m` runs. Raises ProgramError."""
    sys.path.insert(0, os.getcwd())
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise ProgramError(f"-m {name}: {error}") from None
    except Exception as error:  # of the package around it, which is run to find it
        _show(error)
        raise SystemExit(1) from None
    finally:
        del sys.path[0]
    if spec is None:
        raise ProgramError(f"-m {name}: no such module from here (a package needs a __main__.py to be run)")
    get_code = getattr(spec.loader, "get_code", None)
    with _faults_of(f"-m {name}"):
        code = get_code(spec.name) if get_code is not None else None
    if code is None or spec.origin is None:
        raise ProgramError(f"-m {name}: it has no Python code to run")
    main = _main(spec.origin)
    main.__spec__ = spec
    main.__loader__ = spec.loader
    main.__package__ = spec.parent
    return Program(main, code, os.getcwd(), (spec.origin, *arguments))


@dataclass(frozen=True, slots=True)
class Ending:
    """How a program ended: what the process is to exit with, and the error that nobody caught."""

    code: int
    error: BaseException | None = None
    enough: bool = False


def run(program: Program) -> Ending:
    """Run it to its end. What nobody catches is shown as `python` shows it."""
    sys.argv[:] = program.argv
    if not getattr(sys.flags, "safe_path", False):
        # What stood in front is the folder of this tool's own script.
        sys.path[0] = program.path_entry
    sys.modules["__main__"] = program.module
    try:
        exec(program.code, program.module.__dict__)
    except SystemExit as error:
        return Ending(exit_code(error))
    except Enough:
        return Ending(0, enough=True)
    except BaseException as error:
        _show(error)
        return Ending(130 if isinstance(error, KeyboardInterrupt) else 1, error)
    return Ending(0)


def leave(ending: Ending) -> NoReturn:
    """End this process as the program would have: on Ctrl-C by the signal, so that a shell sees it."""
    if isinstance(ending.error, KeyboardInterrupt) and os.name == "posix":
        _flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    sys.exit(ending.code)


def exit_code(error: SystemExit) -> int:
    """What `python` would exit with; a text is printed, as `python` does."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    print(error.code, file=sys.stderr)
    return 1


def _of_file(path: str, shown: str, argv: tuple[str, ...], folder: str) -> Program:
    absolute = os.path.abspath(path)
    with _faults_of(shown):
        with open(path, "rb") as file:
            source = file.read()
        code = compile(source, absolute, "exec", dont_inherit=True)
    main = _main(absolute)
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", absolute)
    return Program(main, code, folder, argv)


@contextlib.contextmanager
def _faults_of(shown: str) -> Iterator[None]:
    """Why no program comes of a file is a ProgramError, which calls it `shown`."""
    try:
        yield
    except OSError as error:
        raise ProgramError(f"{shown}: {reason_of(error)}") from None
    except SyntaxError as error:
        line = f" (line {error.lineno})" if error.lineno else ""
        raise ProgramError(f"{shown}{line}: {error.msg}") from None
    except (ImportError, ValueError) as error:
        raise ProgramError(f"{shown}: {error}") from None
    except (RecursionError, MemoryError):
        raise ProgramError(f"{shown}: nested too deeply for Python to compile it") from None


def _main(path: str) -> ModuleType:
    main = ModuleType("__main__")
    main.__file__ = path
    main.__dict__["__builtins__"] = builtins
    main.__dict__["__cached__"] = None
    return main


def _show(error: BaseException) -> None:
    """As `python` shows an uncaught error: by the hook that the program may have set, without frames of this tool."""
    trace = without_own(error.__traceback__)
    error.__traceback__ = trace
    _flush()
    try:
        sys.excepthook(type(error), error, trace)
    except BaseException as second:
        _show_failed_hook(error, second, trace)


def _flush() -> None:
    """What the program has printed goes out; it may have closed its streams, or taken them away."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()


def without_own(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames of this package, and without those that PyTorch has only on its account."""
    kept: list[TracebackType] = []
    while trace is not None:
        if os.path.dirname(trace.tb_frame.f_code.co_filename) != _HERE:
            kept.append(trace)
        elif _is_way_to_mode(kept, trace.tb_next):
            del kept[-2:]
        trace = trace.tb_next
    for each in reversed(kept):
        trace = TracebackType(trace, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return trace


def _is_way_to_mode(kept: list[TracebackType], below: TracebackType | None) -> bool:
    """Whether a function of PyTorch has called itself by way of a mode for functions."""
    if len(kept) < 2 or below is None:
        return False
    function, way = kept[-2].tb_frame.f_code, kept[-1].tb_frame.f_code
    return way.co_name == "handle_torch_function" and function is below.tb_frame.f_code


def _show_failed_hook(error: BaseException, second: BaseException, trace: TracebackType | None) -> None:
    print("Error in sys.excepthook:", file=sys.stderr)
    traceback.print_exception(type(second), second, second.__traceback__)
    print("\nOriginal exception was:", file=sys.stderr)
    traceback.print_exception(type(error), error, trace)
