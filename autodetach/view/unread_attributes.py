"""Attributes that hold what nothing in view reads: who uses the object may do so."""

from __future__ import annotations

import ast

from autodetach.container_methods import ADDING
from autodetach.machine.children import walk
from autodetach.machine.events import Stored
from autodetach.machine.growth import Growth
from autodetach.view.program import Program

WRITING = ADDING | {"clear"}
"""Methods by which a container gets other contents."""


def is_for_others(program: Program, growth: Growth, stored: Stored) -> bool:
    """Whether a library keeps it in a public attribute that nothing in view reads, and trains nothing itself.

    So a policy keeps the log-probabilities of its actions, which who trains it has a loss of. What an own loop of the
    library fills, as that of a validation, nobody differentiates so.
    """
    if growth.dead or growth.activation.node is not None or any(p.activation.node is not None for p in stored.loops):
        return False
    holder = holder_of(program, stored)
    if not isinstance(holder, ast.Attribute) or holder.attr.startswith("_") or is_read(program, stored):
        return False
    return not any(run.machine.differentiations or run.machine.steps for run in program.analysis.runs)


def is_read(program: Program, stored: Stored) -> bool:
    """Whether the attribute that holds a container is read anywhere, but to put something into it, or to empty it."""
    holder = holder_of(program, stored)
    if not isinstance(holder, ast.Attribute):
        return True
    for tree in program.analysis.trees:
        for node in walk(tree):
            if isinstance(node, ast.Attribute) and node.attr == holder.attr and isinstance(node.ctx, ast.Load):
                around = program.parents[node]
                is_target = isinstance(around, ast.Subscript) and not isinstance(around.ctx, ast.Load)
                if not is_target and not (isinstance(around, ast.Attribute) and around.attr in WRITING):
                    return True
    return False


def holder_of(program: Program, stored: Stored) -> ast.expr | None:
    """What holds the container that takes something; None where that is only given to the call of the statement."""
    statement = program.statement(stored.site.node)
    is_given = isinstance(statement, ast.Expr) and statement.value is not stored.site.node
    return None if is_given else _holder(statement)


def _holder(statement: ast.stmt | None) -> ast.expr | None:
    """What holds the container that a statement puts something into: `self.x` of `self.x[k] = v`."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        method = statement.value.func
        return method.value if isinstance(method, ast.Attribute) else None
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    while isinstance(target, ast.Subscript):
        target = target.value
    return target if isinstance(target, ast.expr) else None
