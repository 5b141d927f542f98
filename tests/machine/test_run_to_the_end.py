"""Programs that PyTorch runs to their end: the machine's default path may not break off before the differentiation."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from autodetach.machine.exploring import analyse

LAST = """
net = torch.nn.Linear(2, 1)
net(torch.randn(4, 2)).sum().backward()
"""
PROGRAMS = {
    "the name of a layer's class": """
        import torch
        from torch import nn

        def init(m):
            if m.__class__.__name__.find("Conv") != -1:
                nn.init.normal_(m.weight.data, 0.0, 0.02)
            elif type(m).__name__ == "BatchNorm2d" or "Linear" in m._get_name():
                nn.init.zeros_(m.bias.data)

        body = nn.Sequential(nn.Conv2d(3, 4, 3), nn.InstanceNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(8, 2))
        body.apply(init)
    """,
    "another platform": """
        import os
        import platform
        import sys

        import torch

        if sys.platform == "win32" or os.name == "nt" or platform.system() == "Windows":
            if "INIT_METHOD" in os.environ:
                method = os.environ["INIT_METHOD"]
                if method != "file":
                    raise ValueError("not here")
    """,
    "an option that bounds a buffer": """
        import argparse

        import torch

        parser = argparse.ArgumentParser()
        parser.add_argument("--capacity", type=int, default=1000)
        parser.add_argument("--warmup", type=int, default=10)
        args = parser.parse_args()

        class Buffer:
            def __init__(self, size=args.capacity):
                self.stored, self.size, self.at = [], size, 0

            def push(self, item):
                if len(self.stored) == self.size:
                    self.stored[int(self.at)] = item
                    self.at = (self.at + 1) % self.size
                else:
                    self.stored.append(item)

        buffer = Buffer()
        for step in range(30):
            buffer.push(step)
        if args.warmup > 100:
            raise SystemExit("too long")
    """,
    "settings from out of view": """
        from dataclasses import dataclass

        import torch
        import yaml

        @dataclass
        class Config:
            hidden: int = None
            layers: int = 2

        def build(width=None, *, depth=None):
            return width * 2 + depth * 2

        settings = yaml.safe_load(open("settings.yml"))
        size = Config(**settings).hidden * 2 + build(**settings)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_default_path_goes_on_behind(name: str) -> None:
    (run, *_) = analyse(ast.parse(dedent(PROGRAMS[name]) + LAST)).runs
    assert run.stopped_by == ""
    assert [fault.site.line for fault in run.machine.type_faults] == []
    assert len(run.machine.differentiations) == 1
