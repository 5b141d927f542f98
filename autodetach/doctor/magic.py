"""`%load_ext autodetach`: cells of a notebook, or of an IPython session, under observation.

One observer sees all watched cells of a session, so that what one of them built and another one walks is one story, and
what gathers over several runs of a cell is seen to gather. Outside watched cells PyTorch is as it was.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

from autodetach.console import say, width_of
from autodetach.doctor.budget import Budget
from autodetach.doctor.diagnosis import Diagnosis, Kind
from autodetach.doctor.frames import Territory
from autodetach.doctor.hooking import when_imported
from autodetach.doctor.observer import Observer, Options
from autodetach.doctor.places import CELLS, name_cells
from autodetach.doctor.series import Series
from autodetach.doctor.table import table
from autodetach.doctor.threads import thread_number
from autodetach.doctor.watching import distinct, summary
from autodetach.doctor.words import paragraph

CELL_MAGIC = "%%autodetach"
_NUMBERED = re.compile(r"<ipython-input-(\d+)-")


def load(shell: Any) -> None:
    """Register the magics and the events of an IPython shell, once."""
    if any(isinstance(getattr(f, "__self__", None), Notebook) for f in shell.events.callbacks["pre_run_cell"]):
        return
    notebook = Notebook(shell)
    shell.events.register("pre_run_cell", notebook.before)
    shell.events.register("post_run_cell", notebook.after)
    shell.input_transformers_cleanup.append(without_magic)
    shell.register_magic_function(notebook.autodetach, "line_cell", "autodetach")
    name_cells(notebook.name_of)


def without_magic(lines: list[str]) -> list[str]:
    """A cell without its `%%autodetach`: it runs as any other, its lines counted as they stand, and may be a magic."""
    if not lines or not _is_marked(lines[0]):
        return lines
    rest = lines[1:]
    return rest if rest and rest[0].startswith("%%") else ["\n", *rest]


class Notebook:
    """The cells of one shell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._every = False
        self._running = False
        self._marked = False
        self._heard: list[Diagnosis] = []
        self._observer: Observer | None = None
        self._cells: dict[str, str] = {}
        self._calls = 0
        self._looks = 0
        self._steps = 0
        self._retained: dict[tuple[str, int], int] = {}

    def autodetach(self, line: str, cell: str | None = None) -> None:
        """Watch what PyTorch's autograd does in cells.

        `%%autodetach` as the first line of a cell watches that cell; `%autodetach on` watches all that follow, until
        `%autodetach off`.
        """
        if cell is not None:  # from a script; in a cell the magic is taken out before it comes here
            self._shell.run_cell(f"{CELL_MAGIC}\n{cell}").raise_error()
        elif line.strip() in ("on", "off"):
            self._every = line.strip() == "on"
        else:
            say(f"autodetach: all cells are watched: {'on' if self._every else 'off'} (`%autodetach on`, `off`)")

    def before(self, info: Any) -> None:
        """A cell is about to run."""
        self._marked = _is_marked(info.raw_cell.lstrip("\n"))
        if self._running or not (self._marked or self._every):
            return
        if self._observer is None:
            self._observer = Observer(Options(), Territory(), self._heard.append, thread_number())
        observer = self._observer
        self._running = True
        self._heard.clear()
        observer.failed = False
        observer.budget = Budget()
        self._calls, self._steps, self._looks = observer.journal.calls, observer.steps, len(observer.growth.totals)
        self._retained = {place: line.calls for place, line in observer.journal.retained.items()}
        when_imported("torch", self._attach)

    def after(self, result: Any) -> None:
        """A cell has run, to its end or to an error."""
        for name, number in self._names.items():
            if number == result.execution_count:
                self._cells[getattr(result.info, "cell_id", None) or result.info.raw_cell] = name
        if not self._running or self._observer is None:
            return
        self._running = False
        try:
            found = distinct([*self._heard, *self._news(self._observer)])
        finally:
            self._observer.detach()
        lines = [f"autodetach: {text}" for text in self._observer.blind]
        self._observer.blind.clear()
        lines += [line for diagnosis in found for line in paragraph(diagnosis)] + table(found, width_of(sys.stderr))
        if not found and self._marked and result.success:
            lines += [f"autodetach: {summary(self._observer, self._calls, self._steps)}"]
        if lines:
            say("\n".join(lines))

    def name_of(self, path: str) -> str | None:
        """`In [3]` for what stands for a cell's path."""
        number = self._names.get(path)
        if number is None:
            numbered = _NUMBERED.match(path)
            number = int(numbered[1]) if numbered else None
        return None if number is None else f"In [{number}]"

    @property
    def _names(self) -> dict[str, int]:
        return getattr(self._shell.compile, "_filename_map", {})

    def _attach(self, torch: Any) -> None:
        if self._running and self._observer is not None:
            self._observer.attach(torch)
            if self._observer.attached:
                self._observer.search.modules_without_file[id(self._shell.user_ns)] = CELLS
                self._observer.search.cells = self._files

    def _files(self) -> list[str]:
        """The cells that have run, each in its latest version, and the one that runs."""
        latest = max(self._names, key=lambda name: self._names[name], default=None)
        return [*self._cells.values(), *([] if latest is None else [latest])]

    def _news(self, observer: Observer) -> Iterator[Diagnosis]:
        """What has grown, or was kept for nothing, in the cell that has just run."""
        grown = {series.binding for series in observer.growth.series if self._has_grown(series)}
        for diagnosis in observer.results():
            if diagnosis.kind is Kind.GROWTH and diagnosis.binding not in grown:
                continue
            if diagnosis.kind is Kind.RETAINED and diagnosis.site is not None:
                place = (diagnosis.site.path, diagnosis.site.line)
                if observer.journal.retained[place].calls == self._retained.get(place):
                    continue
            yield diagnosis

    def _has_grown(self, series: Series) -> bool:
        here = [look.nodes for look in series.looks if look.number > self._looks]
        # What a cell of one pass stores is seen in the next.
        before = [look.nodes for look in series.looks[: -len(here)]] if len(here) == 1 else []
        nodes = [*before[-1:], *here]
        return len(nodes) > 1 and nodes[-1] > nodes[0]


def _is_marked(text: str) -> bool:
    return text.split("\n", 1)[0].split()[:1] == [CELL_MAGIC]
