"""From the text of a log to the autograd error in it, and the frames of its traceback.

Nothing is opened here: the text comes from anybody, and what it says is only looked at line by line. The shapes are
those that Python (traceback.py, with the marks of 3.11 and the notes of PEP 678), IPython and Jupyter (ultratb.py of
5 to 9: `<ipython-input-3-0a1b> in f(x)`, `Input In [3], in f(x)`, `Cell In[3], line 5`, `File ~/a.py:12, in f(x)`),
pytest (_pytest/_code/code.py: long, short, line, native) and Rich (rich/traceback.py: boxes) print, bare or behind what
loggers and launchers put in front of each line (`autodetach.tracebacks.log_lines`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from autodetach.tracebacks.autograd_errors import ErrorKind, find_kind
from autodetach.tracebacks.failure import Failure, Frame, Reading
from autodetach.tracebacks.log_lines import log_lines, without_prefix

MAX_CONTEXT = 40
"""Lines of source that are kept of a frame."""
MAX_BEFORE = 200
"""Characters before the words of an error among which the name of its exception is looked for."""
MAX_MESSAGE = 2000
"""Characters that are kept of a message."""


def read(text: str) -> Reading | None:
    """The autograd error in a text; None if there is none."""
    return _Scanner(log_lines(text)).reading()


_HEADER = "Traceback (most recent call last)"
_FORWARD = "Traceback of forward call that caused the error"
_SECTION = re.compile(r"_{3,} .{1,300} _{3,}$|={3,} .{1,300} ={3,}$")
_PLAIN = re.compile(r'File "([^"]{1,2000})", line (\d{1,9})(?:, in (.*))?')
_CELL = re.compile(r"(?:Input|Cell) In ?\[(\d{1,9})\](?:, line (\d{1,9}))?(?:,? in (.*))?$")
_OLD_CELL = re.compile(r"<ipython-input-(\d{1,9})-[0-9a-zA-Z]{1,80}> in (.*)$")
_FILE = re.compile(r"File (?!\")([^\"\n]{1,2000}):(\d{1,9})(?:, in (.*))?$")
_OLD_FILE = re.compile(r"([^\s:][^\"\n:]{0,2000}\.pyx?|[A-Za-z]:[\\/][^\"\n:]{1,2000}\.pyx?) in ([^\s(]{1,300}\(.*\))$")
_NUMBERED = re.compile(r"[ \t]{0,9}(-{1,6}> ?)?(\d{1,9})(?: (.*))?$")
_LOCATION = re.compile(r"((?:[A-Za-z]:)?[^\s:\"][^:\"\n]{0,2000}\.pyx?):(\d{1,9}):(?: (.*))?$")
_BOXED = re.compile(r"([^\n\"]{1,2000}):(\d{1,9})(?: in(?: (.*))?)?$")
_BOXED_REST = re.compile(r"(\d{1,8}) in (.*)$")
_BOXED_LINE = re.compile(r" {0,9}([❱>] )? {0,9}(\d{1,9}) ?(.*)$")
_EXCEPTION = re.compile(r"([A-Za-z_][\w.]{0,200}(?:Error|Exception|Warning|Interrupt|Exit|Failure))(?::|$)")
_NAME = re.compile(r"([A-Za-z_][\w.]{0,200}(?:Error|Exception|Warning))\)?: ")
_MARKS = re.compile(r"\s*[~^]+[~^\s]*$")
_CELL_FILE = re.compile(
    r"/ipykernel_\d{1,12}/\d{1,20}\.py$|/ipython-input-(\d{1,9})-[\w-]{1,80}(?:\.py)?$|^<ipython-input-(\d{1,9})-"
)
_DIGITS = re.compile(r"\d")
_QUOTING = re.compile(r"[#\"'`(]")


@dataclass(slots=True)
class _Open:
    """A frame that is still being read."""

    path: str
    line: int
    function: str = ""
    source: str = ""
    context: list[tuple[int, str]] = field(default_factory=list)
    is_cell: bool = False
    cell: int | None = None
    numbered: bool = False
    cut: bool = False

    def closed(self) -> Frame:
        path = self.path.strip()
        found = None if self.is_cell else _CELL_FILE.search(path.replace("\\", "/"))
        number = self.cell if found is None else int(found[1] or found[2] or 0) or None
        return Frame(
            path,
            self.line,
            self.function,
            self.source,
            tuple(self.context),
            self.is_cell or found is not None,
            number,
            self.cut,
        )


@dataclass(slots=True)
class _Block:
    """Frames that belong together, and the autograd error below them. `ended`: the next frame is another block's."""

    frames: list[_Open] = field(default_factory=list)
    kind: ErrorKind | None = None
    exception: str = ""
    message: str = ""
    forward: list[_Open] = field(default_factory=list)
    is_forward: bool = False
    ended: bool = False

    def failure(self) -> Failure | None:
        frames = tuple(frame.closed() for frame in self.frames if frame.line)
        kind = self.kind
        if kind is None:
            return None
        if kind.needs and not any(kind.needs in frame.source for frame in frames[-1:]):
            return None
        forward = tuple(frame.closed() for frame in self.forward if frame.line)
        return Failure(kind, self.exception, self.message[:MAX_MESSAGE], frames, forward)


