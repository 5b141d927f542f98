"""What a program imports is run when it reads the name: what it never reads costs nothing, and circles close."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.machine.imports import Imports as Machine
from autodetach.machine.program_values import Namespace
from autodetach.projects.imports import Imports
from autodetach.source import Source

FILES = {
    "nets/__init__.py": "from nets.base import Base\nfrom nets.layers import *\n",
    "nets/base.py": "import torch\n\nclass Base(torch.nn.Linear):\n    pass\n",
    "nets/layers/__init__.py": "from nets.layers.scored import Scored\n",
    "nets/layers/scored.py": """
from nets import Base

class Scored(Base):
    def loss(self, x):
        return self(x).sum().{ends}
""",
    "aside.py": "import torch\nnumber = torch.ones(1)\n",
}
PROGRAM = """
import torch
from aside import number
from nets.layers import Scored as First
from {module} import Scored

def train():
    first, net, total = First(2, 1), Scored(2, 1), 0.0
    for x in torch.randn(9, 4, 2):
        total += net.loss(x)
    print(float(total))

train()
"""


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of the files that are run, besides the program itself."""
    names: set[str] = set()
    begin = Machine.begin

    def noted(machine: Machine, space: Namespace) -> None:
        names.add(os.path.basename(space.module.path))
        begin(machine, space)

    monkeypatch.setattr(Machine, "begin", noted)
    return names


@pytest.mark.parametrize("module", ["nets", "nets.layers", "nets.layers.scored"])
@pytest.mark.parametrize("is_in_package", [False, True])
@pytest.mark.parametrize(("ends", "codes"), [("item()", []), ("abs()", ["AD101"])])
def test_a_class_is_found_from_anywhere_in_a_circle(
    tmp_path: Path, begun: set[str], module: str, is_in_package: bool, ends: str, codes: list[str]
) -> None:
    package, scored = "nets/layers/__init__.py", "nets/layers/scored.py"
    files = {**FILES, package: FILES[scored], scored: "from nets.layers import Scored\n"} if is_in_package else FILES
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text.replace("{ends}", ends))
    path, text = str(tmp_path / "train.py"), PROGRAM.format(module=module)
    result = check(Source.from_text(text, path), CheckOptions(), path=path, finder=Imports(path, str(tmp_path)))
    assert [finding.code for finding in result.findings] == codes
    assert not any(finding.assumptions for finding in result.findings)
    assert "aside.py" not in begun
