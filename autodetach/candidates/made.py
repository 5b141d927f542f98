"""Where a function has made what it changes, and who else may hold it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import walk
from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.torch_semantics import FACTORIES, MODULES, OPS, TENSOR_ATTRIBUTES, lookup
from autodetach.node_types import LOOPS, YIELDS, FunctionNode
from autodetach.view.entered import computed_in, entered_by, has_forward_hooks
from autodetach.view.handed_on import hands_on, source_of
from autodetach.view.kept import declared, is_of, means_another, outlasts
from autodetach.view.program import Program, line

MARKING = frozenset({"retain_grad", "retains_grad"})
MAX_CALLS = 4
OF_SEVERAL = frozenset({"attention", "lstm", "rnn"})
"""Layers that give several tensors, of which none is in the memory of another."""


def made_in_scope(program: Program, changed: ast.AST, name: str) -> ast.Assign | None:
    """The assignment that gives a variable or an attribute, by its text, what a call or an operator has computed.

    It stands on every way to the statement in which a node stands.
    """
    before = [
        s
        for s in walk(program.scope(changed))
        if isinstance(s, ast.Assign) and line(s) < line(changed) and program.scope(s) is program.scope(changed)
        and any(spelled(n) == name for t in s.targets for n in _named(t))
    ]  # fmt: skip
    last = max(before, key=line, default=None)
    if last is None or len(last.targets) > 1 or spelled(last.targets[0]) != name:
        return None
    around = [changed, *program.enclosing(changed)]
    if not any(last in program.block(at) for at in around if isinstance(at, ast.stmt)):
        return None
    if isinstance(last.value, ast.Call):
        called = last.value.func
        may_share = isinstance(called, ast.Attribute) and lookup(called.attr).view
        return None if may_share else last
    return last if isinstance(last.value, ast.BinOp) else None


def _named(target: ast.expr) -> Iterator[ast.Name | ast.Attribute]:
    """What may be another one behind an assignment: a tensor of which a part is written, `p[k] = 0`, stays the same."""
    if isinstance(target, (ast.Name, ast.Attribute)):
        yield target
    if not isinstance(target, ast.Subscript):
        for inner in ast.iter_child_nodes(target):
            if isinstance(inner, ast.expr):
                yield from _named(inner)


def doubt_of_holders(program: Program, name: str, made: ast.Assign | None, changed: ast.AST) -> str | None:
    """Why a new tensor under a name may not be meant: others may hold the old one, or nobody knows who made it."""
    is_safe = _is_only_here(program, name, made, changed) and not has_forward_hooks(program)
    return None if is_safe else f"what else holds `{name}` keeps the value that it had"


def _is_only_here(program: Program, name: str, made: ast.Assign | None, changed: ast.AST) -> bool:
    if made is None or is_held(program, made, name, changed) or name in declared(program.scope(made)):
        return False
    given = made.value
    if isinstance(given, ast.Call) and hands_on(program, given):
        source = source_of(program, given)
        if source is not None and isinstance(source, (ast.Name, ast.Attribute)) and spelled(source) == name:
            return _is_only_here(program, name, made_in_scope(program, made, name), changed)
    return is_new(program, given)


def is_held(program: Program, made: ast.Assign, name: str, changed: ast.AST) -> bool:
    """Whether something else than a name may hold what it names, or a view of it, when that is changed.

    What computes something new of it does not, nor what prints or measures it. All else may.
    """
    scope = program.scope(made)
    outside = {scope, *program.enclosing(scope)}
    again = any(isinstance(at, LOOPS) and at not in program.enclosing(made) for at in program.enclosing(changed))
    end = getattr(changed, "end_lineno", 0)
    for node in _mentions(program, scope, name):
        is_own = program.scope(node) is scope
        is_behind = (made.end_lineno or 0, made.end_col_offset or 0) <= (node.lineno, node.col_offset)
        is_between = is_behind and (again or line(node) <= end)
        if isinstance(node, ast.Name) and means_another(program, node, outside):
            continue
        if is_own and _is_renewed(program, node, name):
            continue
        if (is_between or not is_own) and (_is_marked(program, node) or outlasts(program, node, may_return=is_own)):
            return True
    return False


def _mentions(program: Program, scope: ast.AST, name: str) -> Iterator[ast.Name | ast.Attribute]:
    """Where a name is read, in functions inside as well; an attribute of an object anywhere."""
    last = name.rpartition(".")[2]
    for around in program.analysis.trees if "." in name else (scope,):
        nodes = (n for n in walk(around) if isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Load))
        yield from (n for n in nodes if spelled(n) == name or (isinstance(n, ast.Attribute) and n.attr == last != name))


def _is_marked(program: Program, node: ast.expr) -> bool:
    """`h.retain_grad()`, `h.name_of_layer = "conv"`: what the tensor itself has, and a new one would not."""
    around = program.parents.get(node)
    if not isinstance(around, ast.Attribute):
        return False
    return not isinstance(around.ctx, ast.Load) or around.attr in MARKING or around.attr not in TENSOR_ATTRIBUTES


def _is_renewed(program: Program, node: ast.expr, name: str) -> bool:
    """`x = act(x)`, by a function or a layer of PyTorch: if that gives the same memory, it is under the same name."""
    call = program.parents[node]
    around = program.parents[call]
    if not isinstance(call, ast.Call) or node not in call.args or not isinstance(around, ast.Assign):
        return False
    is_known = is_of(program, call, ("torch",)) or any(inner.node is call for _, inner in computed_in(program, call))
    return is_known and [spelled(t) for t in around.targets] == [name] and not entered_by(program, call)


def is_new(program: Program, value: ast.expr, depth: int = 0, function: FunctionNode | None = None) -> bool:
    """Whether what an expression gives is held by nothing that has made it, as a cell that keeps its state does.

    A variable of a function that ends with it holds it no longer.
    """
    if isinstance(value, ast.IfExp):
        return all(is_new(program, each, depth, function) for each in (value.body, value.orelse))
    if isinstance(value, ast.Name):
        return function is not None and depth <= MAX_CALLS and _is_variable_new(program, value, depth, function)
    if not isinstance(value, ast.Call) or depth > MAX_CALLS:
        return isinstance(value, ast.BinOp) or (isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub))
    if hands_on(program, value):
        source = source_of(program, value)
        return source is not None and is_new(program, source, depth, function)
    is_torch = is_of(program, value, ("torch",)) and last_word(value.func) in OPS.keys() | FACTORIES
    is_known = is_torch or last_word(value.func) == "clone" or bool(computed_in(program, value))
    return is_known and all(_gives_new(program, function, depth + 1) for function in entered_by(program, value))


def _gives_new(program: Program, function: FunctionNode, depth: int) -> bool:
    """Whether all that a function returns was computed in it, and it keeps nothing of that."""
    own = [n for n in walk(function) if program.scope(n) is function]
    given = (n.value for n in own if isinstance(n, ast.Return) and n.value is not None)
    return not any(isinstance(n, YIELDS) for n in own) and all(is_new(program, v, depth, function) for v in given)


def _is_variable_new(program: Program, variable: ast.Name, depth: int, function: FunctionNode) -> bool:
    """Whether all that a variable of a function is given is new, and only the variable has it when that ends."""
    name = variable.id
    named = [n for n in walk(function) if isinstance(n, ast.Name) and n.id == name]
    if name in declared(function) or any(program.scope(n) is not function for n in named):
        return False
    values: list[ast.expr] = []
    for around in (program.parents[n] for n in named if not isinstance(n.ctx, ast.Load)):
        value = _value_of(program, around)
        if value is None:
            return False
        source = source_of(program, value) if isinstance(value, ast.Call) and hands_on(program, value) else None
        if not isinstance(around, ast.AugAssign) and not (isinstance(source, ast.Name) and source.id == name):
            values.append(value)
    is_given = name in all_parameter_names(function.args)
    if not values or (is_given and not any(program.statement(v) in function.body for v in values)):
        return False
    reads = [n for n in named if isinstance(n.ctx, ast.Load)]
    return not any(outlasts(program, n, may_return=True, depth=1) for n in reads) and all(
        is_new(program, value, depth + 1, function) for value in values
    )


def _value_of(program: Program, around: ast.AST) -> ast.expr | None:
    """What a statement gives a variable, or adds to it; of several values that of a layer that makes each of them."""
    if isinstance(around, (ast.AnnAssign, ast.AugAssign)):
        return around.value
    if isinstance(around, ast.Assign):
        return around.value if len(around.targets) == 1 else None
    whole = program.parents.get(around)
    if not isinstance(around, ast.Tuple) or not isinstance(whole, ast.Assign) or not isinstance(whole.value, ast.Call):
        return None
    made = [node.op for node, inner in computed_in(program, whole.value) if inner.node is whole.value]
    is_apart = bool(made) and all(op in MODULES and MODULES[op].result in OF_SEVERAL for op in made)
    return whole.value if is_apart and len(whole.targets) == 1 else None
