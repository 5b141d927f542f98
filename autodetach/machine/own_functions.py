"""Functions of a program that derive from `torch.autograd.Function`.

Measured on PyTorch 2.13: `forward` runs with gradients off, and is given the very tensors that `apply` was, with their
graph; so what keeps one of them keeps that graph. What it returns is given the function's own graph behind it, so that
what keeps a result keeps that.
"""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine import tensors
from autodetach.machine.arguments import flatten
from autodetach.machine.core import Core
from autodetach.machine.graph import Node, Site
from autodetach.machine.marks import HOOK, HOOK_NAME, HOOKED
from autodetach.machine.number_readers import wanted
from autodetach.machine.program_values import Class, External, Function, Instance, Native, StaticMethod
from autodetach.machine.saved_by_functions import saved_by
from autodetach.machine.state import Kept, Raised
from autodetach.machine.torch_semantics import TENSOR_ATTRIBUTES, Op, Saved
from autodetach.machine.values import Opaque, Sequence, Tensor, Value

TORCH = frozenset({"F", "math", "np", "torch"})


def apply_function(m: Core, cls: Class, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`MyFunction.apply(...)`: one node; it raises on a second walk iff `forward` calls `save_for_backward`.

    What it marks as not differentiable has no history (https://docs.pytorch.org/docs/stable/notes/extending.html).
    """
    wanted(m, [*args, *kwargs.values()], site, "apply")
    context = m.quiet("ctx")
    kept, returned = _forward(m, cls, context, args, kwargs, site)
    if _is_marked(cls.node):
        return tensors.plain()
    saves = _saves(cls.node)
    op = Op(Saved.OPAQUE if saves else Saved.NOTHING)
    result = m.derive(cls.name, op, flatten(args), site)
    if result.node is not None and saves:
        result.node.saved = saved_by(cls.node, args, result)
    if result.node is not None and kept:
        _run_backward_later(m, cls, context, result)
        _give_graph(m, result.node, kept, returned, args)
    return result


def _forward(
    m: Core, cls: Class, context: Value, args: list[Value], kwargs: dict[str, Value], site: Site
) -> tuple[list[Kept], Value]:
    """Run `forward` for what it does to others than its result; what it has put into containers, and what it returns.

    It is not run if it does nothing to others.
    """
    forward, setup = (_written(cls, name) for name in ("forward", "setup_context"))
    if forward is None or not _reaches_others(forward.node, setup is None):
        return [], None
    recorded, refused, watched = m.grad_enabled, len(m.type_faults), m.watched
    kept: list[Kept] = []
    m.grad_enabled, m.watched = False, kept
    result: Value = None
    try:
        if setup is None:
            result = m.call(forward, [context, *args], kwargs, site)
        else:
            result = m.call(forward, list(args), kwargs, site)
            m.call(setup, [context, Sequence("tuple", list(args), m.clock), result], {}, site)
    except Raised:
        del m.type_faults[refused:]
    finally:
        m.grad_enabled, m.watched = recorded, watched
    return kept, result


def _give_graph(m: Core, node: Node, kept: list[Kept], returned: Value, args: list[Value]) -> None:
    """What `forward` has computed, kept and returned has the graph of the function from now on, wherever it is kept.

    Where a second derivative is asked for, what `backward` computes with it may need that graph.
    """
    results = returned.items if isinstance(returned, Sequence) else [returned]
    given = flatten(args)
    for value in results:
        is_own = isinstance(value, Tensor) or (isinstance(value, Opaque) and value is returned)
        if not is_own or value.node is not None or any(value is other for other in given):
            continue
        if any(d.create_graph for d in m.differentiations):
            continue
        stored = [each for each in kept if each.value is value]
        if stored:
            value.node = node
            for each in stored:
                m.store(each.container, value, each.element, each.site, each.how)


def _run_backward_later(m: Core, cls: Class, context: Value, result: Tensor) -> None:
    """Run `backward` at each differentiation of a result, for what it does to others: it may empty what was filled."""
    backward = _written(cls, "backward")
    if backward is None or not _reaches_others(backward.node, True):
        return

    def differentiated(args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        refused = len(m.type_faults)
        try:
            return m.call(backward, [context, *args], kwargs, site)
        except Raised:
            del m.type_faults[refused:]
            return None

    handle = Instance(External("torch.autograd.Function"), m.serial(), m.clock)
    handle.attrs.update({HOOKED: result, HOOK_NAME: "register_hook", HOOK: Native("backward", differentiated)})
    m.hooks.append(handle)


def _written(cls: Class, name: str) -> Function | None:
    method = cls.names.get(name)
    function = method.function if isinstance(method, StaticMethod) else None
    return function if isinstance(function, Function) else None


def _reaches_others(node: ast.AST, with_context: bool) -> bool:
    """Whether a function may do anything to what it is given, or finds, besides its context, if it has one."""
    return _touches_beside_context(node) if with_context else _touches(node)


@kept
def _touches_beside_context(node: ast.AST) -> bool:
    return _is_touched_by(node, {a.arg for a in node.args.args[:1]} if isinstance(node, ast.FunctionDef) else set())


@kept
def _touches(node: ast.AST) -> bool:
    return _is_touched_by(node, set())


def _is_touched_by(node: ast.AST, own: set[str]) -> bool:
    dropped = {n.value for n in ast.walk(node) if isinstance(n, ast.Expr)}
    for n in ast.walk(node):
        if isinstance(n, ast.Call) and _root(n.func) not in own and _root(n.func) not in TORCH:
            if n in dropped or not _is_of_tensors(n.func):
                return True
        elif isinstance(n, (ast.Attribute, ast.Subscript)) and not isinstance(n.ctx, ast.Load) and _root(n) not in own:
            return True
    return False


def _is_of_tensors(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr in TENSOR_ATTRIBUTES


def _root(node: ast.expr) -> str:
    """`torch` of `torch.nn.functional.relu`, and `ctx` of `ctx.save_for_backward`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


@kept
def _saves(cls: ast.ClassDef) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == "save_for_backward" for n in ast.walk(cls))


@kept
def _is_marked(cls: ast.ClassDef) -> bool:
    """Whether all that `forward` returns is marked as not differentiable."""
    forward = next((f for f in cls.body if isinstance(f, ast.FunctionDef) and f.name == "forward"), None)
    nodes = list(ast.walk(forward)) if forward is not None else []
    calls = [(n.func, n.args) for n in nodes if isinstance(n, ast.Call)]
    marks = [args for f, args in calls if isinstance(f, ast.Attribute) and f.attr == "mark_non_differentiable"]
    given = [arg for args in marks for arg in args]
    marked = {n.id for arg in given for n in ast.walk(arg) if isinstance(n, ast.Name)}
    returned = [node.value for node in nodes if isinstance(node, ast.Return)]
    parts = [part for value in returned for part in (value.elts if isinstance(value, ast.Tuple) else [value])]
    return bool(marked and parts) and all(isinstance(part, ast.Name) and part.id in marked for part in parts)
