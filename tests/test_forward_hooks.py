"""Hooks at layers of networks that are not in view: what they are called with, and where nothing is to be said."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

LIST_OF_THIS_PASS = """\
import torch
from models import resnet18
from torch import nn

net = resnet18()
maps = []


def keep(module, inputs, output):
    maps.append(output)


handle = net.layer4[-1].register_forward_hook(keep)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0
for step in range(10):
    maps.clear()
    out = net(torch.rand(2, 3, 32, 32))
    loss = out.pow(2).mean() + maps[0].abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss
print(total)
"""
TRAINED = """\
for parameter in net.parameters():
    parameter.requires_grad = True
"""
TABLE = """\
import torch
from models import vgg16
from torch import nn


class Features(nn.Module):
    def __init__(self, net, names):
        super().__init__()
        self.net, self.kept = net, {}
        for name, layer in net.named_modules():
            if name in names:
                layer.register_forward_hook(self.keeping(name))

    def keeping(self, name):
        def hook(module, inputs, output):
            self.kept[name] = output
        return hook

    def forward(self, x):
        self.net(x)
        return self.kept


net = vgg16()
for parameter in net.parameters():
    parameter.requires_grad = True
features = Features(net, ["features.3", "features.8"])
image = torch.rand(1, 3, 8, 8, requires_grad=True)
optimizer = torch.optim.Adam([image])
target = dict(features(torch.rand(1, 3, 8, 8)))
for step in range(10):
    out = features(image)
    loss = sum(nn.functional.mse_loss(out[name], target[name]) for name in target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
KEPT_FOR_OTHERS = """\
import copy

from torch import nn


class Student(nn.Module):
    def __init__(self, teacher):
        super().__init__()
        self.student, self.maps = copy.deepcopy(teacher), []
        for parameter in self.student.parameters():
            parameter.requires_grad = True

    def hint(self, name):
        def handle(module, inputs, out):
            self.maps.append(out)

        getattr(self.student, name).register_forward_hook(handle)

    def forward(self, x):
        self.maps = []
        return self.student(x)

    def score(self, images):
        self.hint("layer4")
        scores = []
        for image in images:
            scores.append(self.student(image).argmax(1).tolist())
        return scores
"""
NEVER_EMPTIED = LIST_OF_THIS_PASS.replace("    maps.clear()\n", "").replace("total +=", "total =")
FINDINGS = {
    "a list that is emptied in each pass": (LIST_OF_THIS_PASS, [("AD101", "total += loss")]),
    "a list that is never emptied": (
        NEVER_EMPTIED.replace("maps[0]", "maps[-1]"),
        [("AD102", "maps.append(output)")],
    ),
    "a hook that is taken away": (
        NEVER_EMPTIED.replace("maps[0]", "out").replace("total = 0\n", "handle.remove()\n"),
        [],
    ),
    "layers by name, all trained": (TABLE, [("AD203", "loss = sum(")]),
    "layers by name, none trained": (TABLE.replace("= True\nfeatures", "= False\nfeatures"), []),
    "a network that is frozen by its method": (
        TABLE.replace(TRAINED, "").replace("vgg16()", "vgg16().requires_grad_(False).eval()"),
        [],
    ),
    "a list that only others read": (KEPT_FOR_OTHERS, []),
    "a list that a method reads": (
        KEPT_FOR_OTHERS + "\n    def last(self):\n        return self.maps[-1].mean().item()\n",
        [("AD102", "self.maps.append(out")],
    ),
    "a network of which nobody knows whether it is trained": (TABLE.replace(TRAINED, ""), []),
}


@pytest.mark.parametrize("name", FINDINGS)
def test_what_is_found(name: str) -> None:
    text, expected = FINDINGS[name]
    result = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions())
    assert len(result.findings) == len(expected)
    for finding, (code, begin) in zip(result.findings, expected, strict=True):
        assert finding.code == code
        line = text.encode()[: finding.span.start].decode().count("\n")
        assert text.splitlines()[line].strip().startswith(begin)
