"""The names of the parts of results, as the installed PyTorch has them."""

from __future__ import annotations

import pytest
import torch

from autodetach.machine.result_names import NAMES


@pytest.mark.parametrize("name", NAMES)
def test_names_are_those_of_pytorch(name: str) -> None:
    kind = getattr(torch.return_types, name.replace(".", "_"))
    assert kind.__match_args__ == NAMES[name]
