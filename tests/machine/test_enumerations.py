"""Members of enumerations: what they are called, what they are equal to, how they are looked up."""

from __future__ import annotations

import ast

import pytest

from autodetach.machine.exploring import analyse

PROGRAM = """
import copy
import enum
import torch

class Status(enum.Enum):
    RUNNING = enum.auto()
    DONE = enum.auto()
    OVER = DONE

    def is_last(self):
        return self is Status.DONE

class Level(enum.IntEnum):
    LOW = 0
    HIGH = 1

class Unit(str, enum.Enum):
    NATS = "nats"

    def shown(self):
        return "in " + self.value

class Planet(enum.Enum):
    EARTH = (1.0, 2.0)

    def __init__(self, mass, radius):
        self.mass = mass

loss = torch.nn.Linear(3, 1)(torch.randn(4, 3)).sum()
if {test}:
    loss.backward()
"""


@pytest.mark.parametrize(
    "test",
    [
        "Status.RUNNING is Status.RUNNING",
        "Status.RUNNING == Status.RUNNING",
        "Status.RUNNING != Status.DONE",
        "Status.OVER is Status.DONE",
        "Status.DONE.is_last()",
        "Status.RUNNING.name == 'RUNNING'",
        "Status['DONE'] is Status.DONE",
        "Status(Status.DONE) is Status.DONE",
        "Status.__members__['OVER'] is Status.DONE",
        "Status.DONE != 2",
        "Status.DONE in (Status.RUNNING, Status.DONE)",
        "Status.DONE not in (Status.RUNNING,)",
        "{Status.DONE: True, Status.RUNNING: False}[Status.DONE]",
        "copy.deepcopy(Status.DONE) is Status.DONE",
        "[s.name for s in Status] == ['RUNNING', 'DONE']",
        "isinstance(Status.DONE, Status)",
        "Level.HIGH.name == 'HIGH' and Level.HIGH.value == 1 and Level.HIGH > 0",
        "Unit.NATS == 'nats' and Unit.NATS.value == 'nats' and Unit.NATS.shown() == 'in nats'",
    ],
)
def test_what_python_says_of_members_is_known(test: str) -> None:
    (run,) = analyse(ast.parse(PROGRAM.replace("{test}", test))).runs
    assert not run.machine.type_faults
    assert len(run.machine.differentiations) == 1
