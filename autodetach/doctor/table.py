"""What gathers graph, as a table that fits the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from autodetach.console import printable
from autodetach.doctor.diagnosis import Diagnosis, Kind
from autodetach.doctor.places import place
from autodetach.doctor.telling import size

HEAD = ("holder", "nodes at first", "at last", "per pass", "saved tensors", "filled at")
_GAP = "  "
_NARROWEST = 9


def table(diagnoses: Iterable[Diagnosis], width: int | None) -> list[str]:
    """A row for each growth among these, in lines of at most `width` columns (None: as wide as it takes); else nothing.

    In a terminal that is too narrow even for shortened names, lines are longer than it.
    """
    rows = [_row(diagnosis) for diagnosis in diagnoses if diagnosis.kind is Kind.GROWTH]
    if not rows:
        return []
    cells = [HEAD, *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEAD))]
    if width is not None:
        _shrink(widths, sum(widths) + len(_GAP) * (len(HEAD) - 1) - width)
    return [_line(row, widths) for row in cells]


def _row(diagnosis: Diagnosis) -> tuple[str, ...]:
    measured = diagnosis.nodes_per_pass > 0  # else tensors were counted, and not what each pass added
    return (
        printable(diagnosis.binding.path) if diagnosis.binding is not None else "?",
        str(diagnosis.first_nodes) if measured else "?",
        str(diagnosis.nodes),
        f"+{diagnosis.nodes_per_pass:.1f}".removesuffix(".0") if measured else "?",
        size(diagnosis.bytes) if measured else "?",
        place(diagnosis.site) if diagnosis.site is not None else "?",
    )


def _shrink(widths: list[int], excess: int) -> None:
    """Take from the widest of the two columns with names."""
    while excess > 0 and max(widths[0], widths[-1]) > _NARROWEST:
        widths[0 if widths[0] >= widths[-1] else -1] -= 1
        excess -= 1


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = []
    for number, (cell, width) in enumerate(zip(row, widths, strict=True)):
        is_name = number in (0, len(HEAD) - 1)
        cells.append(_shortened(cell, width).ljust(width) if is_name else cell.rjust(width))
    return _GAP.join(cells).rstrip()


def _shortened(text: str, width: int) -> str:
    """The end of a name tells more than its beginning."""
    return text if len(text) <= width else "…" + text[len(text) - width + 1 :]
