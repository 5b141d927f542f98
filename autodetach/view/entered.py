"""What a call has run, as the machine has seen it: a network's call its `forward`, which no name there tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.children import walk
from autodetach.machine.graph import Node, Site, calls_of
from autodetach.machine.spelling import last_word
from autodetach.node_types import FUNCTIONS
from autodetach.view.program import Program


def entered_by(program: Program, call: ast.Call) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions in view that a call has run, and that have computed something there."""
    homes = {site.scope for site in computed_by(program, call) if site.node is not call}
    functions = (n for tree in program.analysis.trees for n in walk(tree) if isinstance(n, FUNCTIONS))
    return [function for function in functions if program.home(function.body[0])[0] in homes] if homes else []


def computed_by(program: Program, call: ast.Call) -> Iterator[Site]:
    """For each node that a call has made: where what it has run did so, the call itself if that is out of view."""
    return (inner for _, inner in computed_in(program, call))


def computed_in(program: Program, call: ast.Call) -> Iterator[tuple[Node, Site]]:
    """The nodes that a call has made, each with where what it has run did so."""
    for node in (n for run in program.runs for n in run.machine.nodes if not n.leaf):
        inner = node.site
        for site in (node.site, *calls_of(node.chain)):
            if site.node is call:
                yield node, inner
            inner = site


def has_forward_hooks(program: Program) -> bool:
    """`layer.register_forward_hook(keep)`: what a tensor or a parameter calls has gradients only."""
    words = (
        last_word(n) for tree in program.analysis.trees for n in walk(tree) if isinstance(n, (ast.Name, ast.Attribute))
    )
    return any(w.startswith("register_") and "forward" in w and w.endswith("hook") for w in words)
