"""`retain_graph=True` on all but the last of several differentiations of one graph, where each of them is asked for."""

from __future__ import annotations

import ast
import itertools

from autodetach.machine.children import walk
from autodetach.machine.graph import Differentiation
from autodetach.machine.program_values import Frame, Function
from autodetach.machine.spelling import called_name
from autodetach.node_types import FunctionNode
from autodetach.suspect import Candidate

RETAIN = "retain_graph"


def retained(calls: list[Differentiation], doubt: str | None) -> Candidate:
    """Keep the graph in all but the last of these."""
    from autodetach.codemods.set_keyword import SetKeyword

    edits = [SetKeyword(*_asked_at(d), "True") for d in calls[:-1] if not d.retain]
    last = calls[-1]
    if isinstance(last.retain_written, ast.keyword) and last.kind != "grad":
        edits.append(SetKeyword(last.call, RETAIN, None))
    return Candidate("keep the graph until the last backward over it", tuple(edits), doubt, "retain")


def _asked_at(d: Differentiation) -> tuple[ast.Call, str]:
    """The call that says whether a graph is kept, and by which keyword: others may call the function it stands in."""
    call, name = d.call, RETAIN
    for (_, frame), (statement, _) in itertools.pairwise(reversed(d.trail)):
        function = frame.function if isinstance(frame, Frame) else None
        if function is None or isinstance(function.node, ast.Lambda):
            break
        parameter = _handed_on(call, name, function.node)
        calls = (n for n in ast.walk(statement) if isinstance(n, ast.Call) and called_name(n) == function.name)
        callers = [n for n in calls if not any(k.arg == parameter and _is_on(k.value) for k in n.keywords)]
        if parameter is None or len(callers) != 1 or not _is_free(parameter, callers[0], function):
            break
        call, name = callers[0], parameter
    return call, name


def _is_on(value: ast.expr) -> bool:
    return not (isinstance(value, ast.Constant) and not value.value)


def _handed_on(call: ast.Call, name: str, function: FunctionNode) -> str | None:
    """The keyword by which callers of a function give one of a call in it: `retain_graph=keep`, `**options`."""
    written = next((k for k in call.keywords if k.arg == name), None)
    if written is None:
        rest = function.args.kwarg
        given = [k.value for k in call.keywords if k.arg is None]
        is_given = rest is not None and any(isinstance(v, ast.Name) and v.id == rest.arg for v in given)
        return name if is_given else None
    if not isinstance(written.value, ast.Name):
        return None
    parameter = written.value.id
    names = (n for n in walk(function) if isinstance(n, ast.Name) and n.id == parameter)
    return parameter if all(isinstance(n.ctx, ast.Load) for n in names) else None


def _is_free(parameter: str, caller: ast.Call, function: Function) -> bool:
    """Whether a caller may give a parameter by its name: it has a default, or stands among the rest."""
    spec = function.node.args
    if any(isinstance(argument, ast.Starred) for argument in caller.args):
        return False
    by_position = [a.arg for a in spec.args]
    if parameter in by_position:
        at = by_position.index(parameter)
        is_default = at >= len(by_position) - len(spec.defaults)
        return is_default and len(caller.args) + (function.owner is not None) <= at
    return spec.kwarg is not None or parameter in {a.arg for a in spec.kwonlyargs}
