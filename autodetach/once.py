"""What is found out once of a run, or of a program under analysis: of hundreds of faults, each would ask it anew."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar


class Asked(Protocol):
    """What answers are kept with."""

    @property
    def found(self) -> dict[Hashable, Any]: ...


Of = TypeVar("Of", bound=Asked)
Given = ParamSpec("Given")
Found = TypeVar("Found")


def once(find: Callable[Concatenate[Of, Given], Found]) -> Callable[Concatenate[Of, Given], Found]:
    """A decorator: the function is asked once for each run or program, and what else it is given: that is hashable.

    What it gives is not to be changed.
    """

    @wraps(find)
    def ask(of: Of, /, *given: Given.args, **named: Given.kwargs) -> Found:
        key: Hashable = (find, *given, *named.items())
        try:
            found: Found = of.found[key]
        except KeyError:
            found = of.found[key] = find(of, *given, **named)
        return found

    return ask
