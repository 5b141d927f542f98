"""`--plot`: how much graph each name held, step by step, as a picture."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autodetach.disk.reasons import reason_of
from autodetach.doctor.growth import Growth, Total
from autodetach.doctor.series import Series

SUFFIXES = (".png", ".svg")
MOST = 8
"""So many names have a line of their own: those that held most."""
MAX_LABEL = 36
_AXES = {"step": "optimizer steps", "backward": "differentiations", "forward": "calls of modules"}


class PlotError(Exception):
    """No plot can be drawn; the text says why and what to do, in one line."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One name: at each of `x` (steps), the `nodes` of graph that it held, and the `bytes` where they were counted."""

    label: str
    grows: bool
    x: tuple[int, ...]
    nodes: tuple[int, ...]
    bytes: tuple[int | None, ...]


def check(path: str) -> None:
    """Find out before the program runs whether its plot can be written. Raises PlotError."""
    if not path.endswith(SUFFIXES):
        raise PlotError(f"--plot {path}: the name has to end in .png or .svg")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise PlotError(f"--plot {path}: there is no folder {folder}")
    if importlib.util.find_spec("matplotlib") is None:
        raise PlotError('--plot needs matplotlib, which is not installed here: pip install "autodetach[plot]"')


def unit_of(growth: Growth) -> str:
    """What a pass of this program ends with: the event whose count is the abscissa."""
    last = growth.totals[-1] if growth.totals else Total(0, 0, 0, 0)
    return "step" if last.steps else "backward" if last.backwards else "forward"


def curves(growth: Growth) -> list[Curve]:
    """One for each of the names that held most, the largest first."""
    unit = unit_of(growth)
    leaking = {series.binding for series in growth.leaks()}
    chosen: dict[tuple[str, str, str], Series] = {}
    for series in growth.series:
        key = (series.binding.file, series.binding.function, series.binding.path)
        if key not in chosen or (series.event == unit and not series.leaks < chosen[key].leaks):
            chosen[key] = series
    ranked = sorted(chosen.values(), key=lambda series: -max(look.nodes for look in series.looks))
    return [_curve(series, growth.totals, unit, series.binding in leaking) for series in ranked[:MOST]]


def draw(path: str, growth: Growth, title: str) -> None:
    """Write the plot. Raises PlotError where it cannot be written."""
    import matplotlib.style
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter, MaxNLocator

    found = curves(growth)
    unit = unit_of(growth)
    with matplotlib.style.context("default"):  # whatever style the program has chosen for its own
        figure = Figure(figsize=(10, 6), dpi=120, layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True)
        above.set_title(f"Autograd graph that names hold: {_plain(title)}", loc="left")
        x = [_at(total, unit) for total in growth.totals]
        above.plot(x, [total.nodes for total in growth.totals], color="0.6", linestyle="--", label="all names together")
        for number, curve in enumerate(found):
            style: dict[str, Any] = {
                "color": f"C{number}",
                # What lies on another is thinner: both are seen.
                "linewidth": 1.6 + 2 / (number + 1) if curve.grows else 1.2,
                "label": curve.label,
            }
            style |= {"marker": ".", "markersize": 4}  # what lies between two looks is not known
            above.plot(curve.x, curve.nodes, **style)
            weighed = [(at, count) for at, count in zip(curve.x, curve.bytes, strict=True) if count is not None]
            if any(count for _, count in weighed):
                below.plot([at for at, _ in weighed], [count for _, count in weighed], **style)
        above.set_ylabel("nodes of graph")
        below.set_ylabel("bytes saved for backward")
        below.set_xlabel(_AXES[unit])
        below.xaxis.set_major_locator(MaxNLocator(integer=True))
        above.yaxis.set_major_locator(MaxNLocator(integer=True))
        below.yaxis.set_major_formatter(EngFormatter(unit="B"))
        if not found:
            _say(above, "no name holds graph from one pass to the next" if x else "nothing was observed")
        if not any(count for curve in found for count in curve.bytes):
            _say(below, "no saved tensors are held")
            below.set_ylim(top=1)
            below.set_yticks([0])
        for axes in (above, below):
            axes.set_ylim(bottom=0)
            axes.grid(alpha=0.3)
            axes.spines[["top", "right"]].set_visible(False)
        above.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False)
        try:
            figure.savefig(path, format=path.rpartition(".")[2])
        except OSError as error:
            raise PlotError(f"--plot {path}: cannot be written: {reason_of(error)}") from None


def _curve(series: Series, totals: Sequence[Total], unit: str, grows: bool) -> Curve:
    points: list[tuple[int, int, int | None]] = []
    before = 0
    for look in series.looks:
        if look.number > before + 1 and (not points or points[-1][1] == 0):
            points.append((_at(totals[look.number - 2], unit), 0, 0))  # until then it held nothing
        points.append((_at(totals[look.number - 1], unit), look.nodes, look.bytes))
        before = look.number
    label = _label(series)
    if grows:
        label += f"\n+{series.per_pass:.1f}".removesuffix(".0") + " a pass"
    return Curve(label, grows, *zip(*points, strict=True))


def _label(series: Series) -> str:
    binding = series.binding
    text = f"{binding.path} in {binding.function}" if binding.function else binding.path
    short = text if len(text) <= MAX_LABEL else f"{text[: MAX_LABEL // 2]}…{text[-MAX_LABEL // 2 + 1 :]}"
    # A label that begins with an underscore would not be shown.
    return _plain(f"`{short}`" if short.startswith("_") else short)


def _plain(text: str) -> str:
    """Without what matplotlib would read as mathematics."""
    return text.replace("$", r"\$")


def _at(total: Total, unit: str) -> int:
    return {"step": total.steps, "backward": total.backwards, "forward": total.forwards}[unit]


def _say(axes: Any, text: str) -> None:
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color="0.35")
