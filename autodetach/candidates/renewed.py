"""What each pass adds to a memory, and no loss of its own pass reads, is detached where it is added."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autodetach.candidates.reads import Repair
from autodetach.machine.activations import diverge
from autodetach.machine.graph import Node
from autodetach.machine.operands import expression_of
from autodetach.machine.torch_semantics import VIEWS
from autodetach.view.crossings import Crossed, operands_from
from autodetach.view.program import listed

LATER = "what makes it learns by the other losses alone then, and no more by those of the passes that read the memory"
PARTS = VIEWS | {"index"}
JOINS = frozenset({"cat", "concat", "concatenate", "stack", "vstack", "hstack"})


def detached_as_added(crossed: Iterable[Crossed]) -> Iterator[Repair]:
    """Detach `new` of `memory = torch.cat([memory, new])[-size:]`, if only later passes compute with that memory.

    Nothing trains `new` by its own pass then; what the proof asks for is that something else trains what makes it.
    """
    from autodetach.codemods.append_method import AppendMethod

    added: dict[ast.expr, None] = {}
    for _, _, maker in crossed:
        joined = _seen_through(maker)
        if joined.op not in JOINS or any(diverge(maker.loops, d.loops) is None for d in maker.walked_by):
            return
        is_new = [p for p in joined.parents if not p.leaf and diverge(_seen_through(p).loops, joined.loops) is None]
        found = [expression_of(joined, value) for p in is_new for value in operands_from(joined, p)]
        if not found or any(isinstance(e, (ast.List, ast.Tuple, ast.Starred)) for e in found):
            return
        added.update((e, None) for e in found if e is not None)
    if added:
        shown = listed(list(added))
        yield f"detach {shown} where it is added to what is kept", tuple(AppendMethod(e, "detach") for e in added)


def _seen_through(node: Node) -> Node:
    """What a part is taken of."""
    while node.op in PARTS and len(node.parents) == 1 and not node.parents[0].leaf:
        node = node.parents[0]
    return node
