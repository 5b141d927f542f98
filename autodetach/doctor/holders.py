"""Which name holds a tensor: from the variables of the program down through its objects."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType, GeneratorType
from typing import Any, TypeAlias

from autodetach.doctor.activations import activation
from autodetach.doctor.frames import Territory, function_of
from autodetach.doctor.parts import ATOMS, EMPTIES, Parts

MAX_DEPTH = 10
MAX_OBJECTS = 8_000


@dataclass(frozen=True, slots=True)
class Binding:
    """A name that holds a tensor.

    `path` is what a person writes to reach it, `trainer.memory[0]`; `root` its first name, a variable of `function`
    (empty: of the module) in the file `file`.
    """

    path: str
    root: str
    file: str
    function: str = ""
    owner: str = field(default="", compare=False)
    """The class of the object whose attribute it is."""

    @property
    def where(self) -> str:
        """The scope in words."""
        return f"in `{self.function}`" if self.function else "at module level"


@dataclass(frozen=True, slots=True)
class Home:
    """What a holder is, whatever name leads to it: a variable (`step`) of a scope, or an attribute of an object, by the
    identity of that `owner`, and the identity of the object that it is bound to, 0 for a tensor."""

    owner: int
    step: str
    content: int = 0


@dataclass(frozen=True, slots=True)
class Held:
    """A tensor with history (its `grad_fn` is not None) and the name that holds it."""

    binding: Binding
    tensor: Any
    holder: Binding
    """The outermost container, attribute or variable that is worth naming where tensors gather in it."""
    home: Home


Scope: TypeAlias = "tuple[str, str, Mapping[str, Any], int]"
"""File, function and variables, and what tells an activation of the function from others."""


class Search(Parts):
    """Looks from variables down to tensors; every object is looked at once, by the shortest way."""

    def __init__(self, torch: Any, territory: Territory) -> None:
        super().__init__(torch, territory)
        self.modules_without_file: dict[int, str] = {}
        """What stands for the file of a module that has none, by the identity of its variables."""
        self.cells: Callable[[], list[str]] = list
        """The cells of a notebook that count as files of the user."""

    def scopes(self, frame: FrameType | None) -> Iterator[Scope]:
        """Those of the user's frames from the innermost outwards, then those of the user's modules."""
        seen: set[int] = set()
        for each in self._territory.frames(frame):
            if each.f_locals is not each.f_globals:
                yield each.f_code.co_filename, function_of(each.f_code), each.f_locals, _activation(each)
            elif id(each.f_globals) not in seen:
                seen.add(id(each.f_globals))
                yield self._file_of(each, each.f_code.co_filename), "", each.f_globals, id(each.f_globals)
        for each in self._territory.frames(frame):
            if id(each.f_globals) not in seen:
                seen.add(id(each.f_globals))
                file = str(each.f_globals.get("__file__") or each.f_code.co_filename)
                yield self._file_of(each, file), "", each.f_globals, id(each.f_globals)
        for path, module in self._territory.modules():
            if id(vars(module)) not in seen:
                seen.add(id(vars(module)))
                yield path, "", vars(module), id(vars(module))

    def files(self) -> list[str]:
        """The files of the user's modules."""
        return [*(path for path, _ in self._territory.modules()), *self.cells()]

    def _file_of(self, frame: FrameType, file: str) -> str:
        return self.modules_without_file.get(id(frame.f_globals), file)

    def held(self, frame: FrameType | None, *, every: bool = False) -> Iterator[Held]:
        """All tensors with history that a name leads to; with `every`, also those without."""
        return self.held_in(self.scopes(frame), every=every)

    def held_in(self, scopes: Iterable[Scope], *, every: bool = False) -> Iterator[Held]:
        """The same for these scopes."""
        queue: deque[tuple[Any, Binding, Binding, Home, int]] = deque()
        seen: set[int] = set()
        for file, function, variables, owner in scopes:
            for name, value in list(variables.items()):
                if type(value) in ATOMS or name.startswith("__"):
                    continue
                binding = Binding(name, name, file, function)
                queue.append((value, binding, binding, self._home(owner, name, value), 0))
            # The variables of an inner scope name a thing before those of an outer one do.
            yield from self._drain(queue, seen, every)

    def tensors(self, frame: FrameType | None) -> Iterator[tuple[Binding, Any]]:
        """All tensors that a name leads to, with history or without."""
        for held in self.held(frame, every=True):
            yield held.binding, held.tensor

    def _home(self, owner: int, step: str, value: Any) -> Home:
        return Home(owner, step, 0 if isinstance(value, self._tensor) else id(value))

    def _drain(
        self, queue: deque[tuple[Any, Binding, Binding, Home, int]], seen: set[int], every: bool
    ) -> Iterator[Held]:
        tensor = self._tensor
        while queue:
            value, binding, holder, home, depth = queue.popleft()
            if len(seen) > MAX_OBJECTS:
                return
            if isinstance(value, tensor):
                # All names of a tensor count: any of them may be the one that keeps it.
                if every or value.grad_fn is not None:
                    yield Held(binding, value, holder, home)
                elif (
                    value.is_leaf and value.requires_grad and value.grad is not None and value.grad.grad_fn is not None
                ):
                    inner = _below(binding, ".grad")
                    yield Held(inner, value.grad, inner, Home(id(value), ".grad"))
                continue
            if id(value) in seen:
                continue
            seen.add(id(value))
            if depth >= MAX_DEPTH:
                continue
            for step, part, gathers in self._parts(value):
                if type(part) in ATOMS or id(part) in seen or self._is_bare(part, every):
                    continue
                inner = _below(binding, step, type(value).__name__ if step.startswith(".") and not gathers else "")
                if gathers:
                    queue.append((part, inner, holder, home, depth + 1))
                else:
                    owner = _activation(value.gi_frame) if isinstance(value, GeneratorType) else id(value)
                    queue.append((part, inner, inner, self._home(owner, step, part), depth + 1))

    def _is_bare(self, part: Any, every: bool) -> bool:
        """Whether nothing is to be found there: a tensor without history, as most are, or an empty container."""
        if isinstance(part, self._tensor):
            return not every and part.grad_fn is None and (not part.is_leaf or part.grad is None)
        return type(part) in EMPTIES and not part

    def _parts(self, value: Any) -> Iterator[tuple[str, Any, bool]]:
        try:
            yield from self.parts(value)
        except Exception:  # objects of a program may refuse to be looked at, in whatever way
            return


def _activation(frame: FrameType | None) -> int:
    """What tells the activation of a function from others: no identity of an object is negative."""
    if frame is None:
        return 0
    number = activation(frame)
    return -number if number is not None else hash(frame.f_code.co_name)


def _below(binding: Binding, step: str, owner: str = "") -> Binding:
    return Binding(binding.path + step, binding.root, binding.file, binding.function, owner)
