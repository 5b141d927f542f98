"""A function that gives a layer a hook, each time that it is called, removes it when the layer has run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autodetach.machine.children import walk
from autodetach.machine.events import Stored
from autodetach.machine.graph import Chain, places_in
from autodetach.machine.growth import Growth
from autodetach.machine.program_values import Frame
from autodetach.machine.spelling import last_word
from autodetach.node_types import LOOPS
from autodetach.suspect import Candidate
from autodetach.view.free_names import free_name
from autodetach.view.program import Program, line, text

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

REGISTERING = frozenset({"register_forward_hook", "register_forward_pre_hook"})
KEPT_LATER = "what the layer computes later may be meant to be kept, too"


def hooks_removed(program: Program, growth: Growth) -> Iterator[Candidate]:
    """`handle = layer.register_forward_hook(keep)`, and `handle.remove()` when the layer has run: it lives on there."""
    from autodetach.codemods.insert_statement import InsertStatement
    from autodetach.codemods.replace_expression import ReplaceExpression

    found = _registered(program, growth)
    if found is None:
        return
    function, calls = found
    is_own = _is_taken_apart(program, function, _filled(growth))
    last = _last_run(program, growth, function, is_own=is_own)
    if last is None or isinstance(last, ast.Return) or line(last) <= max(map(line, calls)):
        return
    first = next((s for s in function.body if calls[0] in walk(s)), None)
    if first is None:
        return
    tree = program.file_of(function)
    codemods: tuple[Codemod, ...]
    if len(calls) == 1 and isinstance(first, ast.Expr):
        name = free_name(tree, "handle", "hook_handle")
        codemods = (
            ReplaceExpression(calls[0], f"{name} = {{}}"),
            InsertStatement(last, f"{name}.remove()"),
        )
    else:
        one, name = free_name(tree, "handle", "hook_handle"), free_name(tree, "handles", "hook_handles")
        if one is None:
            return
        codemods = (
            InsertStatement(first, f"{name} = []", "before"),
            *(ReplaceExpression(call, f"{name}.append({{}})") for call in calls),
            InsertStatement(last, f"for {one} in {name}:\n    {one}.remove()"),
        )
    if name is not None:
        shown = ", ".join(f"`{text(call.func)}`" for call in calls)
        yield Candidate(f"keep what {shown} gives, and remove the hook when it has been used", codemods, KEPT_LATER)


def _registered(program: Program, growth: Growth) -> tuple[ast.FunctionDef, list[ast.Call]] | None:
    """The function that is running when the container is filled, and where it registers hooks."""
    for function in dict.fromkeys(f for event in _alike(program, growth) for f in _running(event.chain)):
        calls = [
            n for n in walk(function)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in REGISTERING
            and program.scope(n) is function
        ]  # fmt: skip
        if not calls:
            continue
        are_dropped = all(isinstance(program.parents.get(call), ast.Expr) for call in calls)
        return (function, calls) if are_dropped and all(_is_plain(program, c, function) for c in calls) else None
    return None


def _alike(program: Program, growth: Growth) -> list[Stored]:
    """All that is put into containers at the place, on whatever path."""
    place = growth.stored.site.node if growth.stored is not None else None
    return [e for run in program.runs for e in run.machine.stored if e.site.node is place and e.inner is None]


def _is_plain(program: Program, call: ast.Call, function: ast.FunctionDef) -> bool:
    """Whether it stands in the function itself, or in loops there."""
    around = [at for at in program.enclosing(call) if isinstance(at, ast.stmt) and not isinstance(at, ast.Expr)]
    inside = around[: around.index(function)] if function in around else around
    return all(isinstance(at, LOOPS) for at in inside)


def _running(chain: Chain) -> Iterator[ast.FunctionDef]:
    for _, frame in places_in(chain):
        if isinstance(frame, Frame) and frame.function is not None and isinstance(frame.function.node, ast.FunctionDef):
            yield frame.function.node


def _last_run(program: Program, growth: Growth, function: ast.FunctionDef, *, is_own: bool) -> ast.stmt | None:
    """The last statement of the body in which the container is filled.

    None if it is filled elsewhere, too, and not the function's own: of that, nobody sees what comes later.
    """
    last = -1
    for event in _alike(program, growth):
        running = [at for at, s in enumerate(function.body) if _is_open(event.chain, function, s)]
        if not (running or is_own):
            return None
        last = max((last, *running))
    return function.body[last] if last >= 0 else None


def _is_open(chain: Chain, function: ast.FunctionDef, statement: ast.stmt) -> bool:
    """Whether a statement of a function's body, or one in it, is running."""
    last = statement.end_lineno or statement.lineno
    inside = (frame for inner, frame in places_in(chain) if statement.lineno <= inner.lineno <= last)
    return any(isinstance(f, Frame) and f.function is not None and f.function.node is function for f in inside)


def _filled(growth: Growth) -> ast.expr | None:
    """The container that the hook fills: `seen` of `seen.append(out)`, or of `seen[name] = out`."""
    node = growth.stored.site.node if growth.stored is not None else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value
    return node.value if isinstance(node, ast.Subscript) else None


def _is_taken_apart(program: Program, function: ast.FunctionDef, holder: ast.expr | None) -> bool:
    """Whether the container is a variable of the function, which gives others no more than what is in it by then."""
    if not isinstance(holder, ast.Name):
        return False
    names = [n for n in walk(function) if isinstance(n, ast.Name) and n.id == holder.id]
    bound = [n for n in names if not isinstance(n.ctx, ast.Load)]
    if not bound or any(program.scope(n) is not function for n in bound):
        return False
    for name in names:
        around = program.parents.get(name)
        is_part = isinstance(around, (ast.Subscript, ast.Attribute)) and around.value is name
        is_part = is_part or (isinstance(around, (ast.For, ast.comprehension)) and around.iter is name)
        is_call = isinstance(around, ast.Call) and last_word(around.func) in ("len", "sum", "stack", "cat", "tuple")
        if name not in bound and program.scope(name) is function and not (is_part or is_call):
            return False
    return True
