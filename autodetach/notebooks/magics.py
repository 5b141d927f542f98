"""What IPython allows in a cell beyond Python, line for line as Python of the same effect.

`%magic`, `%%magic`, `!command`, `name?` and their like are what IPython takes before Python sees a cell. Here each line
of a cell becomes a line of Python: itself, the statement behind `%time`, what reads the values that a command is given
(`!echo {loss.item()}`), or `pass` for what has nothing to do with tensors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from autodetach.notebooks.commands import COMMAND, RUN_APART, RUN_AS_THEY_ARE, is_expression, parses, parts, reading

NO_PYTHON = frozenset(
    "! HTML R SVG bash bigquery cmd cpp cython file fortran html javascript js julia latex manim markdown mermaid "
    "perl pybind11 pypy python python2 python3 ruby rust script sh shell skip sql svg sx system typescript writefile "
    "writetemplate".split()
)
"""Cell magics whose cells are text, another language, or the program of another process."""

_ESCAPES = tuple("%!?,;/")
_AUTOMAGIC = re.compile(r"\s*(?:apt|apt-get|cat|cd|conda|cp|ls|mamba|matplotlib|mkdir|mv|pip|rm|wget)\s+[-\w./~{$]")
NEWLINE = re.compile(r"\r\n|\r|\n")
_MARK = re.compile(r"'''|\"\"\"|['\"#()\[\]{}\\?=]")
_ANSWER = "get_ipython()"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a cell as Python.

    `kept`: it is the very line, and may be edited. Of others, columns from `at` on lie `shift` further right in the
    cell. `before` and `behind`: a new line may be put there.
    """

    text: str
    kept: bool = True
    at: int = 0
    shift: int = 0
    before: bool = True
    behind: bool = True


@dataclass(frozen=True, slots=True)
class PythonCell:
    """A cell as Python: a line for each of its own, and what has to stand above and below them."""

    lines: tuple[Line, ...]
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join((*self.above, *(line.text for line in self.lines), *self.below))


def as_python(text: str) -> PythonCell:
    """The cell as Python. It need not be valid: that is for the caller to find out."""
    lines = split_lines(text)
    first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    if first == len(lines):
        return PythonCell(tuple(map(Line, lines)))
    if lines[first].startswith("%%"):
        return _cell_magic(lines, first)
    indent = lines[first][: len(lines[first]) - len(lines[first].lstrip(" \t"))]
    if indent:  # IPython takes it away
        dedented = [line.removeprefix(indent) for line in lines]
        inner = _by_line(dedented)
        return PythonCell(
            tuple(
                _closed(line, shift=len(old) - len(new) + line.shift, at=0)
                for line, old, new in zip(inner, lines, dedented, strict=True)
            )
        )
    return PythonCell(tuple(_by_line(lines)))


def split_lines(text: str) -> list[str]:
    """Lines as Python counts them, without their newlines; behind the last newline there is one more."""
    return NEWLINE.split(text)


def _cell_magic(lines: Sequence[str], first: int) -> PythonCell:
    command = COMMAND.match(lines[first][2:])
    name = command["name"] if command else ""
    above = [Line(line, kept=False, before=False, behind=False) for line in lines[:first]]
    body = "\n".join(lines[first + 1 :])
    if name in RUN_AS_THEY_ARE:
        inner = as_python(body) if first + 1 < len(lines) else PythonCell(())
        return PythonCell((*above, Line("pass", kept=False, before=False), *inner.lines), inner.above, inner.below)
    given = Line(reading(lines[first]))
    as_text = (*above, *(_closed(line, at=0, shift=0) for line in (given, *(Line("") for _ in lines[first + 1 :]))))
    if name in NO_PYTHON or not body.strip():
        return PythonCell(as_text)
    inner = as_python(body)
    if not parses(inner.text):
        return PythonCell(as_text)
    inner = indented(inner)
    apart = name in RUN_APART
    # Of a magic that is not known it is not known either whether it runs its cell.
    head = _closed(Line("def __timeit__():" if apart else f"if {_ANSWER}:"), at=0, shift=0)
    return PythonCell((*above, head, *inner.lines), (), (*inner.below, *(("__timeit__()",) if apart else ())))


def indented(cell: PythonCell) -> PythonCell:
    """The cell as the body of a statement that is still to come; nobody can edit it there."""
    lines = (_closed(replace(line, text=f" {line.text}"), at=0, shift=line.shift - 1) for line in cell.lines)
    above, below = ((f" {line}" for line in more) for more in (cell.above, cell.below))
    return PythonCell(tuple(lines), tuple(above), (*below, " pass"))


def _closed(line: Line, *, at: int, shift: int) -> Line:
    return Line(line.text, kept=False, at=at, shift=shift, before=False, behind=False)


