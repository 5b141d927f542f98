"""`type(h) == Variable`: true of every tensor before PyTorch 0.4, and of none since.

Which of both PyTorch is meant is one question for the whole program. It is first taken for the old one, so that what
else is wrong with such programs is seen; the other way shows what they do today.
"""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.oracle import Oracle
from autodetach.machine.program_values import External
from autodetach.machine.values import Value

IS_OLD = ("old types",)
SIGNS = {"Eq": True, "Is": True, "NotEq": False, "IsNot": False}


def tells_variables(op: str, left: Value, right: Value) -> bool:
    """Whether the type of a tensor is compared with `Variable`."""
    return op in SIGNS and sorted((_of_torch(left), _of_torch(right))) == ["Tensor", "Variable"]


def is_variable(m: Core, op: str, site: Site) -> Value:
    """What a tensor answers when it is asked for the type `Variable`. Raises Raised where that would never end."""
    positive = SIGNS[op]
    if not m.trail or _knows_versions(m.trail[-1][1].top.module):
        return positive
    m.oracle.presumed["s", IS_OLD] = (True,)
    if m.oracle.settled(IS_OLD) is False and _goes_inside(m, site):
        m.refuse(site, "goes through the elements of a tensor without dimension", "TypeError")
    m.old_tests.append((site.node, m.trail[-1][1]))
    return m.sym(IS_OLD if positive else ("not", IS_OLD), "bool")


def are_new(oracle: Oracle) -> bool:
    """Whether a path is that of a PyTorch in which no tensor is a `Variable` by its type."""
    return oracle.settled(IS_OLD) is False


def _of_torch(value: Value) -> str:
    if not isinstance(value, External) or not value.path.startswith("torch."):
        return ""
    return value.name


def _goes_inside(m: Core, site: Site) -> bool:
    """Whether a function asks this of what it has taken out of a tensor of which it has asked it: that does not end."""
    frame = m.trail[-1][1]
    calls = m.active.get(frame.function.node, []) if frame.function is not None else []
    open_ = {id(other) for other, _ in calls if other is not frame}
    return any(node is site.node and id(asked) in open_ for node, asked in m.old_tests)


def _knows_versions(module: object) -> bool:
    """Whether a file asks which PyTorch there is: which of its tests go together, only its author knows."""
    tree = getattr(module, "tree", None)
    return isinstance(tree, ast.Module) and _speaks_of_versions(tree)


@kept
def _speaks_of_versions(tree: ast.Module) -> bool:
    return any("version" in _word(node).lower() for node in ast.walk(tree))


def _word(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else node.name if isinstance(node, ast.alias) else ""
