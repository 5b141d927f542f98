"""What only tensors and arrays are asked for by their subscripts: `mask[:, :, 0]`. Its sum has no dimension."""

from __future__ import annotations

import ast

from autodetach.machine.marks import ARRAY
from autodetach.machine.values import Opaque, Sequence, Slice, Value

OF_TABLES = frozenset("iloc loc".split())
"""Parts of a table, whose sums have one value for each column."""


def note_array(part: Value, index: Value, node: ast.AST) -> None:
    """Note of an unknown `part` that it was cut along more than one dimension."""
    if isinstance(part, Opaque) and isinstance(index, Sequence) and index.kind == "tuple" and len(index.items) > 1:
        owner = node.value if isinstance(node, ast.Subscript) else None
        is_table = isinstance(owner, ast.Attribute) and owner.attr in OF_TABLES
        if not is_table and any(isinstance(item, Slice) for item in index.items):
            part.attrs[ARRAY] = True
