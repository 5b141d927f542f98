"""What the variables of a run were, as the machine's evidence: see `autodetach.machine.evidence` for what it means."""

from __future__ import annotations

import ast
import linecache
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import FrameType
from typing import Any, TypeAlias

from autodetach.doctor.frames import function_of
from autodetach.doctor.growth import oldest_below
from autodetach.doctor.holders import Binding
from autodetach.doctor.journal import Journal
from autodetach.doctor.nodes import Node, Saved, reachable, saved
from autodetach.doctor.series import Series
from autodetach.machine.evidence import Evidence, Kept, Kind, Observed, Place, merge, normal, place_of
from autodetach.machine.spelling import spelled
from autodetach.node_types import DEFINITIONS

MAX_LOOKS = 6
"""Looks at the variables of a function at one of its lines."""
MAX_ITEMS = 8
MAX_NODES = 5_000
_PLAIN_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


Target: TypeAlias = "str | tuple[Target, ...]"


@dataclass(frozen=True, slots=True)
class Binder:
    """An assignment of a call: its target (a name, or names in nested tuples), the text of the call, its lines, and the
    branches it stands in."""

    target: Target
    call: str
    first: int
    last: int
    branches: tuple[tuple[int, int], ...]


class Facts:
    """Gathers looks at variables and merges what they have in common."""

    def __init__(self, torch: Any, journal: Journal) -> None:
        self._torch = torch
        self._journal = journal
        self._looks: dict[tuple[str, int], int] = {}
        self._results: dict[tuple[Place, str], Observed | None] = {}
        self._kept: list[Kept] = []

    def due(self, path: str, line: int) -> bool:
        """Whether the variables are to be looked at where the program is at this line; counts the looks."""
        count = self._looks[path, line] = self._looks.get((path, line), 0) + 1
        return count <= MAX_LOOKS

    def look(self, frames: Iterable[FrameType], boundary: int) -> None:
        """Look at what the user's frames have bound to the results of calls; nodes below the sequence number
        `boundary` were there when the backward before ran."""
        for frame in frames:
            path = frame.f_code.co_filename
            if not os.path.isfile(path):
                continue
            place = place_of(os.path.realpath(path), function_of(frame.f_code))
            for binder in binders(path).get(place.function, ()):
                if not _has_just_run(binder, frame.f_lineno):
                    continue
                value = _value_of(binder.target, frame)
                if any(each is MISSING or self._is_stale(each, boundary) for each in _leaves(value)):
                    continue
                key = (place, normal(binder.call))
                seen = self._observed(value, boundary, binder.call)
                known = self._results.get(key, seen)
                self._results[key] = merge(known, seen)

    def kept(self, series: Iterable[Series]) -> None:
        """Which calls keep what gathers in these holders, where the program hands it to something out of view."""
        for each in series:
            for call in _keepers(each, self._names_in(each)):
                walked = None if each.consumed or any(look.blind for look in each.looks) else False
                self._kept.append(Kept(call.place, call.text, call.argument, each.binding.path, walked))

    def evidence(self) -> Evidence:
        """All that was seen, and nothing that differed from look to look."""
        results = {key: seen for key, seen in self._results.items() if seen is not None}
        return Evidence(kept=tuple(dict.fromkeys(self._kept)), results=results)

    def _observed(self, value: Any, boundary: int, call: str) -> Observed:
        torch = self._torch
        if isinstance(value, torch.Tensor):
            if value.grad_fn is not None:
                return self._history(value, boundary, call)
            return Observed(Kind.LEAF if value.requires_grad else Kind.PLAIN, scalar=value.dim() == 0)
        if isinstance(value, (int, float, complex)):
            return Observed(Kind.NUMBER)
        if isinstance(value, torch.nn.Module):
            return Observed(Kind.MODULE)
        if isinstance(value, torch.optim.Optimizer):
            return Observed(Kind.OPTIMIZER)
        if type(value) in (tuple, list) and 0 < len(value) <= MAX_ITEMS:
            items = tuple(self._observed(each, boundary, call) for each in value)
            return Observed(Kind.TUPLE if type(value) is tuple else Kind.LIST, items=items)
        return Observed(Kind.OTHER)

    def _history(self, tensor: Any, boundary: int, call: str) -> Observed:
        node: Node = tensor.grad_fn
        carries = oldest_below([node])[node] < boundary
        nodes = reachable(iter([node]))
        saves = any(saved(each) is not Saved.NOTHING for each, _ in zip(nodes, range(MAX_NODES), strict=False))
        state = self._state(node, boundary, call) if carries else ""
        return Observed(Kind.HISTORY, scalar=tensor.dim() == 0, carries=carries, saves=saves, state=state)

    def _state(self, node: Node, boundary: int, call: str) -> str:
        """Where the callee keeps the tensor of an earlier pass, as the function could write it."""
        root = call.partition("(")[0].partition(".")[0]
        for each, _ in zip(reachable(iter([node])), range(MAX_NODES), strict=False):
            if each._sequence_nr() < boundary:
                for name in self._journal.names(each._sequence_nr()):
                    if name.root == root and _PLAIN_PATH.fullmatch(name.path):
                        return name.path
        return ""

    def _is_stale(self, value: Any, boundary: int) -> bool:
        """Whether a tensor was there before: the call has not run again."""
        node = getattr(value, "grad_fn", None) if isinstance(value, self._torch.Tensor) else None
        return node is not None and node._sequence_nr() < boundary

    def _names_in(self, series: Series) -> set[str]:
        """Under which other names what gathers was known."""
        names = {name for top in series.tops for name in self._journal.all_names(top)}
        return {name.path for name in names if name.root != series.binding.root and name.path.isidentifier()}


