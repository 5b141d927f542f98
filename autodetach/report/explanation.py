"""An explained error: for a person the words, the story and the patch, for a program the same as one JSON object."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from typing import Any

from autodetach.changes import has_cells, patch_of
from autodetach.console import printable
from autodetach.report import MIN_WIDTH, Located
from autodetach.report.excerpt import ELLIPSIS, display
from autodetach.report.json_ import as_object
from autodetach.report.paragraph import Paragraph
from autodetach.report.wrap import BOLD, CYAN, DIM, GREEN, RED, Style
from autodetach.tracebacks.explain import Explanation
from autodetach.tracebacks.files import Understood

MAX_WORDS = 160
"""Characters of PyTorch's message that are said again."""
MAX_SHOWN_FRAMES = 8
MAX_NAMED = 5
MAX_ANSWERS = 5


def as_text(explanation: Explanation, *, colour: bool, width: int | None) -> str:
    """The explanation for a person."""
    width = width if width is None else max(width, MIN_WIDTH)
    return "".join(f"{line}\n" for line in _Text(explanation, colour, width).lines())


def as_json(explanation: Explanation) -> str:
    """One object: the error, the frames as they were understood, findings as `check` has them, and the patch."""
    failure = explanation.reading.failure
    shown = {
        "error": {
            "kind": failure.kind.name,
            "exception": failure.exception or None,
            "message": failure.message,
            "meaning": failure.kind.meaning,
        },
        "other_errors": explanation.reading.others,
        "frames": [_frame(frame) for frame in explanation.frames],
        "forward_frames": [_frame(frame) for frame in explanation.forward],
        "findings": [as_object(located) for located in explanation.answers],
        "other_findings": [as_object(located) for located in explanation.others],
        "patch": patch_of(explanation.changes).decode("utf-8", "replace"),
        "advice": None if explanation.answers else advice(explanation),
    }
    return json.dumps(shown, indent=2) + "\n"


def advice(explanation: Explanation) -> str:
    """What to do where no finding explains the error, in a sentence or two without control characters."""
    frames = explanation.frames
    if not frames:
        return (
            "The text names no line of your program: paste the whole traceback, from `Traceback (most recent call "
            "last)` on, or look at the program with `autodetach check`."
        )
    failing = frames[-1]
    watch = "run the program under `autodetach run`, which watches what really happens"
    if failing.file is None and failing.frame.is_cell:
        return "Save the notebook in this folder and ask again, or look at it with `autodetach check NOTEBOOK.ipynb`."
    if all(frame.file is None for frame in frames):
        return f"Go to the folder of the program and ask again; or {watch} (`autodetach run SCRIPT ARGS`)."
    if failing.file is not None and failing.lines is None:
        return f"Raise the error again with the program as it is now, and ask again; or {watch}."
    script = next(frame.file.shown for frame in frames if frame.file is not None)
    if failing.frame.is_cell:
        return "Reading the cells shows no fault that comes to this line: it may depend on the order in which they ran."
    return (
        f"Reading the program shows no fault that comes to this line. To see one that depends on what it is given, "
        f"{watch}: `autodetach run {printable(shlex.quote(script))} ARGS`."
    )


def _frame(understood: Understood) -> dict[str, Any]:
    frame = understood.frame
    return {
        "path": frame.path,
        "line": frame.line,
        "function": frame.function or None,
        "source": frame.source or None,
        "cell": frame.cell,
        "filename": None if understood.file is None else understood.file.path,
        "place": understood.shown,
        "note": understood.note or None,
    }


