"""A repair in a file that several programs import: what raises in one of them may be right in another."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HEAD = """\
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = [torch.rand(4, 3) for _ in range(4)]
"""
PASS = """\
for x in data:
    loss = net(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
LOGS = f"{HEAD}{PASS}    print(number(loss))\n"
NUMBER = "def number(x):\n    return x.data[0]\n"
JOIN = "import torch\n\n\ndef join(losses):\n    return torch.tensor(losses).sum()\n"
JOINS = f"""\
{HEAD}
for x in data:
    out = net(x)
    loss = join([out.pow(2).mean(), out.abs().mean()])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
CUT = "def cut(h):\n    h.detach_()\n    return h\n"
CUTS = f"""\
{HEAD}
h = torch.zeros(2, 3)
for x in data:
    out = (net.weight * x).tanh() + h[0]
    h = cut(out[:2])
    optimizer.zero_grad()
    out.sum().backward()
    optimizer.step()
print(net.weight)
"""
CARRIES = f"""\
{HEAD}
h = torch.zeros(1)
for x in data:
    h = net(x).mean() + h.tanh()
    optimizer.zero_grad()
    h.pow(2).sum().backward()
    optimizer.step()
    cut(h)
print(net.weight)
"""
UPDATE = "def update(w, lr):\n    w = w - lr * w.grad\n    return w\n"
UPDATES = """\
import torch

w = torch.ones(3, requires_grad=True)
for step in range(3):
    (w * w).sum().backward()
    w = update(w, 0.1)
print(w)
"""
LOOKS_AHEAD = """\
import torch

w = torch.ones(3, requires_grad=True)
(w * w).sum().backward()
print((update(w, 0.1) * w).sum().item())
"""
TWO = """\
def two(first, second, optimizer):
    optimizer.zero_grad()
    first.backward()
    second.backward()
    optimizer.step()
"""
SHARES = f"""\
{HEAD}
for x in data:
    out = net(x).tanh()
    two(out.mean(), out.pow(2).mean(), optimizer)
"""
SEPARATE = f"""\
{HEAD}
for x in data:
    two(net(x).tanh().mean(), net(x).pow(2).mean(), optimizer)
"""
STEP = """\
def step(loss, optimizer):
    optimizer.zero_grad()
    loss.backward(retain_variables=True)
    optimizer.step()
"""
STEPS = f"{HEAD}\nfor x in data:\n    step(net(x).pow(2).mean(), optimizer)\n"
WRAPS = f"""\
{HEAD}

class Chain:
    def __init__(self, loss):
        self.loss = loss

    def backward(self, retain_variables=False):
        self.loss.backward(retain_graph=retain_variables)


step(Chain(net(data[0]).mean()), optimizer)
"""
HELPERS = {
    "AD401": (NUMBER, "number", LOGS, f"{HEAD}print(number(net.weight))\n"),
    "AD501": (JOIN, "join", JOINS, "print(join([0.5, 0.25]))\n"),
    "AD404": (CUT, "cut", CUTS, CARRIES),
    "AD303": (UPDATE, "update", UPDATES, LOOKS_AHEAD),
    "AD201": (TWO, "two", SHARES, SEPARATE),
    "AD403": (STEP, "step", STEPS, WRAPS),
}
WHY = "another program calls this function, too"


def autodetach(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autodetach", *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def findings(folder: Path, *paths: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(autodetach(folder, "check", "--output-format", "json", *paths).stdout)
    return found


def put(folder: Path, helper: str, name: str, **programs: str) -> None:
    (folder / "pyproject.toml").write_text("")
    (folder / "helper.py").write_text(helper)
    for program, text in programs.items():
        (folder / f"{program}.py").write_text(f"from helper import {name}\n{text}")


@pytest.mark.parametrize(
    ("code", "asked"), [*((code, ["."]) for code in HELPERS), ("AD401", ["train.py", "helper.py"])], ids=str
)
def test_a_program_that_does_not_have_the_fault_makes_it_unsafe(code: str, asked: list[str], tmp_path: Path) -> None:
    helper, name, raises, other = HELPERS[code]
    put(tmp_path, helper, name, other=other, train=raises)
    (finding,) = findings(tmp_path, *asked)
    assert finding["code"] == code
    fixes = [fix for fix in (finding["fix"], *finding["alternatives"]) if "helper.py" in json.dumps(fix)]
    assert fixes
    assert all(fix["applicability"] == "unsafe" and fix["why_unsafe"].startswith(WHY) for fix in fixes)
    autodetach(tmp_path, "fix", *asked)
    assert (tmp_path / "helper.py").read_text() == helper


@pytest.mark.parametrize("code", HELPERS)
def test_it_is_safe_where_all_that_call_it_have_the_fault(code: str, tmp_path: Path) -> None:
    helper, name, raises, _ = HELPERS[code]
    put(tmp_path, helper, name, train=raises, again=raises, unused="")
    assert {finding["fix"]["applicability"] for finding in findings(tmp_path, ".")} == {"safe"}
    autodetach(tmp_path, "fix", ".")
    assert (tmp_path / "helper.py").read_text() != helper


MODEL = """\
import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(3, 3)
        self.h = torch.zeros(3)

    def forward(self, x):
        self.h = torch.tanh(self.mix(x + self.h))
        return self.h.sum()
"""
TRAINS = """\
import torch

cell = Cell()
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    cell(torch.randn(3)).backward()
    optimizer.step()
"""
USES = ("for _ in range(3):\n    print(cell(torch.randn(3)).item())", "print(cell(torch.randn(3)).item())")
EVALUATIONS = {
    "gradients off": f"import torch\n\ncell = Cell()\nwith torch.no_grad():\n    {USES[1]}\n",
    "gradients on": f"import torch\n\ncell = Cell()\n{USES[1]}\n",
    "untrained": f"import torch\n\ncell = Cell().eval()\n{USES[1]}\n",
}


@pytest.mark.parametrize("evaluation", EVALUATIONS)
def test_who_differentiates_nothing_is_not_asked_of_gradient(evaluation: str, tmp_path: Path) -> None:
    put(tmp_path, MODEL, "Cell", evaluate=EVALUATIONS[evaluation])
    (tmp_path / "train.py").write_text(f"from helper import Cell\n{TRAINS}")
    (alone,) = findings(tmp_path, "train.py")
    (tmp_path / "evaluate.py").unlink()
    (without,) = findings(tmp_path, "train.py")
    assert alone["fix"] == without["fix"]


D_STEP = """\
def d_step(D, G, optimizer, x, z):
    optimizer.zero_grad()
    fake = G(z)
    loss = (D(x) - 1).pow(2).mean() + D(fake).pow(2).mean()
    loss.backward()
    optimizer.step()
    return fake
"""
NETS = """\
import torch
from torch import nn

torch.manual_seed(0)
G, D = nn.Linear(2, 3), nn.Linear(3, 1)
"""
APART = f"""\
{NETS}
of_d = torch.optim.SGD(D.parameters(), 0.1)
of_g = torch.optim.SGD(G.parameters(), 0.1)
for step in range(3):
    fake = d_step(D, G, of_d, torch.rand(4, 3), torch.rand(4, 2))
    of_g.zero_grad()
    (D(fake) - 1).pow(2).mean().backward()
    of_g.step()
"""
AT_ONCE = f"""\
{NETS}
both = torch.optim.SGD([*G.parameters(), *D.parameters()], 0.1)
for step in range(3):
    d_step(D, G, both, torch.rand(4, 3), torch.rand(4, 2))
print(G.weight)
"""


def test_nothing_is_cut_that_another_program_trains_through(tmp_path: Path) -> None:
    put(tmp_path, D_STEP, "d_step", train=APART)
    (alone,) = findings(tmp_path, ".")
    assert (alone["code"], alone["fix"]["applicability"]) == ("AD203", "unsafe")
    put(tmp_path, D_STEP, "d_step", other=AT_ONCE)
    (finding,) = findings(tmp_path, ".")
    assert finding["code"] == "AD203"
    assert "detach" not in json.dumps([finding["fix"], *finding["alternatives"]])
    autodetach(tmp_path, "fix", "--unsafe-fixes", ".")
    assert (tmp_path / "helper.py").read_text() == D_STEP


RUNNING = """\
class Running:
    def __init__(self):
        self.items = []

    def add(self, value):
        self.items.append(value)

    def mean(self):
        return sum(self.items) / len(self.items)
"""
KEEPS = f"{HEAD}running = Running()\n{PASS}    running.add(loss)\nprint(float(running.mean()))\n"
WAITS = f"{HEAD}running = Running()\nfor x in data:\n    running.add(net(x).pow(2).mean())\n"
AWAITED = {
    "the mean": (f"{WAITS}running.mean().backward()\n", set[str]()),
    "what is stacked": (f"{WAITS}torch.stack(running.items).sum().backward()\n", set[str]()),
    "nothing": (f"{HEAD}{PASS}    print(loss.item())\n", {"AD102"}),
    "each before": (KEEPS, {"AD102"}),
    "each behind": (
        KEEPS.replace("    running.add(loss)\n", "").replace("    opt", "    running.add(loss)\n    opt", 1),
        {"AD102"},
    ),
}


@pytest.mark.parametrize("what", AWAITED)
def test_what_another_program_differentiates_is_not_told(what: str, tmp_path: Path) -> None:
    other, expected = AWAITED[what]
    put(tmp_path, RUNNING, "Running", keep=KEEPS, other=other)
    assert {finding["code"] for finding in findings(tmp_path, ".")} == expected


FOR_THE_CACHE = 6


def test_the_cache_knows_it_too(tmp_path: Path) -> None:
    helper, name, raises, other = HELPERS["AD401"]
    put(tmp_path, helper, name, other=other, train=raises)
    for number in range(FOR_THE_CACHE):
        (tmp_path / f"other_{number}.py").write_text(f"import torch\n\nWEIGHT = torch.zeros({number + 1})\n")
    first, second = (autodetach(tmp_path, "check", ".") for _ in range(2))
    assert (tmp_path / ".autodetach_cache").is_dir()
    assert WHY in first.stdout
    assert first.stdout == second.stdout


REPORT = "def number(x, told=False):\n    if told:\n        print(x.data[0])\n    return x.item()\n"


def test_what_another_program_does_not_run_is_not_asked(tmp_path: Path) -> None:
    """It calls the function, and never comes to the line that the repair changes."""
    put(tmp_path, REPORT, "number", train=LOGS.replace("number(loss)", "number(loss, True)"), quiet=LOGS)
    (finding,) = findings(tmp_path, ".")
    assert (finding["code"], finding["fix"]["applicability"]) == ("AD401", "safe")


def test_what_reads_the_same_value_in_fewer_words_is_safe(tmp_path: Path) -> None:
    helper = "def number(x):\n    return x.data.item()\n"
    put(tmp_path, helper, "number", train=LOGS, other=LOGS.replace("number(loss)", "number(net.weight[0, :1])"))
    (finding,) = findings(tmp_path, ".")
    assert (finding["code"], finding["fix"]["applicability"]) == ("AD401", "safe")