MISSING = object()


def _has_just_run(binder: Binder, line: int) -> bool:
    """Whether, in a body that is run from top to bottom, the assignment is what the name is bound to at this line."""
    return binder.last <= line and all(first <= line <= last for first, last in binder.branches)


def _value_of(target: Target, frame: FrameType) -> Any:
    if isinstance(target, tuple):
        return tuple(_value_of(each, frame) for each in target)
    root, *rest = target.split(".")
    value = frame.f_locals.get(root, MISSING)
    for name in rest:
        fields = getattr(value, "__dict__", {})
        value = fields.get(name, MISSING) if isinstance(fields, dict) else MISSING
    return value


@lru_cache(64)
def binders(path: str) -> dict[str, tuple[Binder, ...]]:
    """The assignments of calls in a file by the function that they stand in; of one name only the last one counts."""
    try:
        tree = ast.parse("".join(linecache.getlines(path)))
    except (SyntaxError, ValueError, RecursionError):
        return {}
    stored: dict[tuple[str, str], int] = {}
    for function, name, line in _stored(tree, ""):
        stored[function, name] = max(line, stored.get((function, name), 0))
    found: dict[str, list[Binder]] = {}
    for function, binder in _binders(tree, "", ()):
        if all(stored.get((function, name), 0) <= binder.last for name in _names(binder.target)):
            found.setdefault(function, []).append(binder)
    return {function: tuple(several) for function, several in found.items()}


def _stored(node: ast.AST, function: str) -> Iterator[tuple[str, str, int]]:
    """Every name, or attribute of one, that is bound: with its function and the line."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, DEFINITIONS):
            yield from _stored(child, f"{function}.{child.name}".lstrip("."))
            continue
        if isinstance(child, (ast.Name, ast.Attribute)) and isinstance(child.ctx, ast.Store):
            yield function, spelled(child), child.lineno
        yield from _stored(child, function)


def _binders(node: ast.AST, function: str, branches: tuple[tuple[int, int], ...]) -> Iterator[tuple[str, Binder]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, DEFINITIONS):
            yield from _binders(child, f"{function}.{child.name}".lstrip("."), ())
        elif isinstance(child, ast.Assign) and isinstance(child.value, ast.Call) and len(child.targets) == 1:
            target = _target(child.targets[0])
            if target is not None:
                last = child.end_lineno or child.lineno
                yield function, Binder(target, spelled(child.value), child.lineno, last, branches)
        elif isinstance(child, ast.If):
            for body in (child.body, child.orelse):
                if body:
                    lines = (body[0].lineno, body[-1].end_lineno or body[-1].lineno)
                    yield from _binders(ast.Module(body, []), function, (*branches, lines))
        elif isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case)):
            yield from _binders(child, function, branches)


def _target(node: ast.expr) -> Target | None:
    """None for a target of which not every part is a name, or an attribute of one."""
    if isinstance(node, (ast.Tuple, ast.List)):
        parts = [_target(each) for each in node.elts]
        return None if None in parts else tuple(part for part in parts if part is not None)
    if isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
        return spelled(node)
    return None


def _leaves(value: Any) -> Iterator[Any]:
    if type(value) in (tuple, list) and len(value) <= MAX_ITEMS:
        for each in value:
            yield from _leaves(each)
    else:
        yield value


def _names(target: Target) -> set[str]:
    return {target} if isinstance(target, str) else {name for each in target for name in _names(each)}


@dataclass(frozen=True, slots=True)
class Keeper:
    """A call that is given what a holder keeps."""

    place: Place
    text: str
    argument: int | str


def _keepers(series: Series, names: set[str]) -> list[Keeper]:
    """Calls in the holder's file that are given one of these names: on the holder's own object, or the only one."""
    binding = series.binding
    if not os.path.isfile(binding.file):
        return []
    found = list(_calls_with(binding.file, names))
    own = [keeper for keeper in found if _is_on(keeper.text, binding)]
    return own or (found if len(found) == 1 else [])


def _is_on(call: str, binding: Binding) -> bool:
    callee = call.partition("(")[0].rpartition(".")[0]
    return bool(callee) and (binding.path == callee or binding.path.startswith((f"{callee}.", f"{callee}[")))


def _calls_with(path: str, names: set[str]) -> Iterator[Keeper]:
    try:
        tree = ast.parse("".join(linecache.getlines(path)))
    except (SyntaxError, ValueError, RecursionError):
        return
    place = os.path.realpath(path)

    def search(node: ast.AST, function: str) -> Iterator[Keeper]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, DEFINITIONS):
                yield from search(child, f"{function}.{child.name}".lstrip("."))
                continue
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Call):
                call = child.value
                given: list[tuple[int | str, ast.expr]] = [*enumerate(call.args)]
                given += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
                for argument, value in given:
                    if isinstance(value, ast.Name) and value.id in names:
                        yield Keeper(place_of(place, function), spelled(call), argument)
            yield from search(child, function)

    yield from search(tree, "")
