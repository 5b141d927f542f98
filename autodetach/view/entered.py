"""What a call has run, as the machine has seen it: a network's call its `forward`, which no name there tells."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from autodetach.machine.children import walk
from autodetach.machine.graph import Node, Site, calls_of
from autodetach.machine.spelling import last_word
from autodetach.node_types import FUNCTIONS, FunctionNode
from autodetach.once import once
from autodetach.view.program import Program


@once
def entered_by(program: Program, call: ast.Call) -> list[FunctionNode]:
    """The functions in view that a call has run, and that have computed something there."""
    homes = {inner.scope for _, inner in computed_in(program, call) if inner.node is not call}
    functions = (n for tree in program.analysis.trees for n in walk(tree) if isinstance(n, FUNCTIONS))
    return [function for function in functions if program.home(function.body[0])[0] in homes] if homes else []


def computed_in(program: Program, call: ast.Call) -> Sequence[tuple[Node, Site]]:
    """The nodes that a call has made, and where what it has run did so: the call itself if that is out of view."""
    return _by_calls(program).get(call, ())


@once
def _by_calls(program: Program) -> dict[ast.AST, list[tuple[Node, Site]]]:
    found: dict[ast.AST, list[tuple[Node, Site]]] = {}
    for node in (n for run in program.runs for n in run.machine.nodes if not n.leaf):
        inner = node.site
        for site in (node.site, *calls_of(node.chain)):
            found.setdefault(site.node, []).append((node, inner))
            inner = site
    return found


@once
def has_forward_hooks(program: Program) -> bool:
    """`layer.register_forward_hook(keep)`: what a tensor or a parameter calls has gradients only."""
    words = (
        last_word(n) for tree in program.analysis.trees for n in walk(tree) if isinstance(n, (ast.Name, ast.Attribute))
    )
    return any(w.startswith("register_") and "forward" in w and w.endswith("hook") for w in words)
