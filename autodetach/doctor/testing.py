"""Each test of pytest under observation: what gathers graph in it, and what still holds its graph afterwards."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Mapping
from typing import Any

import pytest

from autodetach.doctor.budget import Budget
from autodetach.doctor.diagnosis import Diagnosis, Kind, Step
from autodetach.doctor.frames import Territory
from autodetach.doctor.holders import Binding, Scope, Search
from autodetach.doctor.hooking import when_imported
from autodetach.doctor.nodes import NO_SEQUENCE
from autodetach.doctor.observer import Observer, Options
from autodetach.doctor.stores import stores
from autodetach.doctor.table import table
from autodetach.doctor.threads import thread_number
from autodetach.doctor.words import paragraph

NAME = "autodetach"
MAX_LEFT = 10
"""So many holders are told of one test."""


class Guard:
    """The hooks. Tests run one after the other, so what is known of the present one is all there is to know."""

    def __init__(self) -> None:
        self._territory = Territory()
        self._begun: int | None = None
        self._fixtures: frozenset[str] = frozenset()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """A marker that says something else than it was meant to is no exemption. Raises UsageError."""
        for item in items:
            for marker in item.iter_markers(NAME):
                if marker.args or set(marker.kwargs) != {"allow"} or not isinstance(marker.kwargs["allow"], bool):
                    raise pytest.UsageError(f"{item.nodeid}: write @pytest.mark.autodetach(allow=True)")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Fail a test in which a name gathers graph."""
        self._begun = None
        if _is_allowed(item):
            return (yield)
        heard: list[Diagnosis] = []
        self._territory.add(str(item.path))
        observer = Observer(Options(), self._territory, heard.append, thread_number())
        observer.budget = Budget(None)  # a test is to fail or to pass, however busy the machine is
        begun = _next_sequence()
        fixtures = frozenset(name for name, _, _ in _fixtures(item))
        ended = False

        def attach(torch: Any) -> None:
            if not ended:
                observer.attach(torch)

        when_imported("torch", attach)
        try:
            result = yield
            found = [diagnosis for diagnosis in observer.results() if diagnosis.kind is Kind.GROWTH]
        finally:
            ended = True
            observer.detach()
            if heard and sys.version_info < (3, 11):  # later ones have it as a note on the error
                item.add_report_section("call", NAME, "\n".join(line for each in heard for line in paragraph(each)))
        if found:
            pytest.fail(_told(found), pytrace=False)
        self._begun, self._fixtures = begun, fixtures
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Fail where something that outlives the test still holds its graph."""
        result = yield
        begun, self._begun = self._begun, None
        torch = sys.modules.get("torch")
        if begun is not None and _next_sequence() > begun:
            left = list(self._left(item, torch, begun))
            if left:
                pytest.fail(_told(left), pytrace=False)
        return result

    def _left(self, item: pytest.Item, torch: Any, begun: int) -> Iterator[Diagnosis]:
        search = _Outside(torch, self._territory)
        live = {f"fixture {name}": value for name, value, _ in _fixtures(item) if name in self._fixtures}
        scopes: list[Scope] = [*search.scopes(None), (str(item.path), "", live, 0)]
        wider = {name: scope for name, _, scope in _fixtures(item)}
        told: set[Binding] = set()
        for held in search.held_in(scopes):
            sequence = held.tensor.grad_fn._sequence_nr()
            if sequence == NO_SEQUENCE or sequence < begun or held.holder in told:
                continue
            told.add(held.holder)
            if len(told) > MAX_LEFT:
                return
            yield _diagnosis(item, held.holder, held.binding, wider, search.files())


class _Outside(Search):
    """Does not look at weights that a hook of their module computes anew in each call, with their history."""

    def _module_parts(self, module: Any) -> Iterator[tuple[str, Any, bool]]:
        parameters = module._parameters
        for step, part, gathers in super()._module_parts(module):
            if f"{step[1:]}_orig" not in parameters and f"{step[1:]}_g" not in parameters:
                yield step, part, gathers


def _diagnosis(
    item: pytest.Item, holder: Binding, inner: Binding, wider: Mapping[str, str], files: list[str]
) -> Diagnosis:
    name = holder.root.removeprefix("fixture ")
    if name == holder.root:
        where = f"`{holder.path}` ({holder.where})"
    else:
        path = holder.path.removeprefix("fixture ")
        where = f"`{path}` (of the fixture `{name}`, scope {wider[name]})"
        holder = Binding(path, name, holder.file, holder.function)
    sites = stores(holder, files)
    test = getattr(item, "originalname", item.name)
    sites = tuple(site for site in sites if site.function.split(".")[-1] == test) or sites
    story = [Step(site, f"`{holder.path}` takes a tensor with its graph") for site in sites]
    if inner.path.removeprefix("fixture ") != holder.path:
        story.append(Step(None, f"the tensor is `{inner.path.removeprefix('fixture ')}`"))
    site = sites[0] if sites else None
    return Diagnosis(Kind.LEFT, f"{where} holds graph of this test after it", site, holder, tuple(story))


def _told(found: list[Diagnosis]) -> str:
    lines: list[str] = []
    for diagnosis in found:
        lines += paragraph(diagnosis)
    lines += table(found, None)
    lines.append("(@pytest.mark.autodetach(allow=True) lets a test do so)")
    return "\n".join(lines)


def _is_allowed(item: pytest.Item) -> bool:
    marker = item.get_closest_marker(NAME)
    return marker is not None and bool(marker.kwargs.get("allow"))


def _fixtures(item: pytest.Item) -> Iterator[tuple[str, Any, str]]:
    """Name, value and scope of the fixtures that have a value now, of those that the test asks for."""
    info = getattr(item, "_fixtureinfo", None)
    for name, definitions in getattr(info, "name2fixturedefs", {}).items():
        for definition in definitions:
            cached = getattr(definition, "cached_result", None)
            if cached is not None and cached[2] is None:
                yield name, cached[0], str(definition.scope)


def _next_sequence() -> int:
    """The number that the next node of this thread will have, 0 where there is no PyTorch yet."""
    autograd = getattr(sys.modules.get("torch"), "autograd", None)
    counter = getattr(autograd, "_get_sequence_nr", None)
    return 0 if counter is None else int(counter())
