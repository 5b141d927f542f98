"""The optimizers that have stepped: what they change, and where."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

from autodetach.doctor.frames import Site
from autodetach.doctor.nodes import address_of


class Steppers:
    """Keeps no optimizer alive."""

    def __init__(self) -> None:
        self._last: dict[int, tuple[weakref.ref[Any], Site]] = {}

    def note(self, optimizer: Any, site: Site) -> None:
        """It has stepped at this line."""
        self._last[id(optimizer)] = (weakref.ref(optimizer), site)

    def site_of(self, tensor: Any) -> Site | None:
        """The last line that stepped an optimizer of this tensor."""
        found: Site | None = None
        address = address_of(tensor)
        for parameter, site in self._parameters():
            # What a graph has saved may be a view of the parameter.
            if parameter is tensor or (address and address_of(parameter) == address):
                found = site
        return found

    def addresses(self) -> set[int]:
        """Those of the storages that are there anyway: of the leaves that are stepped."""
        return {parameter.untyped_storage().data_ptr() for parameter, _ in self._parameters()}

    def _parameters(self) -> Iterator[tuple[Any, Site]]:
        for ref, site in self._last.values():
            optimizer = ref()
            for group in optimizer.param_groups if optimizer is not None else ():
                for parameter in group["params"]:
                    yield parameter, site
