"""What objects that are called do with what they are given: modules in place, and classes in view by their methods."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence

from autodetach.machine.children import walk
from autodetach.machine.classes import linear_order
from autodetach.machine.module_tree import children_of, is_module, modules_of
from autodetach.machine.program_values import Class, External, Instance
from autodetach.machine.spelling import spelled
from autodetach.node_types import FUNCTIONS, CallableNode, FunctionNode
from autodetach.view.handed_on import HANDING_ON
from autodetach.view.program import Program
from autodetach.view.same_memory import memory_of


def parameters_given(
    program: Program, call: ast.Call, functions: Sequence[CallableNode], given: list[ast.expr]
) -> Iterator[tuple[ast.AST, str]]:
    """The parameters as which functions in view have some arguments of a call."""
    for function in functions:
        spec = function.args
        names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
        bound = bool(names) and isinstance(program.parents.get(function), ast.ClassDef)
        for n, argument in enumerate(call.args):
            at = n + (bound and names[0] in ("self", "cls"))
            if argument in given:
                yield function, names[at] if at < len(names) else spec.vararg.arg if spec.vararg else ""
        for keyword in call.keywords:
            if keyword.value in given:
                yield function, keyword.arg or ""


def works_in_place(this: Instance) -> bool:
    """Whether a module of PyTorch changes what it is given: it is told to, or the first that does anything with it."""
    if not isinstance(this.cls, External):
        return False
    if this.attrs.get("inplace", False) is not False:
        return True
    for _, child in children_of(this) if this.cls.name == "Sequential" else ():
        if works_in_place(child):
            return True
        if not (isinstance(child.cls, External) and child.cls.name in HANDING_ON):
            return False
    return False


def functions_of_call(program: Program, this: Instance, known: dict[str, list[FunctionNode]]) -> list[FunctionNode]:
    """The methods in view that run when an object is called; those of the modules below it, too."""
    names = ("forward", "__call__") if is_module(this) else ("__call__",)
    objects = modules_of(this) if is_module(this) else [this]
    classes = {c.node for o in objects if isinstance(o.cls, Class) for c in linear_order(o.cls) if isinstance(c, Class)}
    return [f for name in names for f in known.get(name, ()) if program.parents.get(f) in classes]


def is_called(program: Program, function: ast.expr) -> bool:
    """Whether an expression is what a call calls."""
    call = program.parents.get(function)
    return isinstance(call, ast.Call) and call.func is function


def is_bound_anew(function: ast.AST, name: ast.Name, given: Container[str]) -> bool:
    """Whether a name of a function that is `given` some means something else where it stands, by a statement before."""
    is_anew = False
    for statement in function.body if isinstance(function, FUNCTIONS) else ():
        if name in ast.walk(statement):
            return is_anew and not any(n is not name for n in _stored(statement, name.id))
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name.id for t in targets):
            is_anew = not any(spelled(m) in given for m in memory_of(statement.value))
        elif any(_stored(statement, name.id)):
            is_anew = False
    return False


def is_bound_once(program: Program, scope: ast.AST, name: str) -> bool:
    """Whether one statement alone binds a name in a block, no loop: what it stands for at the end, it always does."""
    if any(isinstance(n, (ast.Global, ast.Nonlocal)) and name in n.names for n in walk(scope)):
        return False
    at_once = [t for n in walk(scope) if isinstance(n, ast.Assign) for t in n.targets]
    stored = [n for n in _stored(scope, name) if program.scope(n) is scope]
    return len(stored) <= 1 and all(any(n in ast.walk(t) for t in at_once) for n in stored)


def _stored(scope: ast.AST, name: str) -> Iterator[ast.Name]:
    """Where a name is bound, and not merely changed by what is added to it."""
    changed = {n.target for n in walk(scope) if isinstance(n, ast.AugAssign)}
    for n in walk(scope):
        if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load) and n not in changed:
            yield n
