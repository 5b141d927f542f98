"""Programs of several files: one call makes `after` of `fixtures/projects/NAME/before`, and both run on PyTorch."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.disk.files import FoundFile
from autodetach.settle import once
from autodetach.source import Source
from autodetach.task import Outcome

PROJECTS = Path(__file__).parent.parent / "fixtures" / "projects"
NAMES = sorted(p.name for p in PROJECTS.iterdir())
RAISES = {
    "two_packages": "Trying to backward through the graph a second time",
    "src_layout": None,
    "base_class": None,
    "shared_sampler": None,
}


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*.py"))}


def autodetach(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autodetach", *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def trained(folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-W", "error", "train.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)


@pytest.fixture(params=NAMES)
def project(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    shutil.copytree(PROJECTS / request.param / "before", tmp_path / "it")
    return request.param, tmp_path / "it"


def test_one_call_repairs_it(project: tuple[str, Path]) -> None:
    name, folder = project
    ran = autodetach(folder, "fix", "--unsafe-fixes", ".")
    assert (ran.returncode, ran.stdout) == (0, "")
    assert contents(folder) == contents(PROJECTS / name / "after")
    assert autodetach(folder, "check", ".").returncode == 0


def test_the_patch_is_what_fix_does(project: tuple[str, Path]) -> None:
    name, folder = project
    patch = autodetach(folder, "diff", "--unsafe-fixes", ".").stdout
    subprocess.run(["git", "apply"], cwd=folder, input=patch, text=True, check=True)
    assert contents(folder) == contents(PROJECTS / name / "after")


@pytest.mark.parametrize("name", NAMES)
def test_pytorch_agrees(name: str) -> None:
    before, after = trained(PROJECTS / name / "before"), trained(PROJECTS / name / "after")
    assert after.returncode == 0, after.stderr
    expected = RAISES[name]
    if expected is None:
        assert before.stdout == after.stdout
    else:
        assert expected in before.stderr


def test_fault_cause_and_fix_lie_in_three_files() -> None:
    said = autodetach(PROJECTS / "two_packages" / "before", "check", "--output-format", "json", ".").stdout
    assert '"code": "AD302"' in said
    text = autodetach(PROJECTS / "two_packages" / "before", "check", ".").stdout
    assert text.startswith("models/cell.py:11:16: AD302 carried-state: ")  # where the graph is built
    assert "engine/step.py:8: pass 2: needs the freed part again: PyTorch raises\n" in text
    assert "   in train.py:\n     17 +         state = state.detach()\n" in text


def test_a_file_that_was_not_asked_for_is_not_edited(tmp_path: Path) -> None:
    shutil.copytree(PROJECTS / "src_layout" / "before", tmp_path / "it")
    ran = autodetach(tmp_path / "it", "fix", "train.py")
    assert ran.returncode == 1
    assert ran.stdout.startswith("src/forecast/meter.py:9:9: AD101")
    assert contents(tmp_path / "it") == contents(PROJECTS / "src_layout" / "before")


def test_standard_input_is_taken_as_the_file(tmp_path: Path) -> None:
    shutil.copytree(PROJECTS / "two_packages" / "before", tmp_path / "it")
    folder = tmp_path / "it"
    text = (folder / "train.py").read_text()
    (folder / "train.py").write_text("")
    command = [sys.executable, "-m", "autodetach", "fix", "--unsafe-fixes", "-", "--stdin-filename", "train.py"]
    ran = subprocess.run(command, cwd=folder, input=text, capture_output=True, text=True, check=False)
    assert ran.stdout == (PROJECTS / "two_packages" / "after" / "train.py").read_text()


def test_no_user_code_is_run_or_imported(tmp_path: Path) -> None:
    bomb = "import pathlib\npathlib.Path('bang').write_text('bang')\n"
    for name in ("helpers.py", "sitecustomize.py", "conftest.py", "typing.py"):
        (tmp_path / name).write_text(bomb)
    (tmp_path / "train.py").write_text(
        "import torch\nimport helpers\nfrom helpers import f\nf(torch.zeros(3)).backward()\n"
    )
    # Isolated, since `python -m` alone would look for every module in the current folder first.
    command = [sys.executable, "-I", "-m", "autodetach", "check", "train.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode in (0, 1), ran.stderr
    assert not (tmp_path / "bang").exists()


def test_two_programs_share_a_file(tmp_path: Path) -> None:
    """Both show the fault in the shared file; it is repaired once, and told once."""
    (tmp_path / "engine.py").write_text(
        "def epoch(model, optimizer, batches):\n"
        "    total = 0\n"
        "    for x in batches:\n"
        "        loss = model(x).pow(2).mean()\n"
        "        optimizer.zero_grad()\n"
        "        loss.backward()\n"
        "        optimizer.step()\n"
        "        total += loss\n"
        "    return total / len(batches)\n"
    )
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text(
            "import torch\n"
            "from engine import epoch\n"
            "model = torch.nn.Linear(3, 1)\n"
            "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
            "batches = torch.randn(9, 4, 3)\n"
            "for _ in range(3):\n"
            "    print(f'{epoch(model, optimizer, batches):.3f}')\n"
        )
    checked = autodetach(tmp_path, "check", ".")
    assert checked.stdout.count("AD101") == 1
    fixed = autodetach(tmp_path, "fix", ".")
    assert (fixed.returncode, fixed.stderr) == (0, "Found 1, fixed 1, 0 left.\n")
    assert "        total += loss.item()\n" in (tmp_path / "engine.py").read_text()


SCORER = """\
import torch


