"""Entries of a table of a file that a function of that file sets, which nobody has called so far.

`config = {}` stands in a file, `init_kitti()` sets `config["root"]`, and which of such functions is called is chosen in
a way that is not followed, or by a word that people edit. What reads the entry runs only where it is there.
"""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.children import nodes_in
from autodetach.machine.core import Core
from autodetach.machine.program_values import Function
from autodetach.machine.swallowing import is_taken
from autodetach.machine.values import Mapping, Value
from autodetach.node_types import CallableNode


def is_set_elsewhere(m: Core, this: Mapping, key: Value) -> bool:
    """Whether an entry that is not there, and that the file itself reads, is set by a function that was not called.

    Nobody knows in which order others call what they call. Where a `try` waits for the lack of it, it may lack.
    """
    if not isinstance(key, str) or not m.trail or m.trail[0][1].function is not None:
        return False
    if is_taken(m, "KeyError"):
        return False
    tops = {frame.top for _, frame in m.trail[-1:]} | {space.frame for space in m.namespaces.values()}
    return any(
        (name, key) in entries_set(function.node)
        for top in tops
        for name, held in top.names.items()
        if held is this
        for function in top.names.values()
        if isinstance(function, Function) and not function.called
    )


@kept
def entries_set(function: CallableNode) -> frozenset[tuple[str, str]]:
    """What a function sets of tables, `config["root"] = path`: the names of a table and of the entry."""
    return frozenset(
        (node.value.id, node.slice.value)
        for node in nodes_in(function)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        if isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Constant)
        if isinstance(node.slice.value, str)
    )