class _Scanner:
    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._block = _Block()
        self._blocks = [self._block]
        # What stood in front of the last `File "..."`, where its line of source is looked for.
        self._prefix = ""
        self._wants_source = False
        self._pytest_line = ""
        self._box, self._is_full = "", False

    def reading(self) -> Reading | None:
        for number, line in enumerate(self._lines):
            self._line(line, number)
        failures = [failure for block in self._blocks if (failure := block.failure()) is not None]
        if not failures:
            return None
        with_frames = [failure for failure in failures if failure.frames]
        own = [failure for failure in with_frames if failure.own_frames]
        good = own or with_frames or failures
        return Reading(good[-1], len(good) - 1 if good[-1].frames else 0)

    def _line(self, raw: str, number: int) -> None:
        line = without_prefix(raw)
        body = line.strip()
        if body[:1] in ("│", "┃") or (body[:2] == "| " and body[-2:] == " |"):
            self._in_box(body)
            return
        if _FORWARD in line:
            self._start(_Block(is_forward=True))
        elif _HEADER in line or (body[:1] in "_=" and _SECTION.match(body)):
            self._start(_Block())
        elif not (self._plain(line) or self._source(line) or self._ipython(line) or self._pytest(line, number)):
            self._error(line, number)

    def _start(self, block: _Block) -> None:
        before = self._block
        if before.is_forward:
            block.forward = before.frames
        elif not before.frames and before.kind is None:
            block.forward = before.forward
        self._block = block
        self._blocks.append(block)
        self._wants_source, self._pytest_line, self._box = False, "", ""

    def _add(self, frame: _Open) -> None:
        if self._block.ended:
            self._start(_Block())
        self._block.frames.append(frame)

    def _plain(self, line: str) -> bool:
        at = line.find('File "')
        found = _PLAIN.match(line, at) if at >= 0 else None
        if found is None:
            return False
        self._add(_Open(found[1], int(found[2]), _function(found[3])))
        self._prefix, self._wants_source = line[:at].rstrip(), True
        return True

    def _source(self, line: str) -> bool:
        """Whether the line is the source that is quoted below a frame."""
        if not self._wants_source:
            return False
        text = _behind(self._prefix, line)
        if _MARKS.match(text) or not text.strip():
            self._wants_source = bool(text.strip())
            return True
        self._wants_source = False
        if not text[:1].isspace() and (_EXCEPTION.match(text) or find_kind(text)):
            return False
        if "[Previous line repeated" in text:
            return True
        self._block.frames[-1].source = text.strip()
        return True

    def _ipython(self, line: str) -> bool:
        body = line.strip()
        if found := _CELL.match(body):
            self._add(
                _Open(f"In [{found[1]}]", int(found[2] or 0), _function(found[3]), is_cell=True, cell=int(found[1]))
            )
        elif found := _OLD_CELL.match(body):
            self._add(_Open(f"In [{found[1]}]", 0, _function(found[2]), is_cell=True, cell=int(found[1])))
        elif found := _FILE.match(body):
            self._add(_Open(found[1], int(found[2]), _function(found[3])))
        elif found := _OLD_FILE.match(body):
            self._add(_Open(found[1], 0, _function(found[2])))
        else:
            return self._numbered(line)
        self._block.frames[-1].numbered = True
        return True

    def _numbered(self, line: str) -> bool:
        """A line of source behind its number, with an arrow if it is the one."""
        frame = self._block.frames[-1] if self._block.frames and not self._block.ended else None
        if frame is None or not frame.numbered or not (found := _NUMBERED.match(line)):
            return False
        _quote(frame, int(found[2]), found[3] or "", is_it=found[1] is not None)
        return True

    def _pytest(self, line: str, number: int) -> bool:
        if line[:1] == ">" and line[1:2] in (" ", "\t"):
            self._pytest_line = line[1:].strip()
            return True
        if line[:2] == "E ":
            self._error(line[1:].strip(), number, ends=False)
            return True
        if not (found := _LOCATION.match(line.strip())):
            return False
        rest = found[3] or ""
        if rest and not rest.startswith("in ") and not _EXCEPTION.match(rest):
            return False
        is_inner = rest.startswith("in ")
        self._add(_Open(found[1], int(found[2]), _function(rest[3:]) if is_inner else ""))
        self._prefix, self._wants_source = "", is_inner
        if not is_inner:
            self._block.frames[-1].source, self._pytest_line = self._pytest_line, ""
        if rest and not is_inner:
            # Its message came before, or comes behind the name; either way it is the last frame.
            if find_kind(rest):
                self._error(rest, number)
            self._block.ended = True
        return True

    def _in_box(self, body: str) -> None:
        inner = body[1:-1] if body[-1:] == body[:1] else body[1:]
        text = inner.strip()
        frame = self._block.frames[-1] if self._block.frames else None
        if not text or text[0] in "╭╰│|+┏┗┃":
            self._box, self._is_full = "", False
        elif frame is not None and self._is_full and not frame.context and (found := _BOXED_REST.match(text)):
            # The number itself was broken where the box ends.
            frame.line = int(f"{frame.line}{found[1]}"[:9])
            frame.function, self._is_full = _function(found[2]), False
        elif frame is not None and not self._box and (found := _BOXED_LINE.match(inner.rstrip())):
            is_cut = not inner[-2:].isspace()
            _quote(frame, int(found[2]), found[3].lstrip("│| "), is_it=found[1] is not None, cut=is_cut)
        elif found := _BOXED.match(self._box + text):
            self._add(_Open(found[1], int(found[2]), _function(found[3])))
            self._box, self._is_full = "", found[3] is None and not inner[-2:].isspace()
        elif frame is not None and not frame.context and not frame.function and not self._box and _is_name(text):
            frame.function = _function(text.removeprefix("in "))
        else:
            # A long path goes on in the next line.
            self._box = (self._box + text)[:4000]

    def _error(self, line: str, number: int, *, ends: bool = True) -> None:
        text = line
        is_exception = _EXCEPTION.match(line.strip()) is not None
        if is_exception and number + 1 < len(self._lines):
            # Rich breaks its lines where the terminal ends.
            text = f"{line.rstrip()} {without_prefix(self._lines[number + 1]).strip()}"
        found = find_kind(text)
        if found is None:
            # A name of one in the source that pytest shows is indented.
            if is_exception and ends and self._block.frames and not line[:1].isspace():
                self._block.ended = True
            return
        kind, at = found
        names = list(_NAME.finditer(text, max(0, at - MAX_BEFORE), at))
        name = names[-1] if names else None
        if name is None or _QUOTING.search(text, 0, name.start()):
            # No exception's own line, but somebody's words on it: they count only if nothing else does.
            if self._block.kind is None and not self._block.frames:
                self._block.kind, self._block.message = kind, (text if name is None else text[name.end() :]).strip()
            return
        if self._block.ended:
            self._start(_Block())
        self._block.kind, self._block.exception = kind, name[1]
        self._block.message = text[name.end() :].strip()
        self._block.ended = ends


def _function(text: str | None) -> str:
    """The name of a function without its arguments; empty for the top of a file or a cell."""
    name = (text or "").partition("(")[0].strip()[:300]
    return "" if name.startswith(("<module", "<cell")) else name


def _is_name(text: str) -> bool:
    """Whether a line of a box is the rest of one that ended before, or behind, `in`."""
    return text.removeprefix("in ").replace("<", "").replace(">", "").isidentifier()


def _behind(prefix: str, line: str) -> str:
    """The rest of a line whose beginning is a log's; the next line may have another time in it."""
    if not prefix:
        return line
    head = line[: len(prefix)]
    return line[len(prefix) :] if _DIGITS.sub("0", head) == _DIGITS.sub("0", prefix) else line


def _quote(frame: _Open, line: int, text: str, *, is_it: bool, cut: bool = False) -> None:
    if len(frame.context) < MAX_CONTEXT:
        frame.context.append((line, text.strip()))
    if is_it:
        frame.line = frame.line or line
        if frame.line == line:
            frame.source, frame.cut = text.strip(), cut