class Scorer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(3, 2)

    def score(self, loader):
        total = 0
        for x, y in loader:
            total += torch.nn.functional.cross_entropy(self.net(x), y)
        return float(total) / len(loader)

    def size(self, loader):
        return len(loader)
"""
MODEL = """\
from scorer import Scorer


class Model:
    def __init__(self):
        self.scorer = Scorer()

    def score(self, loader):
        return self.scorer.score(loader)

    def size(self, loader):
        return self.scorer.size(loader)
"""
WITHOUT_GRADIENTS = """\
import torch
from data import loader
from model import Model

model = Model()
with torch.no_grad():
    for _ in range(9):
        print(model.{method}(loader))
"""
WITH_GRADIENTS = """\
import torch
from data import loader
from model import Model

torch.manual_seed(0)
model = Model()
for _ in range(9):
    print(model.score(loader))
"""


@pytest.mark.parametrize(
    ("callers", "is_told"),
    [
        ({}, True),
        ({"predict.py": WITHOUT_GRADIENTS.format(method="score")}, False),
        ({"predict.py": WITHOUT_GRADIENTS.format(method="size")}, True),
        ({"predict.py": WITHOUT_GRADIENTS.format(method="score"), "debug.py": WITH_GRADIENTS}, True),
        ({"predict.py": WITH_GRADIENTS}, True),
    ],
    ids=["nobody", "without gradients", "only another method", "with and without", "with gradients"],
)
def test_what_others_call_without_gradients_keeps_no_graph(
    callers: dict[str, str], is_told: bool, tmp_path: Path
) -> None:
    """Whoever calls it may be two files away; a program that calls it with gradients on tells of it itself."""
    for name, text in {"scorer.py": SCORER, "model.py": MODEL, **callers}.items():
        (tmp_path / name).write_text(text)
    for caches in (("--no-cache",), (), ()):
        checked = autodetach(tmp_path, "check", *caches, ".")
        assert ("AD101" in checked.stdout) == is_told


def test_what_others_contradict_is_left_as_it_is_and_the_rest_of_its_file_is_repaired(tmp_path: Path) -> None:
    mean = (
        "\n\ndef mean(loader, net):\n"
        "    total = 0\n"
        "    for x, y in loader:\n"
        "        total += torch.nn.functional.mse_loss(net.train()(x), y)\n"
        "    return float(total) / len(loader)\n"
    )
    files = {"scorer.py": SCORER + mean, "model.py": MODEL, "predict.py": WITHOUT_GRADIENTS.format(method="score")}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    fixed = autodetach(tmp_path, "fix", ".")
    assert (fixed.returncode, fixed.stderr) == (0, "Found 1, fixed 1, 0 left.\n")
    assert (tmp_path / "scorer.py").read_text() == SCORER + mean.replace("(x), y)", "(x), y).item()")


@pytest.mark.parametrize(
    ("more", "fixed"),
    [
        ("", 0),
        (
            "\n    def other(self, loader):\n"
            "        total = 0\n"
            "        for x, y in loader:\n"
            "            total += torch.nn.functional.cross_entropy(self.net(x), y)\n"
            "        return float(total)\n",
            1,
        ),
    ],
    ids=["stored beside the sum", "the same line in another method"],
)
def test_fix_repairs_what_check_tells_and_no_more(more: str, fixed: int, tmp_path: Path) -> None:
    """What is contradicted may stand beside another fault of the same value, or in a line that another one repeats."""
    scorer = SCORER.replace("        total = 0\n", "        total, kept = 0, []\n", 1).replace(
        "        return float", "            kept.append(total)\n        return float", 1
    )
    files = {"scorer.py": scorer + more, "model.py": MODEL, "predict.py": WITHOUT_GRADIENTS.format(method="score")}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    checked = autodetach(tmp_path, "check", "--output-format", "concise", ".")
    assert checked.stdout.count("AD1") == fixed
    assert autodetach(tmp_path, "fix", ".").stderr == f"Found {fixed}, fixed {fixed}, 0 left.\n"
    assert (tmp_path / "scorer.py").read_text().startswith(scorer)


def test_a_repair_that_only_one_view_of_a_fault_has_is_told() -> None:
    """The budget of a program may end before the repair of what it imports: for that file by itself it does not."""
    text = (PROJECTS.parent / "accumulated-loss" / "attribute_total.before.py").read_bytes()
    (found,) = check(Source.from_bytes(text, "parts.py"), CheckOptions()).findings
    here = found._replace(path="/p/parts.py")
    own = Outcome(FoundFile("/p/parts.py", "parts.py"), (found,))
    program = Outcome(FoundFile("/p/main.py", "main.py"), (here,), imported=("/p/parts.py",))
    assert once([own, program]) == [(here, program)]
    unrepaired = program._replace(findings=(here._replace(fix=None),))
    assert found.fix is not None
    assert once([own, unrepaired]) == [(found, own)]


SLICES = """\
import torch
from torch import nn

