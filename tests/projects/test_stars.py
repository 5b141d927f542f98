"""What a file has from PyTorch by a star is what PyTorch has, for whoever imports it from there."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from autodetach.checker import CheckOptions, check
from autodetach.machine.star_names import NAMES
from autodetach.projects.imports import Imports
from autodetach.source import Source


@pytest.mark.parametrize("module", NAMES)
def test_a_star_binds_these_names(module: str) -> None:
    space: dict[str, object] = {}
    exec(f"from {module} import *", space)
    assert set(NAMES[module]) <= set(space)
    assert all(getattr(importlib.import_module(module), name) is space[name] for name in NAMES[module])


RETAINED = """\
import torch
{line}

net = {made}
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
out = torch.tanh(net(torch.ones(1, 2)))
out.sum().backward(retain_graph=True)
optimizer.step()
out.sum().backward()
optimizer.step()
"""
ONE, TWO = "Sequential(Linear(2, 2))", "Sequential(Linear(2, 2), Linear(2, 2))"


@pytest.mark.parametrize(
    "line",
    ["import own as nn", "import passed as nn", "from own import *", "from passed import *", "from torch.nn import *"],
)
@pytest.mark.parametrize(("made", "codes"), [(ONE, []), (TWO, ["AD202"])])
def test_one_layer_saves_no_weight_that_its_input_does_not_ask_for(
    tmp_path: Path, line: str, made: str, codes: list[str]
) -> None:
    (tmp_path / "own.py").write_text("import torch\nfrom torch.nn import *\n")
    (tmp_path / "passed.py").write_text("from own import *\n")
    is_module = line.endswith("as nn")
    made = made.replace("Sequential", "nn.Sequential").replace("Linear", "nn.Linear") if is_module else made
    path = str(tmp_path / "train.py")
    source = Source.from_text(RETAINED.format(line=line, made=made), path)
    result = check(source, CheckOptions(), path=path, finder=Imports(path, str(tmp_path)))
    assert [finding.code for finding in result.findings] == codes


def test_what_the_file_defines_itself_is_meant(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("from torch.nn import *\n\ndef Sequential(*layers):\n    return layers[0]\n")
    path = str(tmp_path / "train.py")
    source = Source.from_text(RETAINED.format(line="import own as nn", made="nn." + ONE.replace("(L", "(nn.L")), path)
    result = check(source, CheckOptions(), path=path, finder=Imports(path, str(tmp_path)))
    assert not result.findings
