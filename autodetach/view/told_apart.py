"""Where a program tells tensors with the same value apart: a tensor that is detached is another one."""

from __future__ import annotations

from autodetach.machine.events import Stored
from autodetach.machine.restraints import ToldApart
from autodetach.view.program import Program


def is_told_apart(program: Program, stored: Stored) -> bool:
    """Whether what is stored is a key somewhere, is compared by `is`, or is looked for in a container."""
    for run in program.runs:
        told = {fact.tensor for fact in run.machine.restraints if isinstance(fact, ToldApart)}
        if told and any(e.tensor in told for e in run.machine.stored if e.element is stored.element):
            return True
    return False
