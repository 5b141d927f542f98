"""What a loop carries, and begins anew where no run has come to: `if next(last): acc.backward(); h = h.detach()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.children import blocks_of, nodes_in, stands_in, statements_in
from autodetach.machine.growth import Growth
from autodetach.machine.run import Analysis
from autodetach.machine.spelling import spelled
from autodetach.machine.walking import differentiates


def may_begin_anew(analysis: Analysis, growth: Growth) -> bool:
    """Whether a block of the loop that no run has executed differentiates, and sets what is carried."""
    loop = growth.activation.node
    if loop is None or growth.stored is not None:
        return False
    blocks = (block for block in _blocks_in(loop) if not any(block[0] in r.machine.executed for r in analysis.runs))
    ending = [block for block in blocks if any(map(differentiates, block))]
    if not ending:
        return False
    places = [growth.node.site.node] if growth.link is None else [growth.node.site.node, growth.link.site.node]
    carried = {name for s in _statements_in(loop) if any(stands_in(p, s) for p in places) for name in _set_by(s)}
    return any(not carried.isdisjoint(_set_by(statement)) for block in ending for statement in block)


def _blocks_in(loop: ast.AST) -> Iterator[list[ast.stmt]]:
    pending = [loop]
    while pending:
        for block in blocks_of(pending.pop()):
            yield block
            pending += block


def _statements_in(loop: ast.AST) -> Iterator[ast.stmt]:
    """Those that hold no others."""
    return (s for block in _blocks_in(loop) for s in block if not statements_in(s))


def _set_by(statement: ast.AST) -> set[str]:
    """The names and attributes that a statement sets."""
    named = (n for n in nodes_in(statement) if isinstance(n, (ast.Name, ast.Attribute)))
    return {spelled(n) for n in named if isinstance(n.ctx, ast.Store)}
