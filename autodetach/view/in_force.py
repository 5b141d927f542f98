"""Whether gradients are surely recorded where something happens, whoever calls the program."""

from __future__ import annotations

import ast

from autodetach.machine.children import walk
from autodetach.machine.classes import RECORDING
from autodetach.machine.graph import Chain, Site, calls_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.node_types import FUNCTIONS
from autodetach.view.program import Program


def is_surely_recorded(program: Program, run: Run, site: Site, chain: Chain) -> bool:
    """Whether nothing out of view can have turned gradients off at `site`, where they are on as far as can be seen.

    `chain` are the open calls. A function that nobody in view calls must have differentiated what it has made.
    """
    calls = list(calls_of(chain))
    if any(_is_decorated_elsewhere(program, place.node) for place in (site, *calls)):
        return False
    entry = entry_of(chain)
    if not isinstance(entry, (*FUNCTIONS, ast.ClassDef)):
        return True
    roots = (root for d in run.machine.differentiations for root in d.roots if not root.leaf)
    return any(entry_of(root.chain) is entry for root in roots)


def entry_of(chain: Chain) -> ast.AST | None:
    """The outermost of some open calls: the definition that somebody out of view calls, or a call of the program."""
    *_, outermost = (None, *calls_of(chain))
    return None if outermost is None else outermost.node


def _is_decorated_elsewhere(program: Program, node: ast.AST) -> bool:
    """Whether a function around a place has a decorator that is not in view."""
    around = (node, *program.enclosing(node))
    decorators = (d for at in around if isinstance(at, FUNCTIONS) for d in at.decorator_list)
    return any(not _is_known(program, d) for d in decorators)


def _is_known(program: Program, decorator: ast.expr) -> bool:
    name = spelled(decorator.func if isinstance(decorator, ast.Call) else decorator)
    if name.split(".")[0] in RECORDING or name.endswith((".setter", ".getter", ".deleter")):
        return True
    return any(
        isinstance(n, (*FUNCTIONS, ast.ClassDef)) and n.name == name
        for tree in program.analysis.trees
        for n in walk(tree)
    )
