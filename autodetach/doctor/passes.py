"""Which loop a program has gone round between two moments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from types import FrameType
from typing import TypeAlias

from autodetach.doctor.activations import activation
from autodetach.doctor.frames import Site, site_of
from autodetach.doctor.loops import Loop, loops_around

MAX_SPOTS = 8

Turn: TypeAlias = "tuple[object, ...] | None"
"""What a loop has bound: numbers and texts as they are, all else by its address; None where it binds nothing."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where an activation of a function is; `turns` are those of the loops around it, the innermost first."""

    activation: int | None
    site: Site
    turns: tuple[Turn, ...] = ()
    direct: bool = True
    """Whether the next function outwards has called this one itself, and no library in between, be it many times."""


def spots(frames: Iterable[FrameType]) -> tuple[Spot, ...]:
    """The moment of these frames, from the innermost outwards."""
    several = list(islice(frames, MAX_SPOTS))
    return tuple(map(_spot, several, [*several[1:], None]))


def gone_round(before: tuple[Spot, ...], now: tuple[Spot, ...], *, ran_again: bool) -> Loop | None:
    """The loop of which another pass has begun between two moments; None where that is not certain.

    `ran_again`: between them, the line of the moment before has run once more.
    """
    earlier = {spot.activation: spot for spot in before if spot.activation is not None}
    for new in now:
        if new.activation is not None and new.activation in earlier:
            loop = _gone_round(earlier[new.activation], new, ran_again)
            return None if loop is None else replace(loop, function=new.site.function)
        ran_again = ran_again and new.direct
    return None


def _gone_round(old: Spot, new: Spot, ran_again: bool) -> Loop | None:
    turns = dict(zip(loops_around(old.site.path, old.site.line), old.turns, strict=False))
    now = zip(loops_around(new.site.path, new.site.line), new.turns, strict=False)
    both = [(loop, turn) for loop, turn in now if loop in turns]
    if len(both) == 1 and ran_again and (turns[both[0][0]] != both[0][1] or not _is_told_apart(both[0][1])):
        return both[0][0]
    unknown: list[Loop] = []
    for number, (loop, turn) in enumerate(reversed(both)):
        if turn is None:
            unknown.append(loop)
        elif turn != turns[loop]:
            # Where an outer loop may have gone round unseen, this one may have begun anew.
            return loop if not number or _goes_on(turns[loop], turn, certain=not unknown) else None
    return unknown[0] if len(unknown) == 1 and ran_again else None


def _goes_on(turn: Turn, later: Turn, *, certain: bool) -> bool:
    """Whether a loop has gone on from one pass to a later one, and was not left in between."""
    first, second = (turn or (None,))[0], (later or (None,))[0]
    if isinstance(first, int) and isinstance(second, int):
        return second > first if certain else second == first + 1
    return certain


def _is_told_apart(turn: Turn) -> bool:
    """Whether it would be another one in another pass: a list may well have the same object several times."""
    return turn is not None and any(isinstance(value, int) for value in turn)


def _spot(frame: FrameType, caller: FrameType | None) -> Spot:
    site = site_of(frame)
    turns = tuple(_turn(loop, frame) for loop in loops_around(site.path, site.line))
    return Spot(activation(frame), site, turns, caller is None or frame.f_back is caller)


def _turn(loop: Loop, frame: FrameType) -> Turn:
    if not loop.targets:
        return None
    values = (frame.f_locals.get(name) for name in loop.targets)
    return tuple(value if isinstance(value, (int, float, str)) else _Address(id(value)) for value in values)


@dataclass(frozen=True, slots=True)
class _Address:
    """Of a thing, where it lies."""

    number: int
