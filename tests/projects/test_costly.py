"""What a program that costs too much leaves out: networks, not the meter nor the class that its own derives from."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from autodetach.checker import CUT_IMPORTS, check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.machine.exploring import analyse
from autodetach.projects.costly import costly
from autodetach.projects.imports import Imports
from autodetach.projects.project import Files
from autodetach.source import Source

LAYERS = "".join(f"        x = self.layer(x) + self.layer(x) * {n}\n" for n in range(120))
FILES = {
    "nets/blocks.py": f"""
import torch

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)

    def forward(self, x):
        for _ in range(3):
            for _ in range(3):
{LAYERS.replace("        x", "                x")}        return x
""",
    "nets/models.py": """
import torch
from nets.blocks import Block

class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block() for _ in range(20)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
""",
    "meters.py": """
class AverageMeter:
    def __init__(self):
        self.total = 0
        self.count = 0

    def update(self, value):
        self.total += value
        self.count += 1
""",
    "base.py": """
import torch
from nets.models import Network

class BaseRunner:
    def __init__(self, loader):
        self.loader = loader
        self.model = Network()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def train(self):
        for batch in self.loader:
            self.train_step(batch)
        print(float(self.meter.total))
""",
    "runner.py": """
from base import BaseRunner
from meters import AverageMeter

class Runner(BaseRunner):
    def __init__(self, loader):
        super().__init__(loader)
        self.meter = AverageMeter()

    def train_step(self, batch):
        self.optimizer.zero_grad()
        loss = self.model(batch).pow(2).mean()
        loss.backward()
        self.optimizer.step()
        self.meter.update(loss)
""",
}


LONG = "    net(x).backward()\n" + f"    x = {' * '.join('x' * 20)}\n" * 2000


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in {**FILES, "pyproject.toml": "[project]\nname = 'runners'\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_networks_go_and_what_the_program_derives_from_stays(project: Path) -> None:
    path = str(project / "runner.py")
    source = Source.from_text(FILES["runner.py"], path)
    files = Files(path, source, ast.parse(source.text), Imports(path, str(project)))
    analysis = analyse(files.root.tree, files, whole=True)
    assert not analysis.complete
    assert {os.path.relpath(at, project) for at in costly(analysis, files)} == {os.path.join("nets", "blocks.py")}


def test_it_is_told_where_what_trains_goes(project: Path) -> None:
    path = str(project / "main.py")
    source = Source.from_text("import torch\nfrom long import train\n\ntrain(torch.ones(1))\n", path)
    (project / "long.py").write_text(f"import torch\n\nnet = torch.nn.Linear(1, 1)\n\n\ndef train(x):\n{LONG}")
    result = check(source, CheckOptions(), path=path, finder=Imports(path, str(project)))
    assert [(p.message, p.partial) for p in result.problems] == [(CUT_IMPORTS, True)]


def test_the_rest_is_looked_at(project: Path) -> None:
    path = str(project / "runner.py")
    source = Source.from_text(FILES["runner.py"], path)
    result = check(source, CheckOptions(), path=path, finder=Imports(path, str(project)))
    (finding,) = result.findings
    assert not result.problems
    assert (finding.code, finding.path) == ("AD101", str(project / "meters.py"))
    assert finding.assumptions == ("line 12: the value has history",)
    assert finding.fix is not None
    assert finding.fix.message == "hand over the value without its graph: `.detach()` on `loss`"
    assert finding.fix.applicability is Applicability.UNSAFE
