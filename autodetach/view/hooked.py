"""What the hook of a layer keeps for others: an attribute that no file in view reads."""

from __future__ import annotations

import ast

from autodetach.machine.children import walk
from autodetach.machine.spelling import last_word
from autodetach.node_types import FUNCTIONS
from autodetach.view.program import Program

REGISTERS = "register_forward_hook"


def is_kept_for_others(program: Program, call: ast.AST) -> bool:
    """Whether a call in a hook, `self.maps.append(output)`, fills an attribute that nobody in view looks into."""
    container = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
    if not isinstance(container, ast.Attribute) or not _is_hook(program, call):
        return False
    nodes = (n for tree in program.analysis.trees for n in walk(tree) if isinstance(n, ast.Attribute))
    return not any(n.attr == container.attr and _is_looked_into(program, n) for n in nodes)


def _is_hook(program: Program, node: ast.AST) -> bool:
    """Whether it stands in a function that a layer is given, or in one that makes such a function."""
    names = {at.name for at in program.enclosing(node) if isinstance(at, FUNCTIONS)}
    calls = (n for tree in program.analysis.trees for n in walk(tree) if isinstance(n, ast.Call))
    given = (arg for call in calls if last_word(call.func) == REGISTERS for arg in call.args)
    return any(
        (isinstance(n, ast.Name) and n.id in names) or (isinstance(n, ast.Attribute) and n.attr in names)
        for arg in given
        for n in ast.walk(arg)
    )


def _is_looked_into(program: Program, mention: ast.Attribute) -> bool:
    """Whether an attribute is read, and not only for a method that is called for its effect: `self.maps.clear()`."""
    around = program.parents.get(mention)
    call = program.parents.get(around) if isinstance(around, ast.Attribute) else None
    is_for_effect = isinstance(call, ast.Call) and isinstance(program.parents.get(call), ast.Expr)
    return isinstance(mention.ctx, ast.Load) and not is_for_effect
