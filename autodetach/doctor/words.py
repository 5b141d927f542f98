"""A diagnosis as people read it."""

from __future__ import annotations

import linecache
import os

from autodetach.console import printable, say
from autodetach.doctor.diagnosis import Diagnosis, Step
from autodetach.doctor.frames import Site
from autodetach.doctor.places import place
from autodetach.doctor.telling import size
from autodetach.report.excerpt import display


def note(diagnosis: Diagnosis) -> str:
    """The text that is added to PyTorch's own error."""
    return "\n".join(["autodetach: " + printable(diagnosis.message), *_story(diagnosis)])


def paragraph(diagnosis: Diagnosis) -> list[str]:
    """The lines about one diagnosis."""
    where = f"{place(diagnosis.site)}: " if diagnosis.site is not None else ""
    lines = [f"{where}{diagnosis.kind.value}: {printable(diagnosis.message)}"]
    shown: set[Site] = set()
    for told, step in zip(_story(diagnosis), diagnosis.story, strict=True):
        lines += [told, *_code(step, shown)]
    if diagnosis.others:
        names = ", ".join(f"`{printable(other.path)}`" for other in diagnosis.others)
        lines.append(f"   also carrying freed graph: {names}")
    if diagnosis.bytes and not diagnosis.story:
        lines.append(f"   {size(diagnosis.bytes)}")
    return lines


def tell(diagnosis: Diagnosis) -> None:
    """Say it on standard error, in a child with the number of its process."""
    import multiprocessing

    child = multiprocessing.parent_process() is not None
    say("\n".join([f"[process {os.getpid()}]"] * child + paragraph(diagnosis)))


def _story(diagnosis: Diagnosis) -> list[str]:
    return [f"   {number}. {_step(step)}" for number, step in enumerate(diagnosis.story, 1)]


def _code(step: Step, shown: set[Site]) -> list[str]:
    """The lines of source that a step speaks of, those that call first, unless they were shown as such before."""
    calls = [site for site in reversed(step.calls) if site not in shown]
    shown.update(step.calls)
    sites = () if step.site is None else dict.fromkeys((*calls, step.site))
    found = [(site.line, linecache.getline(site.path, site.line).strip()) for site in sites]
    return [f"      {line} | {display(text)}" for line, text in found if text]


def _step(step: Step) -> str:
    if step.site is None:
        return printable(step.text)
    function = step.site.function.rpartition(".")[2]
    inside = f" in `{step.site.function}`" if step.site.function and not function.startswith("<") else ""
    calls = ", ".join(f"from {place(site)}" for site in dict.fromkeys(step.calls))
    return printable(f"{place(step.site)}{inside}: {step.text}{', called ' * bool(calls)}{calls}")
