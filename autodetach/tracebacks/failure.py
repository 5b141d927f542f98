"""An autograd error and the frames of its traceback, as plain data."""

from __future__ import annotations

import re
from dataclasses import dataclass

from autodetach.tracebacks.autograd_errors import ErrorKind


@dataclass(frozen=True, slots=True)
class Frame:
    """A line of a program that a traceback names.

    `path` is what the text calls the file; `line` counts from 1; `source` is the quoted line without blanks around it,
    empty if none is quoted, and `cut` says that its end is missing. `context` has quoted lines with their numbers.
    `is_cell`: the line is one of a notebook's cell, and `cell` its number in brackets, if that is known.
    """

    path: str
    line: int
    function: str = ""
    source: str = ""
    context: tuple[tuple[int, str], ...] = ()
    is_cell: bool = False
    cell: int | None = None
    cut: bool = False

    @property
    def is_library(self) -> bool:
        """Whether the file is Python's, PyTorch's or another installed package's."""
        return not self.is_cell and is_library(self.path)

    def quotes(self, line: str) -> bool:
        """Whether a line of source is the quoted one."""
        squeezed, quoted = " ".join(line.split()), " ".join(self.source.split())
        return squeezed.startswith(quoted) if self.cut else squeezed == quoted


@dataclass(frozen=True, slots=True)
class Failure:
    """An autograd error: its kind, the exception's name and words as the text has them, and the frames, innermost last.

    `forward` are the frames of the forward pass, which `torch.autograd.set_detect_anomaly` prints.
    """

    kind: ErrorKind
    exception: str
    message: str
    frames: tuple[Frame, ...]
    forward: tuple[Frame, ...] = ()

    @property
    def own_frames(self) -> tuple[Frame, ...]:
        """The frames in the user's files."""
        return tuple(frame for frame in self.frames if not frame.is_library)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text holds: the last autograd error with a traceback, and how many others there are."""

    failure: Failure
    others: int = 0


# Of the folders that an installation has, one is in every path; torch's own files are known where paths are shortened.
_INSTALLED = re.compile(
    r"(?:site|dist)-packages/"
    r"|/lib(?:64)?/python\d|/python[\d.]+/lib/|/python\d+/lib/|/anaconda\d?/lib/|/miniconda\d?/lib/"
    r"|^<(?:frozen|string|__array|decorator|attrs|eval|stdin|timed|magic|unknown)"
    r"|(?:^|/)torch/(?:_tensor|tensor|autograd|nn|optim|_dynamo|_compile|utils|distributed|cuda|amp|_functorch|overrides)"
    r"(?:\.py$|/)"
    r"|\.\.\./(?:torch/)?(?:_tensor\.py|autograd/)",
    re.IGNORECASE,
)


def is_library(path: str) -> bool:
    """Whether a path, with slashes or backslashes, is that of an installed module."""
    return _INSTALLED.search(path.replace("\\", "/")) is not None
