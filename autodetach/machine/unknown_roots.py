"""What is differentiated although no path tells where its history comes from: it may be that of what is still whole.

So a generator gives what it returns with the exception that ends it, and an object of a class out of view what it was
given in a way that nobody knows.
"""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.children import nodes_in
from autodetach.machine.events import UnknownRoot
from autodetach.machine.exceptions import TRY
from autodetach.machine.growth import Growth
from autodetach.machine.quiet import is_report
from autodetach.machine.run import Analysis, Run


def is_behind_unknown_root(run: Run, growth: Growth) -> bool:
    """Whether something of unknown history is differentiated once a loop has begun, perhaps by way of what grows."""
    since = growth.activation.started
    return any(isinstance(fact, UnknownRoot) and fact.clock >= since for fact in run.machine.facts)


def may_come_with_exception(analysis: Analysis, growth: Growth) -> bool:
    """Whether a handler that no run has come to differentiates, and may do so with what its exception brings."""
    return any(
        not any(handler.body[0] in run.machine.executed for run in analysis.runs)
        for tree in analysis.trees
        for handler in _differentiating(tree)
    )


@kept
def _differentiating(tree: ast.Module) -> tuple[ast.ExceptHandler, ...]:
    """The handlers that call `backward`, and read an attribute of their exception, be it not to report it."""
    found = (handler for node in nodes_in(tree) if isinstance(node, TRY) for handler in node.handlers)
    return tuple(handler for handler in found if handler.name is not None and _takes_out(handler))


def _takes_out(handler: ast.ExceptHandler) -> bool:
    nodes = [node for s in handler.body if not is_report(s) for node in nodes_in(s)]
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    return any(a.attr == "backward" for a in attributes) and any(
        isinstance(a.value, ast.Name) and a.value.id == handler.name for a in attributes
    )
