"""Whether the memory that nodes were computed from was changed in place by what ran behind them, as a run has shown.

The machine follows it through lists, objects, layers and generators in view, by whatever name it is changed there.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from autodetach.machine.graph import Node, Storage, ancestors
from autodetach.machine.held import tensors_in
from autodetach.machine.values import Tensor


def is_changed_in_place(outer: list[Node], behind: Collection[ast.AST]) -> bool:
    """Whether the last change of what the nodes read, the weights left out, was made while one of these ran."""
    return any(statement in behind for storage in _memory_of(outer) for statement, _ in storage.trail)


def _memory_of(outer: list[Node]) -> Iterator[Storage]:
    for node in ancestors(outer):
        for _, value in node.site.operands:
            for tensor in tensors_in(value):
                if isinstance(tensor, Tensor) and tensor.node is None and tensor.leaf_node is None:
                    yield tensor.storage