def _by_line(lines: Sequence[str]) -> list[Line]:
    """Lines of a cell without a cell magic."""
    result: list[Line] = []
    state = _Lexed()
    while len(result) < len(lines):
        number = len(result)
        line = lines[number]
        after = _lex(line, state)
        if state.inside:
            result.append(Line(line))
        else:
            end = _end_of_command(lines, number)
            found = _magic(line, after, lines[number:end])
            if found is not None:
                result += found
                continue
            result.append(Line(line))
        state = after
    return result


def _end_of_command(lines: Sequence[str], start: int) -> int:
    """The line behind a magic: a backslash takes it on."""
    end = start + 1
    while end < len(lines) and lines[end - 1].endswith("\\"):
        end += 1
    return end


def _magic(line: str, lexed: _Lexed, lines: Sequence[str]) -> list[Line] | None:
    """The lines that a magic becomes which begins in `line` and may go on in `lines`; None where there is none."""
    indent = line[: len(line) - len(line.lstrip())]
    if lexed.assigned is not None:
        begin = lexed.assigned
        stripped = line[begin:].lstrip()
        if not stripped.startswith(("%", "!")):
            return None
        python = line[:begin] + _value(_joined((stripped, *lines[1:])), len(line) - begin - len(stripped))
        return _in_place_of(lines, Line(python, kept=False))
    if line.lstrip().startswith(_ESCAPES):
        command = _joined((line.lstrip(), *lines[1:]))
        run = _statement(command)
        shift = command.find(run) if run and len(lines) == 1 else 0
        return _in_place_of(
            lines, Line(indent + (run or reading(command) or "pass"), kept=False, at=len(indent), shift=max(shift, 0))
        )
    if lexed.asks or (_AUTOMAGIC.match(line) and not lexed.inside and not parses(line.strip())):
        return _in_place_of(lines[:1], Line(indent + (reading(line.strip()) or "pass"), kept=False))
    return None


def _in_place_of(lines: Sequence[str], first: Line) -> list[Line]:
    count = len(lines)
    rest = [Line("", kept=False, before=False, behind=number == count - 1) for number in range(1, count)]
    return [replace(first, behind=count == 1), *rest]


def _joined(lines: Iterable[str]) -> str:
    return " ".join(line.removesuffix("\\").strip() for line in lines)


def _statement(command: str) -> str | None:
    """The Python that a line magic runs, as a line; None where it runs none, or none that can be told."""
    name, rest = parts(command)
    if not rest or not parses(rest):
        return None
    if name in RUN_AS_THEY_ARE or (name in RUN_APART and is_expression(rest)):
        return rest
    apart = f"class __timeit__: {rest}"
    return apart if name in RUN_APART and parses(apart) else None


def _value(command: str, blanks: int) -> str:
    """The Python for what a magic gives that is assigned to a name, `blanks` columns behind the equals sign."""
    name, rest = parts(command)
    if is_expression(rest) and name in RUN_AS_THEY_ARE:
        return " " * (blanks + max(command.find(rest), 0)) + rest
    argument = rest if name in RUN_APART and is_expression(rest) and "#" not in rest else reading(command)
    return f" get_ipython({argument})"


@dataclass(frozen=True, slots=True)
class _Lexed:
    """Where a line ends: inside brackets, inside a string, or going on behind a backslash.

    `asks`: its last character of code is a question mark. `assigned`: the index behind its first equals sign, if a
    magic stands there.
    """

    depth: int = 0
    quote: str = ""
    continued: bool = False
    asks: bool = False
    assigned: int | None = None

    @property
    def inside(self) -> bool:
        return self.depth > 0 or bool(self.quote) or self.continued


def _lex(line: str, before: _Lexed) -> _Lexed:
    depth, quote = before.depth, before.quote
    at, end, question = 0, len(line), -1
    continued = False
    assigned: int | None = None
    while True:
        if quote:
            closing = re.compile(rf"(?:[^\\]|\\.)*?{quote}").match(line, at)
            if closing is None:
                if len(quote) == 1 and not re.search(r"(?<!\\)(?:\\\\)*\\\Z", line[at:]):
                    quote = ""  # it is not valid, and Python goes on with the next line
                break
            at, quote = closing.end(), ""
        mark = _MARK.search(line, at)
        if mark is None:
            break
        at = mark.end()
        kind = mark[0]
        if kind == "#":
            end = mark.start()
            break
        if kind[0] in "'\"":
            quote = kind
        elif kind in "([{":
            depth += 1
        elif kind in ")]}":
            depth = max(0, depth - 1)
        elif kind == "\\":
            continued = at == len(line)
        elif kind == "?":
            question = mark.start()
        elif not depth and assigned is None and line[: mark.start()].strip() and _is_magic_behind(line, at):
            assigned = at
    asks = question >= 0 and question == len(line[:end].rstrip()) - 1
    return _Lexed(depth, quote, continued, asks, assigned)


def _is_magic_behind(line: str, at: int) -> bool:
    return line[at - 2] not in "=!<>+-*/%&|^@:~" and re.match(r"[ \t]*(?:%{1,2}\w|!)", line[at:]) is not None