from {module} import deep, slices

generator, critic = nn.Linear(4, 4), nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
of_generator = torch.optim.Adam(generator.parameters())
of_critic = torch.optim.Adam(critic.parameters())
for step in range(100):
    fake = generator(torch.randn(8, 4)).tanh()
    real = slices(torch.randn(8, 4), fake)
    loss = critic(real).pow(2).mean() - critic(fake.detach()[:, :2]).mean()
    of_critic.zero_grad()
    loss.backward()
    of_critic.step()
    loss = critic(fake[:, :2]).mean()
    of_generator.zero_grad()
    loss.backward()
    of_generator.step()
deep(torch.zeros(1))
"""
DEEP = "import torch\n\n\ndef slices(x, like):\n    return x[:, : like.shape[1] // 2]\n\n\ndef deep(x):\n"
LOOPS = "".join(f"{'    ' * depth}for i{depth} in range(4):\n" for depth in range(1, 10)) + "    " * 10 + "x = x + 1\n"


def test_nothing_is_assumed_of_what_is_at_hand_but_too_much(tmp_path: Path) -> None:
    """`slices` hands on no history of `like`. It is not entered, since `deep`, beside it, takes the whole budget."""
    (tmp_path / "parts.py").write_text(DEEP + LOOPS)
    (tmp_path / "train.py").write_text(SLICES.format(module="parts"))
    (tmp_path / "elsewhere.py").write_text(SLICES.format(module="somewhere"))
    checked = autodetach(tmp_path, "check", "--no-cache", "--output-format", "concise", ".")
    (line,) = (line for line in checked.stdout.splitlines() if "AD" in line)
    assert line.startswith("elsewhere.py:") and "AD203" in line


def test_a_function_of_pytorch_is_none_of_the_program_that_has_its_name(tmp_path: Path) -> None:
    (tmp_path / "plots.py").write_text("import torch\n\n\ndef spread(values):\n    return torch.mean(values).abs()\n")
    (tmp_path / "train.py").write_text(
        "import torch\n"
        "import plots\n"
        "def mean(model, batches):\n"
        "    total = 0\n"
        "    for x in batches:\n"
        "        total += model(x).abs().mean()\n"
        "    return total / len(batches)\n"
        "net = torch.nn.Linear(3, 1)\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "batches = [torch.randn(4, 3) for _ in range(300)]\n"
        "for x in batches:\n"
        "    optimizer.zero_grad()\n"
        "    net(x).square().mean().backward()\n"
        "    optimizer.step()\n"
        "print(f'{mean(net, batches):.3f}')\n"
    )
    checked = autodetach(tmp_path, "check", ".")
    assert "safe fix: accumulate the number" in checked.stdout and "unsafe" not in checked.stdout
