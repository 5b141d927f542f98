"""An element of a tensor without a dimension: old programs ask for `loss.data[0]`."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from autodetach.doctor.diagnosis import Kind
from autodetach.doctor.frames import Territory
from autodetach.doctor.scalars import indexed_scalar

from .program_runs import diagnoses
from .warm import Warm

CASES = {
    "a variable": ("loss", "loss = torch.ones(())\nprint(1, loss.data[0])"),
    "an attribute": ("o.loss", "class O: pass\no = O()\no.loss = torch.ones(())\nx = o.loss[0]"),
    "in a function, on another line of the statement": (
        "loss",
        "def f(loss, rows):\n    return [rows[0],\n        loss.data[0]]\nf(torch.ones(()), [1])",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_named(name: str, tmp_path: Path) -> None:
    path, source = CASES[name]
    file = tmp_path / "it.py"
    file.write_text(source)
    territory = Territory()
    territory.add(str(file))
    with pytest.raises(IndexError) as caught:
        exec(compile(source, str(file), "exec"), {"torch": torch})
    diagnosis = indexed_scalar(caught.value, territory)
    assert diagnosis is not None and diagnosis.kind is Kind.SCALAR and diagnosis.kind.raises
    assert diagnosis.binding is not None and diagnosis.binding.path == path
    wanted = [n for n, line in enumerate(source.splitlines(), 1) if "[0]" in line][-1 if "rows" not in source else 1]
    assert diagnosis.site is not None and diagnosis.site.line == wanted
    assert f"`{path}.item()`" in diagnosis.message


@pytest.mark.parametrize("source", ["[][0]", "torch.ones(2)[5]", "torch.ones(())[0]", "1 / 0"])
def test_other_errors_are_not(source: str) -> None:
    with pytest.raises((IndexError, ZeroDivisionError)) as caught:
        exec(compile(source, "<it>", "exec"), {"torch": torch})
    assert indexed_scalar(caught.value, Territory()) is None


def test_a_run_tells_it_and_its_repair(python: Warm, tmp_path: Path) -> None:
    (tmp_path / "it.py").write_text(
        "import torch\nw = torch.nn.Parameter(torch.ones(3))\n"
        "loss = w.exp().sum()\nloss.backward()\nprint(loss.data[0])\n"
    )
    ran = python("-m", "autodetach", "run", "--fix", "it.py", cwd=tmp_path)
    (said,) = diagnoses(ran.err)
    assert (said.kind, said.names[0], said.lines) == ("indexed scalar", "loss", frozenset([5])), ran.err
    assert ran.code == 1
    assert python("it.py", cwd=tmp_path).code == 0
