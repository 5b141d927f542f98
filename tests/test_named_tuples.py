"""Our named tuples are those of `typing`, but for what it compiles."""

from __future__ import annotations

import pickle
import typing

import pytest

from autodetach.named_tuples import NamedTuple


class Ours(NamedTuple):
    """A place."""

    line: int
    name: str = "unnamed"
    of: tuple[Undefined, ...] = ()  # type: ignore[name-defined] # noqa: F821

    @property
    def shown(self) -> str:
        return f"{self.name}:{self.line}"

    @classmethod
    def first(cls) -> Ours:
        return cls(1)


class Theirs(typing.NamedTuple):
    """A place."""

    line: int
    name: str = "unnamed"
    of: tuple[int, ...] = ()


def test_as_those_of_typing() -> None:
    ours, theirs = Ours(3, name="a"), Theirs(3, name="a")
    assert tuple(ours) == tuple(theirs) == (3, "a", ())
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert ours._replace(line=4) == Ours(4, "a")
    assert Ours._fields == Theirs._fields == Ours.__match_args__
    assert Ours._field_defaults == Theirs._field_defaults
    assert (Ours.__doc__, Ours.__module__, Ours.__qualname__) == ("A place.", __name__, "Ours")
    assert Ours.__mro__[1:] == Theirs.__mro__[1:] == (tuple, object)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'line'"):
        Ours()  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        ours.line = 4  # type: ignore[misc]
    assert not hasattr(ours, "__dict__")


def test_has_what_the_class_says() -> None:
    assert Ours.first().shown == "unnamed:1"


def test_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(Ours(3))) == Ours(3)


def test_annotations_are_not_looked_at() -> None:
    assert Ours.__annotations__ == {"line": "int", "name": "str", "of": "tuple[Undefined, ...]"}
