"""The plugin in pytest itself, with tests that leak graph, tests that do not, and tests that raise."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent

TESTS = """
import pytest, torch
import torch.nn.utils.parametrizations

CACHE = []


class Box:
    last = None


@pytest.fixture(scope="module")
def net():
    net = torch.nn.utils.spectral_norm(torch.nn.Linear(3, 1))
    net.memory = {}
    return net


@pytest.fixture(scope="session")
def table():
    return torch.ones(3, requires_grad=True).exp()


@pytest.fixture
def clean():
    yield
    CACHE.clear()


def x():
    return torch.ones(2, 3)


def test_gathers(net):
    total = 0
    for _ in range(8):
        loss = net(x()).sum()
        loss.backward()
        total = total + loss


def test_numbers(net, table):
    total = 0
    for _ in range(8):
        loss = net(x()).sum()
        loss.backward()
        total = total + loss.item()
    assert table.detach().sum() > 0


def test_differentiates_what_it_gathers(net):
    losses = []
    for _ in range(8):
        losses.append(net(x()).sum())
    torch.stack(losses).sum().backward()


def test_module(net):
    CACHE.append(net(x()))


def test_module_that_a_fixture_cleans(net, clean):
    CACHE.append(net(x()))


def test_class(net):
    Box.last = net(x()).sum()


def test_fixture(net):
    net.memory["x"] = [net(x())]


class TestMethods:
    seen = []

    def test_class_of_the_test(self, net):
        self.own = net(x())
        self.seen.append(net(x()))

    @pytest.mark.autodetach(allow=True)
    def test_allowed(self, net):
        CACHE.append(net(x()))


def test_raises(net):
    CACHE.append(net(x()))
    h = torch.ones(3, requires_grad=True).exp()
    h.sum().backward()
    h.sum().backward()


@pytest.mark.xfail(strict=True)
def test_expected(net):
    test_gathers(net)


def test_without_pytorch():
    pass
"""
FAILED = {
    "test_gathers": "FAILED",
    "test_raises": "FAILED",
    "test_module": "ERROR",
    "test_class": "ERROR",
    "test_fixture": "ERROR",
    "TestMethods::test_class_of_the_test": "ERROR",
}


def run(folder: Path, *arguments: str, autoload: bool = False, path: str = "") -> subprocess.CompletedProcess[str]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    environment = {**ours, "PYTHONPATH": os.pathsep.join(filter(None, [path, str(ROOT)])), "COLUMNS": "200"}
    if not autoload:
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        arguments = ("-p", "autodetach.pytest_plugin", *arguments)
    command = [sys.executable, "-m", "pytest", "-ra", "-p", "no:cacheprovider", "--strict-markers", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)


def outcomes(output: str) -> dict[str, str]:
    return {test: word for word, test in re.findall(r"^(FAILED|ERROR) test_a\.py::(\S+)", output, re.MULTILINE)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tests")
    (folder / "test_a.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n    ignore:::torch\n")
    return folder


@pytest.fixture(scope="module")
def output(folder: Path) -> str:
    ran = run(folder, "--autodetach")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return ran.stdout


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(TESTS.splitlines(), 1) if line.strip() == text)


def test_what_fails(output: str) -> None:
    assert outcomes(output) == FAILED, output
    assert "2 failed, 9 passed, 1 xfailed, 4 errors" in output


def test_what_is_told(output: str) -> None:
    line = line_of("total = total + loss")
    assert (
        f"test_a.py:{line}: growing graph: `total` (in `test_gathers`) keeps the autograd graph of every pass" in output
    )
    assert re.search(rf"^total +\d+ +\d+ +\+\S+ +\S+ \S+ +test_a.py:{line}$", output, re.MULTILINE), output
    line = line_of("CACHE.append(net(x()))")
    assert f"test_a.py:{line}: graph left behind: `CACHE` (at module level) holds graph of this test after it" in output
    line = line_of("Box.last = net(x()).sum()")
    assert f"test_a.py:{line}: graph left behind: `Box.last` (at module level) holds graph" in output
    line = line_of('net.memory["x"] = [net(x())]')
    assert f"test_a.py:{line}: graph left behind: `net.memory` (of the fixture `net`, scope module) holds" in output
    assert "3. the tensor is" not in output
    assert "`TestMethods.seen` (at module level) holds graph of this test" in output
    assert "own" not in re.findall(r"graph left behind: `(\S+)`", output)


def test_an_error_has_its_story_and_no_frames_of_ours(output: str) -> None:
    assert "`h` carries a graph that line " in output
    assert "doctor/observer.py" not in output and "doctor/lines.py" not in output


def test_without_the_option(folder: Path) -> None:
    ran = run(folder, "-q")
    assert outcomes(ran.stdout) == {"test_raises": "FAILED", "test_expected": "FAILED"}, ran.stdout
    assert "autodetach:" not in ran.stdout


def test_in_several_processes(folder: Path) -> None:
    # With `load`, a fixture may end with the test that leaves something in it, and takes that along.
    ran = run(folder, "-p", "xdist.plugin", "-n", "2", "--dist", "loadscope", "--autodetach")
    assert outcomes(ran.stdout) == FAILED, ran.stdout + ran.stderr
    assert "graph left behind: `net.memory` (of the fixture `net`, scope module) holds" in ran.stdout


SMALL = """
import sys
def test_a():
    print("loaded", *sorted(name for name in sys.modules if name.startswith(("autodetach", "torch"))))
"""


@pytest.fixture
def installed(tmp_path: Path) -> str:
    """A folder that says what an installed package would: which plugins of pytest it has."""
    toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    project = toml.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    points = "".join(f"{name} = {value}\n" for name, value in project["entry-points"]["pytest11"].items())
    folder = tmp_path / "site" / "autodetach-0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: autodetach\nVersion: 0\n")
    (folder / "entry_points.txt").write_text(f"[pytest11]\n{points}")
    return str(folder.parent)


def test_idle_it_loads_nothing(tmp_path: Path, installed: str) -> None:
    (tmp_path / "test_small.py").write_text(SMALL)
    ran = run(tmp_path, "-s", autoload=True, path=installed)
    assert "loaded autodetach autodetach.pytest_plugin\n" in ran.stdout, ran.stdout
    ran = run(tmp_path, "-s", "--autodetach", autoload=True, path=installed)
    assert "autodetach.doctor.testing" in ran.stdout and "torch" not in ran.stdout, ran.stdout
    ran = run(tmp_path, "--markers", autoload=True, path=installed)
    assert "@pytest.mark.autodetach(allow=False): with allow=True, the test may keep" in ran.stdout


def test_the_setting(tmp_path: Path) -> None:
    (tmp_path / "test_small.py").write_text(SMALL)
    (tmp_path / "pytest.ini").write_text("[pytest]\nautodetach = true\n")
    assert "autodetach.doctor.testing" in run(tmp_path, "-s").stdout
    assert "loaded autodetach autodetach.pytest_plugin\n" in run(tmp_path, "-s", "--no-autodetach").stdout


@pytest.mark.parametrize("marker", ["", "(True)", "(allow=1)", "(allowed=True)"])
def test_a_marker_that_says_nothing(tmp_path: Path, marker: str) -> None:
    (tmp_path / "test_small.py").write_text(f"import pytest\n@pytest.mark.autodetach{marker}\ndef test_a(): pass\n")
    ran = run(tmp_path, "--autodetach")
    assert ran.returncode == 4
    assert "test_small.py::test_a: write @pytest.mark.autodetach(allow=True)" in ran.stdout + ran.stderr
