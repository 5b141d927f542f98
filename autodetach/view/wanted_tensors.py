"""Where tensors are wanted and a run has had numbers."""

from __future__ import annotations

import ast

from autodetach.machine.core import tags_in
from autodetach.machine.graph import Site
from autodetach.machine.run import Run
from autodetach.machine.values import External, Tensor
from autodetach.view.program import Program

TAKING_NUMBERS = frozenset({"as_tensor", "asarray", "save", "scalar_tensor", "tensor", "type"})
"""Functions of PyTorch that take numbers as they take tensors, if to another end; `type` asks what it is."""


def asked_as_tensors(program: Program) -> frozenset[object]:
    """What tells the numbers that are asked for what only tensors have, or are given to functions of tensors."""
    return frozenset(tag for run in program.runs for tag in _asked(run))


def ends_by_asking(program: Program) -> bool:
    """Whether a run ends where a number is asked for that: what is read behind it is not known.

    Who reads a value twice, as `loss.data[0].item()`, has asked for the number.
    """
    faults = [fault for run in program.runs for fault in run.machine.broken_off]
    return any(_numbers_at(fault.site) and not _reads_twice(fault.site) for fault in faults)


def _reads_twice(site: Site) -> bool:
    node = site.node.func if isinstance(site.node, ast.Call) else site.node
    return isinstance(node, ast.Attribute) and node.attr == "item" and node.value in _numbers_at(site)


def _asked(run: Run) -> set[object]:
    machine = run.machine
    tags = {tag for fault in machine.type_faults if fault.kind == "type" for tag in _numbers_at(fault.site)}
    for escape in machine.escapes:
        if escape.tags and (escape.how == "attribute" or _is_of_pytorch(escape.site, escape.how)):
            tags |= escape.tags
    return tags


def _numbers_at(site: Site) -> set[object]:
    return {tag for _, value in site.operands for tag in tags_in(value)}


def _is_of_pytorch(site: Site, name: str) -> bool:
    """Whether a function of PyTorch, or a method of a tensor, is called by its full name."""
    if name in TAKING_NUMBERS or not site.operands:
        return False
    owner = site.operands[0][1]
    return isinstance(owner, Tensor) or (isinstance(owner, External) and owner.path.partition(".")[0] == "torch")
