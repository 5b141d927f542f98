"""What moves to the begin of a block stands behind `net.train()` there, if something turns the network to `eval()`."""

from __future__ import annotations

import ast
from itertools import pairwise

from autodetach.machine.children import walk
from autodetach.machine.spelling import arguments_of, spelled
from autodetach.node_types import LEAVING, LOOPS, SCOPES
from autodetach.view.networks_apart import are_apart
from autodetach.view.program import Program, call_of
from autodetach.view.read_by import functions_by_name
from autodetach.view.targets import is_set

EVALUATES = "in a further pass, a network may evaluate there, since it is told to train later"
ENDING = (*LEAVING, ast.Raise)


def behind_train(
    program: Program, statements: list[ast.stmt], body: list[ast.stmt], first: ast.stmt
) -> tuple[ast.stmt, str | None]:
    """The statement of `body` in front of which others go that run networks, `first` if none is told to train.

    In the second pass, a network is as the end of the first one has left it: in front of `train()`, it would evaluate.
    There is a doubt where they cannot go behind that: what they bind is read before it, or is bound in each pass, while
    not each one may come so far.
    """
    bound = {name for s in statements for name in program.names_bound(s)}
    networks = {spelled(n) for s in statements for n in ast.walk(s) if isinstance(n, (ast.Name, ast.Attribute))}
    attributes = {n.attr for s in statements for n in ast.walk(s) if is_set(n)}
    goal, is_reached = first, True
    for at, following in pairwise(body):
        said = {n.attr for n in ast.walk(at) if isinstance(n, ast.Attribute)}
        is_read = not bound.isdisjoint(program.names_read(at)) or not attributes.isdisjoint(said)
        is_reached = is_reached and not is_read and not _may_end(at)
        network = _trains(at)
        if network is None or spelled(network) not in networks or not _is_of_modules(program):
            continue
        if not _is_turned_off(program, network):
            continue
        if not is_reached:
            return goal, EVALUATES
        goal = following
    return goal, None


def _may_end(node: ast.AST, kinds: tuple[type[ast.AST], ...] = ENDING) -> bool:
    """Whether a pass may end in a statement, so that what stands behind it does not run."""
    if isinstance(node, SCOPES):
        return False
    if isinstance(node, LOOPS) and not node.orelse:
        kinds = (ast.Return, ast.Raise, ast.Yield, ast.YieldFrom)
    return isinstance(node, kinds) or any(_may_end(inner, kinds) for inner in ast.iter_child_nodes(node))


def _trains(statement: ast.stmt) -> ast.expr | None:
    """`net` of `net.train()`."""
    call = call_of(statement)
    if call is None or not isinstance(call.func, ast.Attribute) or call.func.attr != "train":
        return None
    return None if any(_is_off(g) for g in arguments_of(call)) or len(arguments_of(call)) > 1 else call.func.value


def _is_off(given: ast.expr) -> bool:
    return not (isinstance(given, ast.Constant) and given.value is True)


def _is_of_modules(program: Program) -> bool:
    """Whether no other method in view has the name, as that of an agent that does train."""
    known = functions_by_name(program).get("train", [])
    methods = [f.args.args for f in known if isinstance(program.parents.get(f), ast.ClassDef)]
    return all(len(given) == 2 and given[1].arg == "mode" for given in methods)


def _is_turned_off(program: Program, network: ast.expr) -> bool:
    """Whether anything in view tells a network to evaluate, or what may be the same, or a part of the other."""
    calls = (n for tree in program.analysis.trees for n in walk(tree) if isinstance(n, ast.Call))
    methods = ((n.func, n) for n in calls if isinstance(n.func, ast.Attribute))
    told = [f for f, n in methods if f.attr == "eval" or (f.attr == "train" and any(map(_is_off, arguments_of(n))))]
    return any(not are_apart(program, f.value, network) for f in told)
