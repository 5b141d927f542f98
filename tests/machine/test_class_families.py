"""What a method that nobody has called does with an attribute of its name is no use of that of another class."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.machine.class_families import Families
from autodetach.projects.imports import Imports
from autodetach.source import Source

TRAIN = """
import torch
import torch.nn as nn
from buffers import {name}

policy = nn.GRUCell(3, 4)
buffer = {name}()
for episode in range(1000):
    state = policy(torch.rand(2, 3))
    buffer.push(state)
"""
PUSH = """
    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)
"""
SAMPLE = """
    def sample(self):
        return torch.stack(self.items)
"""


@pytest.mark.parametrize(
    ("classes", "is_found"),
    [
        (f"class Whole:\n{SAMPLE}\n\nclass Buffer:\n{PUSH}", True),
        (f"class Buffer:\n{PUSH}\n{SAMPLE}", False),
        (f"class Base:\n{SAMPLE}\n\nclass Buffer(Base):\n{PUSH}", False),
        (f"class Half:\n{SAMPLE}\n\nclass Buffer:\n{PUSH}\n\nclass Whole(Half, Buffer):\n    pass\n", False),
        (f"class Buffer:\n{PUSH}\n\ndef sample(buffer):\n    return torch.stack(buffer.items)\n", False),
    ],
    ids=["another class", "the same class", "a base", "two bases of a third class", "who knows whose"],
)
def test_only_a_class_of_the_family_may_use_it(classes: str, is_found: bool, tmp_path: Path) -> None:
    (tmp_path / "buffers.py").write_text(f"import torch\n\n\n{classes}", encoding="utf-8")
    path = tmp_path / "train.py"
    source = Source.from_bytes(TRAIN.format(name="Buffer").encode(), str(path))
    finder = Imports(str(path), str(tmp_path))
    found = check(source, CheckOptions(), path=str(path), finder=finder).findings
    assert [finding.code for finding in found] == ["AD102"] * is_found


def test_a_base_out_of_view_makes_no_family() -> None:
    families = Families([ast.parse("class A(Module): pass\nclass B(Module): pass\nclass C(B): pass")])
    assert families.of("B") == families.of("C")
    assert families.of("A") != families.of("B")