class _Text:
    def __init__(self, explanation: Explanation, colour: bool, width: int | None) -> None:
        self._explanation = explanation
        self._style = Style(colour, width)

    def lines(self) -> Iterator[str]:
        yield from self._error()
        yield ""
        for located in self._explanation.answers[:MAX_ANSWERS]:
            yield from Paragraph(located, colour=self._style.colour, width=self._style.width, changes=False).lines()
            yield ""
        if self._explanation.answers:
            yield from self._repair()
        else:
            yield from self._style.prose(advice(self._explanation), 0)
        yield from self._more()

    def _error(self) -> Iterator[str]:
        reading = self._explanation.reading
        failure = reading.failure
        words = failure.message.partition(". ")[0].partition("\n")[0]
        words = words if len(words) <= MAX_WORDS else f"{words[:MAX_WORDS]}..."
        head = f"{failure.exception}: {words}" if failure.exception else words
        yield from self._style.prose(self._style.paint(printable(head), BOLD), 4)
        frames = self._explanation.frames
        for number, frame in enumerate(reversed(frames[-MAX_SHOWN_FRAMES:])):
            yield from self._place("raised at" if not number else "called from", frame)
        if len(frames) > MAX_SHOWN_FRAMES:
            yield f"   ... and {len(frames) - MAX_SHOWN_FRAMES} frames more"
        if self._explanation.forward:
            yield from self._place("its forward pass", self._explanation.forward[-1])
        if reading.others:
            errors = "another autograd error" if reading.others == 1 else f"{reading.others} other autograd errors"
            yield from self._style.prose(f"   The text has {errors} before; this is the last.", 3)
        yield from self._style.prose(f"   {failure.kind.meaning}", 3)

    def _place(self, how: str, understood: Understood) -> Iterator[str]:
        frame = understood.frame
        function = f" in {printable(frame.function)}" if frame.function else ""
        note = f" ({printable(understood.note)})" if understood.note else ""
        yield from self._style.prose(f"   {how} {printable(understood.shown)}{function}{note}", 6)
        if frame.source and how == "raised at":
            yield self._style.paint(f"      {display(frame.source, self._style.columns(6 + len(ELLIPSIS)))}", DIM)

    def _repair(self) -> Iterator[str]:
        changes, repaired = self._explanation.changes, self._explanation.repaired
        if not changes:
            yield from self._style.prose("No repair could be proven; the story says what to change.", 0)
            return
        if any(finding.is_unsafe for finding in repaired):
            yield from self._style.prose("This repair is unsafe: read it before you apply it.", 0)
        for line in patch_of(changes).decode("utf-8", "replace").rstrip("\n").split("\n"):
            shown = _shown(line)
            style = RED if line[:1] == "-" else GREEN if line[:1] == "+" else CYAN if line[:2] == "@@" else ""
            yield self._style.paint(shown, style) if style else shown
        yield ""
        yield from self._style.prose(self._how_to_apply(), 0)

    def _how_to_apply(self) -> str:
        flag = " --unsafe-fixes" if any(finding.is_unsafe for finding in self._explanation.repaired) else ""
        if has_cells(self._explanation.changes):
            names = " ".join(printable(shlex.quote(_name(change.path))) for change in self._explanation.changes)
            return f"`autodetach fix{flag} {names}` applies it."
        return f"The same command with `--diff{flag}` prints the patch alone, for `git apply`."

    def _more(self) -> Iterator[str]:
        others = (*self._explanation.answers[MAX_ANSWERS:], *self._explanation.others)
        if others:
            named = ", ".join(_named(located) for located in others[:MAX_NAMED])
            more = f" and {len(others) - MAX_NAMED} more" if len(others) > MAX_NAMED else ""
            yield from self._style.prose(
                f"Also found in these files, away from that line: {named}{more}; see `autodetach check`.", 3
            )


def _named(located: Located) -> str:
    place = located.source.place(located.finding.span.start)
    return f"{printable(place.shown)}:{place.line} {located.finding.code} {located.finding.name}"


def _name(path: str) -> str:
    return os.path.relpath(path)


def _shown(line: str) -> str:
    """A line of a patch: whole and with its tabs, but without what a terminal would obey."""
    return "\t".join(printable(part) for part in line.rstrip("\r").split("\t"))
