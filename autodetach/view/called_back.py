"""What a callable that code out of view is given may differentiate, whenever it is called."""

from __future__ import annotations

import ast

from autodetach.machine.called_by_python import trains_unseen
from autodetach.machine.children import walk
from autodetach.machine.graph import Differentiation
from autodetach.machine.restraints import CallableGiven
from autodetach.machine.spelling import last_word, root_of
from autodetach.node_types import CALLABLES
from autodetach.once import once
from autodetach.view.by_call import at_call
from autodetach.view.by_name import Functions, functions_in_view, functions_of
from autodetach.view.program import Program

WALKS = frozenset({"backward", "manual_backward", "grad"})
MAX_FUNCTIONS = 20
WRITTEN_CALLS = frozenset({"__init__", "__new__", "__call__"})
"""Special methods that a call in the program runs."""


def may_be_called_back(program: Program, d: Differentiation) -> bool:
    """Whether such a callable may walk what a differentiation walks: it is given that, or finds it under a name.

    One that leads to the differentiation itself computes what it walks.
    """
    for run in program.runs:
        given = [fact for fact in run.machine.restraints if isinstance(fact, CallableGiven)]
        if not given:
            continue
        functions = functions_in_view(program)
        graph = {node for other in at_call(run, d.call) for node in other.walked if not node.leaf}
        for fact in given:
            found = [_Walks(program, functions, code, bound=fact.is_bound) for code in fact.codes]
            if any(walks.holds(d.call) for walks in found):
                continue
            if any(walks.others for walks in found):
                return True
            if (not found or any(walks.given for walks in found)) and fact.reaches(graph):
                return True
    return False


def may_be_called_by_python(program: Program, d: Differentiation) -> bool:
    """Whether a differentiation that no path has reached stands where Python leads by itself.

    That is a handler of errors in the same function, or a special method of a class, as `__set__`.
    """
    return (
        any(_leads_there(program, tree) for tree in program.analysis.trees)
        or _handles_there(program, program.scope(d.call))
        or _is_led_there(program)
    )


@once
def _is_led_there(program: Program) -> bool:
    """Whether such a method, or an accessor of a property, does so by way of other functions."""
    return trains_unseen(program.analysis)


@once
def _leads_there(program: Program, tree: ast.AST) -> bool:
    """Whether a special method of a file does so."""
    written = (function for found in functions_of(tree).values() for function in found)
    special = (f for f in written if f.name.startswith("__") and f.name not in WRITTEN_CALLS)
    return any(_is_walked_unseen(program, function) for function in special)


@once
def _handles_there(program: Program, scope: ast.AST) -> bool:
    """Whether a handler of errors in a function does so."""
    handlers = (at for at in walk(scope) if isinstance(at, ast.ExceptHandler))
    return any(_is_walked_unseen(program, handler) for handler in handlers)


def _is_walked_unseen(program: Program, block: ast.AST) -> bool:
    found = (at for at in ast.walk(block) if isinstance(at, (ast.Call, ast.Attribute)) and _walked_by(at) is not None)
    return any(not program.is_reached(at) for at in found)


class _Walks:
    """What a function differentiates, or one that it calls by a name that a function in view has.

    `given`: what it is given. `others`: what it neither computes nor is given: a name from outside, `self.loss`.
    """

    def __init__(self, program: Program, functions: Functions, code: ast.AST, *, bound: bool) -> None:
        self._program = program
        self._functions = functions
        self._seen: set[ast.AST] = set()
        self.given = self.others = False
        self._follow(code, set(_parameters(code)) if bound else set(), is_first=not bound)

    def holds(self, call: ast.Call) -> bool:
        """Whether a call stands in any of the functions."""
        return any(at in self._seen for at in self._program.enclosing(call))

    def _follow(self, code: ast.AST, foreign: set[str], *, is_first: bool = False) -> None:
        if code in self._seen or len(self._seen) >= MAX_FUNCTIONS:
            return
        self._seen.add(code)
        parameters = set(_parameters(code))
        own = {n.id for n in ast.walk(code) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)} - foreign

        def is_foreign(value: ast.expr) -> bool:
            root = root_of(value)
            if not isinstance(root, ast.Name) or _has_call(value):
                return False
            return root.id in foreign or root.id == "self" or root.id not in own | parameters

        for at in ast.walk(code):
            if not isinstance(at, (ast.Call, ast.Attribute)):
                continue
            walked = _walked_by(at)
            if walked is not None:
                self.others |= is_foreign(walked)
                root = root_of(walked)
                self.given |= is_first and isinstance(root, ast.Name) and root.id in parameters
            if isinstance(at, ast.Call):
                for callee in self._functions.get(last_word(at.func), ()):
                    names = [name for name in _parameters(callee) if name != "self"]
                    handed = {n for n, v in zip(names, at.args, strict=False) if is_foreign(v)}
                    handed |= {k.arg for k in at.keywords if k.arg is not None and is_foreign(k.value)}
                    self._follow(callee, handed)


def _parameters(code: ast.AST) -> list[str]:
    assert isinstance(code, CALLABLES)
    return [a.arg for a in (*code.args.posonlyargs, *code.args.args, *code.args.kwonlyargs)]


def _has_call(value: ast.expr) -> bool:
    return any(isinstance(n, ast.Call) for n in ast.walk(value))


def _walked_by(at: ast.Call | ast.Attribute) -> ast.expr | None:
    """The root of `loss.backward`, called or not, of `autograd.grad(loss, ...)` and `fabric.backward(loss)`."""
    if isinstance(at, ast.Attribute):
        return at.value if at.attr == "backward" else None
    return at.args[0] if last_word(at.func) in WALKS and at.args else None
