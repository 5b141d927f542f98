"""Settings that stand in a file as constants: ways that they do not choose are gone, too, behind the default one."""

from __future__ import annotations

import ast

import pytest

from autodetach.machine.run import analyse
from autodetach.machine.values import Tensor

PROGRAM = """\
import argparse
from dataclasses import dataclass
from types import SimpleNamespace

import torch
from torch import nn

SETTINGS


def train(model, optimizer, config):
    losses = []
    for x in torch.randn(5, 8, 4):
        optimizer.zero_grad()
        TEST
            loss = model(x).abs().mean()
            loss.backward()
            losses.append(loss)
        else:
            loss = model(x).pow(2).mean()
            loss.backward()
            losses.append(loss.item())
        optimizer.step()
    print(sum(losses))


def main(config):
    model = nn.Linear(4, 1)
    train(model, torch.optim.SGD(model.parameters(), lr=0.1), config)


if __name__ == "__main__":
    main(GIVEN)
"""
DATACLASS = "@dataclass\nclass TrainConfig:\n    kind: str = 'plain'\n    is_robust: bool = False"


def ways(settings: str, test: str, given: str = "config") -> list[bool]:
    """Of each path, whether it stores what has a graph."""
    text = PROGRAM.replace("SETTINGS", settings).replace("TEST", test).replace("GIVEN", given)
    return [any(isinstance(kept.value, Tensor) for kept in run.machine.stored) for run in analyse(ast.parse(text)).runs]


@pytest.mark.parametrize(
    ("settings", "test", "given"),
    [
        ("config = {'kind': 'plain'}", "if config['kind'] == 'robust':", "config"),
        ("config = {'kind': 'plain'}", "if config['kind'] in ('robust', 'huber'):", "config"),
        ("config = {'kind': 'robust'}\nconfig['kind'] = 'plain'", "if config['kind'] != 'plain':", "config"),
        ("config = {'loss': {'kind': 'plain'}}", "if config['loss']['kind'] == 'robust':", "config"),
        ("config = dict(kind='plain', is_robust=False)", "if config['is_robust']:", "config"),
        ("args = SimpleNamespace(kind='plain', stage=1)", "if config.stage == 2:", "args"),
        ("class Config:\n    is_robust = False", "if config.is_robust:", "Config"),
        (DATACLASS, "if config.kind == 'robust':", "TrainConfig()"),
        (DATACLASS, "if config.is_robust:", "TrainConfig()"),
    ],
)
def test_a_setting_is_another_one_where_that_leads_to_training(settings: str, test: str, given: str) -> None:
    stored = ways(settings, test, given)
    assert not stored[0]
    assert any(stored[1:]) == ("\n" not in settings or "class" in settings)


@pytest.mark.parametrize(
    ("settings", "test", "given"),
    [
        ("state = {'kind': 'plain'}", "if config['kind'] == 'robust':", "state"),  # no settings, by its name
        ("config = {'kind': 'plain'}", "if config['kind'] == config['other']:", "config"),  # with what is not known
        ("config = {'is_robust': None}", "if config['is_robust']:", "config"),
        ("config = {'kind': 'plain'}", "config['kind'] = 'plain'\n        if config['kind'] == 'robust':", "config"),
    ],
)
def test_what_the_program_sets_itself_is_no_other(settings: str, test: str, given: str) -> None:
    assert not any(ways(settings, test, given))


def test_each_of_a_chain_is_gone() -> None:
    chain = (
        "if config['kind'] == 'huber':\n            model(x).sum().backward()\n        elif config['kind'] == 'robust':"
    )
    assert sorted(ways("config = {'kind': 'plain'}", chain)) == [False, False, True]


def test_where_no_training_lies_behind_a_setting_nothing_else_is_run() -> None:
    assert ways("config = {'kind': 'plain'}", "if config['kind'] == 'verbose': print()\n        if False:") == [False]
