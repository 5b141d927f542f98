"""What a file has from PyTorch by a star is what PyTorch has, for whoever imports it from there."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.machine.project import Module
from autodetach.machine.star_names import NAMES, NUMBERS, OTHERS, OTHERWISE, from_a_star
from autodetach.projects.imports import Imports, forget
from autodetach.projects.project import Files
from autodetach.source import Source


@pytest.mark.parametrize("module", NAMES)
def test_a_star_binds_these_names(module: str) -> None:
    space: dict[str, object] = {}
    exec(f"from {module} import *", space)
    assert set(NAMES[module]) <= set(space)
    assert all(getattr(importlib.import_module(module), name) is space[name] for name in NAMES[module])


@pytest.mark.parametrize("module", [*sorted(OTHERS - {"tqdm"}), *NAMES])  # it is not installed for the tests
def test_a_later_star_binds_no_other_thing(module: str) -> None:
    space: dict[str, object] = {}
    exec(f"from {module} import *", space)
    others = {name for at, names in NAMES.items() for name in names if _is_another(space, name, at)}
    assert others - set(NAMES.get(module, ())) <= (OTHERWISE if module == "torch" else set())


def _is_another(space: dict[str, object], name: str, module: str) -> bool:
    return name in space and space[name] is not getattr(importlib.import_module(module), name)


@pytest.mark.parametrize(
    ("lines", "name", "meant"),
    [
        ("from torch import *", "exp", "torch.exp"),
        ("from torch import *; from math import *", "exp", "math.exp"),
        ("from math import *; from torch import *", "exp", "torch.exp"),
        ("from torch import *; from math import *", "zeros", "torch.zeros"),
        ("from torch import *; from numpy import *", "exp", None),
        ("from numpy import *; from torch import *", "exp", "torch.exp"),
        ("from torch.nn import *; from models import *", "Linear", None),
        ("from torch.nn import *; from typing import *", "Linear", "torch.nn.Linear"),
        ("from torch import *; from torch.nn.functional import *", "dropout", "torch.nn.functional.dropout"),
        ("from torch.nn.functional import *; from torch import *", "dropout", None),
        ("try:\n    from torch import *\nexcept ImportError:\n    from numpy import *", "exp", None),
        ("def f():\n    import os\nfrom math import *\nfrom torch import *", "exp", "torch.exp"),
    ],
)
def test_the_last_star_counts(lines: str, name: str, meant: str | None) -> None:
    module = Module("/it/train.py", "train", ast.parse(lines.replace("; ", "\n")), 0, 10)
    found = from_a_star(None, module, name)
    assert (None if found is None else found.path) == meant


@pytest.mark.parametrize("lines", ["from drawing import *", "from passed import *"])
def test_a_name_may_be_of_a_file_that_is_left_out(tmp_path: Path, lines: str) -> None:
    drawing, path = str(tmp_path / "drawing.py"), str(tmp_path / "train.py")
    Path(drawing).write_text("def draw(x):\n    return (x > 0).float()\n")
    (tmp_path / "passed.py").write_text("from drawing import *\n")
    forget()
    source = Source.from_text(f"import torch\n{lines}\n", path)
    for without, meant in ((frozenset({drawing}), "drawing.draw"), (frozenset[str](), None)):
        files = Files(path, source, ast.parse(source.text), Imports(path, str(tmp_path)), None, without)
        found = from_a_star(files, files.root, "draw")
        assert (None if found is None else found.path) == meant


def test_a_number_of_a_later_star_is_none_of_torch(tmp_path: Path) -> None:
    assert {"exp", "log"} <= NUMBERS["math"]
    text = LOGGED
    for stars, codes in (("torch math", []), ("math torch", ["AD102"])):
        (tmp_path / "own.py").write_text("".join(f"from {star} import *\n" for star in stars.split()))
        forget()
        path = str(tmp_path / "train.py")
        found = check(Source.from_text(text, path), CheckOptions(), path=path, finder=Imports(path, str(tmp_path)))
        assert [finding.code for finding in found.findings] == codes


LOGGED = """\
import torch
import own

net = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
logged = []
for _ in range(100):
    loss = net(torch.randn(4, 8)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    logged.append(own.log(loss))
print(sum(logged) / len(logged))
"""
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
