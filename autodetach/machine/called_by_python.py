"""Functions of classes that Python calls by itself, by no name in the program: a descriptor's, a metaclass's, a copy's.

`copy.copy(sums)` asks `__getstate__`, `dict(**sums)` asks `keys`, `Sums.loss = loss` sets what a metaclass says. The
machine runs those that are met often; what it does not run may train or walk, and nobody has seen it.

https://docs.python.org/3/reference/datamodel.html#special-method-names
"""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.children import nodes_in
from autodetach.machine.run import Analysis
from autodetach.machine.spelling import arguments_of, called_name, last_word, names_called
from autodetach.machine.walking import WALKING, callers_of
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import FUNCTIONS, CallableNode, FunctionNode

WRITTEN = frozenset({"__init__", "__call__"})
"""Special methods that a call in the program runs."""
UNNAMED = frozenset({"keys"})
"""What Python calls by itself and has no special name."""
ACCESSES = frozenset({"property", "getter", "setter", "deleter"})
METACLASSES = ("type", "Meta")
"""How the names of the bases of a metaclass end."""


class Called(NamedTuple):
    """A function that Python calls, and its name with that of its class; a lambda has none."""

    function: CallableNode
    name: str


def trains_unseen(analysis: Analysis) -> bool:
    """Whether one of these trains, or walks, by itself or by way of others, and no path has gone through it."""
    training = callers_of(WALKING, [named for tree in analysis.trees for named in _named(tree)]) | WALKING
    led = (called for tree in analysis.trees for called in _called_in(tree))
    return any(not training.isdisjoint(_leads_to(one.function)) and not _is_seen(analysis, one) for one in led)


@kept
def _named(tree: ast.Module) -> list[tuple[str, set[str]]]:
    return [(node.name, _leads_to(node)) for node in nodes_in(tree) if isinstance(node, FUNCTIONS)]


@kept
def _leads_to(function: CallableNode) -> set[str]:
    """The names that a function calls."""
    return names_called(function)


@kept
def _called_in(tree: ast.Module) -> list[Called]:
    found: list[Called] = []
    given: set[str] = set()
    for node in nodes_in(tree):
        if isinstance(node, ast.Call) and called_name(node) in ACCESSES:
            arguments = arguments_of(node)
            found += [Called(one, "") for one in arguments if isinstance(one, ast.Lambda)]
            given |= {last_word(one) for one in arguments}
    for node in nodes_in(tree):
        if isinstance(node, ast.ClassDef):
            methods = (one for one in node.body if isinstance(one, FUNCTIONS))
            found += [Called(one, f"{node.name}.{one.name}") for one in methods if _is_led_to(one, node, given)]
    return found


def _is_led_to(method: FunctionNode, cls: ast.ClassDef, given: set[str]) -> bool:
    name = method.name
    if name.startswith("__") and name.endswith("__"):
        return name not in WRITTEN or any(last_word(base).endswith(METACLASSES) for base in cls.bases)
    is_access = any(last_word(decorator) in ACCESSES for decorator in method.decorator_list)
    return is_access or name in given or name in UNNAMED


def _is_seen(analysis: Analysis, called: Called) -> bool:
    """Whether something else has led to it: what nobody calls is an entry of its file, and is run by itself."""
    return any(
        (called.function in run.machine.called_on or called.function in run.machine.called_off)
        and not any(f".{entry}".endswith(f".{called.name}") for entry in run.entries)
        for run in analysis.runs
    )
