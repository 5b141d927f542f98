"""A parameter that the program itself changes in place between two uses, as to normalise it: a copy of it is used.

PyTorch's documentation of `torch.nn.Embedding` says so of `max_norm`, which does that in each call: `weight.clone()`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.copied import operands_of
from autodetach.machine.events import StaleSaved
from autodetach.machine.graph import Node, Storage
from autodetach.machine.run import Run
from autodetach.suspect import Candidate
from autodetach.view.program import listed

ONCE = "the change may be meant to be made once, before all that computes with the parameter"


def parameter_copied(run: Run, event: StaleSaved) -> Iterator[Candidate]:
    """`query @ self.table.weight.t()` -> `query @ self.table.weight.t().clone()`, where `weight.div_(n)` follows.

    Where that is not enough, so is all else that is differentiated and has saved what the same change has changed.
    """
    changed = event.changed.node
    if changed in {step.site.node for step in run.machine.steps}:
        return
    first = _places(run, event.node, event.storage)
    if not first:
        return
    yield _computed_with_copies(first)
    places = dict.fromkeys(first)
    for node in event.by.walked:
        for storage, version in node.saved:
            if storage.version != version and storage.changed is not None and storage.changed.node is changed:
                places |= dict.fromkeys(_places(run, node, storage))
    if len(places) > len(first):
        yield _computed_with_copies(list(places))


def _computed_with_copies(places: list[ast.expr]) -> Candidate:
    from autodetach.codemods.append_method import AppendMethod

    edits = tuple(AppendMethod(e, "clone") for e in places)
    return Candidate(f"compute with a copy of {listed(places)}", edits, ONCE)


def _places(run: Run, node: Node, storage: Storage) -> list[ast.expr]:
    """Where an operation is given memory that is a parameter's; nowhere where a layer computes with its own."""
    if not any(t.storage is storage for t in run.machine.leaf_tensors):
        return []
    return [e for e, value in operands_of(node) if getattr(value, "storage", None) is storage]
