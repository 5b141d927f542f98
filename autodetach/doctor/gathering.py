"""No error: what gathers graph pass after pass, and what was retained for nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from autodetach.doctor.diagnosis import Diagnosis, Kind, Step
from autodetach.doctor.frames import Site
from autodetach.doctor.holders import Binding
from autodetach.doctor.kept import filling, first_name, handed_name, is_state, way
from autodetach.doctor.names import plainness
from autodetach.doctor.places import cell_name
from autodetach.doctor.records import Records
from autodetach.doctor.series import Series
from autodetach.doctor.stores import hands_over, stores
from autodetach.doctor.telling import sites_of, size

RECENT = 4
"""Names that have grown by the same in so many looks, from the same node on, hold the same."""


def growing(seen: Records) -> Iterator[Diagnosis]:
    """One for each thing that gathers: of the names for it, the one that holds least besides."""
    groups: dict[tuple[int, ...], list[Series]] = {}
    for series in seen.growth.leaks():
        groups.setdefault((series.segment[-1].oldest, *series.increments[-RECENT:]), []).append(series)
    for same in groups.values():
        yield _growth(seen, min(same, key=lambda series: (series.looks[-1].nodes, plainness(series.binding))))


def hoarded(seen: Records) -> Iterator[Diagnosis]:
    """What gathers where no name of the program leads."""
    search, journal = seen.search, seen.journal
    hoard = seen.census.hoard(lambda: {id(held.tensor) for held in search.held(None)})
    if hoard is None:
        return
    way = hoard.way
    binding = Binding(f"{way.module}.{way.gathering}", way.module, way.file)
    names = {name for sequence in hoard.sequences for name in journal.all_names(sequence)}
    story = [Step(site, "hands it over") for site in hands_over(names)]
    story += _built_by(seen, hoard.sequences, "builds what is kept")
    inner = Binding(way.gathering, way.root, way.file)
    story += [Step(site, f"`{way.gathering}` takes a tensor with its graph") for site in stores(inner)]
    text = f"held {hoard.counts[0]} tensors with a graph, and {hoard.counts[-1]} at the end, such as `{way.path}`"
    story.append(Step(None, text))
    message = f"`{binding.path}`, which no name of the program leads to, keeps the autograd graph of every pass"
    site = next(sites_of(story), None)
    yield Diagnosis(Kind.GROWTH, message, site, binding, tuple(story), nodes=hoard.nodes)


def retained(seen: Records) -> Iterator[Diagnosis]:
    """The calls with `retain_graph=True` of which nobody has made use."""
    for line in seen.journal.retained.values():
        if line.used or line.calls < 2:
            continue
        message = f"`retain_graph=True`: none of the {line.calls} graphs that were kept here was walked again"
        story = (Step(line.site, f"each keeps {size(line.bytes)} until its last tensor goes"),)
        yield Diagnosis(Kind.RETAINED, message, line.site, story=story, bytes=line.bytes)


def _growth(seen: Records, series: Series) -> Diagnosis:
    binding, segment = series.binding, series.segment
    sites = stores(binding, seen.search.files())
    filled = filling(seen, series, sites)
    name = first_name(seen, series, filled)
    story = [*filled, *way(filled, name)]
    loop = seen.growth.loop_of(series)
    if loop is not None and is_state(binding, filled):
        end = Site(loop.path, loop.last, loop.function)
        story.append(Step(end, f"the pass of the loop in line {loop.head} ends, and `{binding.path}` keeps that graph"))
    passes = segment[-1].number - segment[0].number
    story.append(Step(None, f"held {segment[0].nodes} nodes of graph, and {segment[-1].nodes} after {passes} looks"))
    message = f"`{binding.path}` ({binding.where}) keeps the autograd graph of every pass"
    given = handed_name(filled) or name
    if given is not None:
        message += f", that of `{given.path}` ({given.where})"
    if not sites:
        # Nobody stores into it where it can be read: the line that builds is next best.
        story[:0] = _built_by(seen, sorted(series.tops), "builds what it takes")
    site = next((s for s in sites_of(story) if os.path.isfile(s.path) or cell_name(s.path)), None)
    first, last = segment[0].nodes, segment[-1].nodes
    return Diagnosis(Kind.GROWTH, message, site, binding, tuple(story), (), last, series.bytes, first, series.per_pass)


def _built_by(seen: Records, sequences: Iterable[int], text: str) -> list[Step]:
    """The line of the first of these nodes of which it was seen."""
    for sequence in sequences:
        sites = seen.lines.built(sequence)
        if sites:
            return [Step.at(sites, text)]
    return []
