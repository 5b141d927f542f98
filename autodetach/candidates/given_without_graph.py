"""What a function of the program is given loses its graph where what it gives back is kept: `func(out.detach(), y)`.

One function may return a tensor and another a number, of which neither `.item()` nor `.detach()` can be asked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.by_parts import has_parts
from autodetach.candidates.detaching import has_graph
from autodetach.machine.graph import Node, ancestors, calls_of
from autodetach.machine.spelling import arguments_of
from autodetach.machine.values import Opaque, Value
from autodetach.suspect import Candidate
from autodetach.view.program import Program, listed, text


def given_without_graph(program: Program, call: ast.expr, kept: object) -> Iterator[Candidate]:
    """Detach the arguments of a call that bring history to what it has made, and returns to be kept."""
    from autodetach.codemods.append_method import AppendMethod

    node = getattr(kept, "node", None)
    if not isinstance(call, ast.Call) or not isinstance(node, Node):
        return
    site = next((one for one in calls_of(node.chain) if one.node is call), None)
    if site is None:
        return
    behind = set(ancestors([node]))
    given = set(arguments_of(call))
    found = dict.fromkeys(
        e for e, v in site.operands if e in given and _is_tensor(v) and getattr(v, "node", None) in behind
    )
    if found:
        message = f"give `{text(call.func)}` the value without its graph: `.detach()` on {listed(found)}"
        yield Candidate(message, tuple(AppendMethod(e, "detach") for e in found), last_resort=True)


def _is_tensor(value: Value) -> bool:
    """Whether it is a tensor with history, as far as it is known: what has parts is none."""
    return has_graph(value) and not (isinstance(value, Opaque) and has_parts(value))
