"""Whether there is anything in what a loop runs through: a filter, or a test before `append`, may leave nothing.

What comes from callers, loaders and functions out of view is taken for filled; what is in view has to show that it is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial

from autodetach.container_methods import ADDING, TAKING
from autodetach.kept import kept
from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import nodes_in
from autodetach.machine.spelling import called_name, spelled
from autodetach.node_types import CALLABLES, FUNCTIONS, JUMPS, YIELDS, FunctionNode
from autodetach.view.assigned import assigned
from autodetach.view.program import Program
from autodetach.view.read_by import functions_by_name

ALIKE = frozenset("enumerate iter list reversed set sorted tuple".split())
"""Functions that give as many elements as they are given."""
OF_SAME = frozenset("copy items keys values".split())
MAKERS = frozenset("Counter OrderedDict defaultdict deque dict frozenset list set tuple".split())


def is_filled(program: Program, items: ast.expr) -> bool:
    """Whether an expression surely gives an element, as far as what is in view decides it."""
    return _Filled(program).holds(items)


def is_lazy(program: Program, items: ast.expr) -> bool:
    """Whether elements are computed as they are asked for, or may be: what happens in between tells in them."""
    if isinstance(items, ast.GeneratorExp):
        return True
    if isinstance(items, ast.Call) and isinstance(items.func, ast.Name):
        is_handed_on = items.func.id in ("enumerate", "filter", "iter", "map", "zip")
        return items.func.id in ("filter", "map") or (is_handed_on and any(is_lazy(program, a) for a in items.args))
    if not isinstance(items, ast.Name):
        return False
    stores = (n for n in nodes_in(program.scope(items)) if isinstance(n, ast.Name) and n.id == items.id)
    values = (v for n in stores for t, v in assigned(program.statement(n)) if t is n)
    return any(isinstance(v, (ast.GeneratorExp, ast.Call)) and is_lazy(program, v) for v in values)


class _Filled:
    """What is found so far: a name that is bound by means of itself is what its other values make of it."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._found: dict[tuple[ast.AST, str], bool] = {}

    def holds(self, items: ast.expr) -> bool:
        match items:
            case ast.Dict(keys=keys, values=values):
                return any(k is not None or self.holds(v) for k, v in zip(keys, values, strict=True))
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                return any(not isinstance(e, ast.Starred) or self.holds(e.value) for e in elements)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return all(not g.ifs and self.holds(g.iter) for g in items.generators)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self.holds(left) or self.holds(right)
            case ast.BinOp(left=left, op=ast.Mult()):
                return self.holds(left)
            case ast.IfExp(body=body, orelse=orelse):
                return self.holds(body) and self.holds(orelse)
            case ast.BoolOp(op=ast.Or(), values=values):
                return self.holds(values[-1])
            case ast.BoolOp(values=values):
                return all(map(self.holds, values))
            case ast.NamedExpr(value=value):
                return self.holds(value)
            case ast.Subscript(slice=ast.Slice()):
                return False
            case ast.Call():
                return self._of_call(items)
            case ast.Name() | ast.Attribute():
                return self._of_name(items)
        return True

    def _of_call(self, call: ast.Call) -> bool:
        name, function = called_name(call), call.func
        if isinstance(function, ast.Name):
            if name == "filter":
                return False
            if name in ("map", "zip"):
                return all(map(self.holds, call.args[name == "map" :]))
            if name in ALIKE:
                return bool(call.args) and self.holds(call.args[0])
        if isinstance(function, ast.Attribute) and name in OF_SAME and not call.args:
            return self.holds(function.value)
        functions = functions_by_name(self._program).get(name, ())
        return all(self._once(f, "", partial(self._gives, f)) for f in functions)

    def _once(self, scope: ast.AST, name: str, find: Callable[[], bool]) -> bool:
        key = (scope, name)
        if key not in self._found:
            self._found[key] = True
            self._found[key] = find()
        return self._found[key]

    def _gives(self, function: FunctionNode) -> bool:
        """Whether what a function returns, or yields, is filled."""
        own = [n for n in nodes_in(function) if self._program.scope(n) is function]
        given = [n for n in own if isinstance(n, YIELDS)]
        if given:
            return any(self._is_sure(n, function) for n in given)
        returned = [n.value for n in own if isinstance(n, ast.Return) and n.value is not None]
        return all(map(self.holds, returned))

    def _of_name(self, read: ast.Name | ast.Attribute) -> bool:
        file, name = self._program.file_of(read), spelled(read)
        scope = self._program.scope(read) if isinstance(read, ast.Name) else file
        return self._once(scope, name, lambda: self._is_filled(read, name, scope, file))

    def _is_filled(self, read: ast.expr, name: str, scope: ast.AST, file: ast.Module) -> bool:
        """By all that a name is bound to, and by what adds to it; of an attribute, in its file."""
        is_given = isinstance(scope, CALLABLES) and name in all_parameter_names(scope.args)
        if is_given and not all(map(self.holds, self._given_by_callers(scope, name))):
            return False
        uses = self._uses(scope, name) or ([] if is_given else self._uses(file, name))
        values = [value for use in uses for value in self._values(use)]
        if any(not _is_beginning(v) and not self.holds(v) for v in values) or any(map(self._takes, uses)):
            return False
        return not any(map(_is_beginning, values)) or any(self._adds(use, read) for use in uses)

    def _uses(self, scope: ast.AST, name: str) -> list[ast.Name | ast.Attribute]:
        """Where a name is bound or read; none where it is only read, and is one of somewhere else."""
        found = _names_of(scope).get(name, [])
        return found if any(isinstance(n.ctx, ast.Store) for n in found) else []

    def _values(self, use: ast.expr) -> Iterator[ast.expr]:
        around = self._program.parents.get(use)
        if isinstance(around, (ast.AnnAssign, ast.NamedExpr)) and around.target is use and around.value is not None:
            yield around.value
            return
        yield from (value for target, value in assigned(self._program.statement(use)) if target is use)

    def _takes(self, use: ast.expr) -> bool:
        around = self._program.parents.get(use)
        return isinstance(around, ast.Attribute) and around.attr in TAKING

    def _adds(self, use: ast.expr, read: ast.expr) -> bool:
        """`losses.append(x)`, `losses[name] = x` or `losses += [x]`, wherever `losses` is read."""
        around = self._program.parents.get(use)
        if isinstance(around, ast.Attribute):
            call = self._program.parents.get(around)
            is_call = isinstance(call, ast.Call) and call.func is around and around.attr in ADDING
            if not isinstance(call, ast.Call) or not is_call:
                return False
            if around.attr in ("extend", "update") and not all(map(self.holds, call.args)):
                return False
        elif isinstance(around, ast.AugAssign):
            if around.target is not use or not self.holds(around.value):
                return False
        elif not isinstance(around, ast.Subscript) or isinstance(around.ctx, ast.Load):
            return False
        return self._is_sure(use, read)

    def _is_sure(self, use: ast.AST, read: ast.AST) -> bool:
        """Whether a statement runs wherever another one is reached: no test decides, and no loop without a pass."""
        beyond = {read, *self._program.enclosing(read)}
        for at in self._program.enclosing(use):
            if at in beyond or isinstance(at, CALLABLES):
                return True
            if isinstance(at, (ast.If, ast.IfExp, ast.While, ast.Try, ast.Match, ast.BoolOp)):
                return False
            if isinstance(at, ast.For) and (any(isinstance(n, JUMPS) for n in nodes_in(at)) or not self.holds(at.iter)):
                return False
        return True

    def _given_by_callers(self, function: ast.AST, name: str) -> Iterator[ast.expr]:
        """What calls in view give as a parameter, as far as the name of the function tells."""
        if not isinstance(function, FUNCTIONS):
            return
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
        is_bound = bool(names) and names[0] in ("self", "cls")
        for tree in self._program.analysis.trees:
            for call in nodes_in(tree):
                if isinstance(call, ast.Call) and called_name(call) == function.name:
                    yield from (k.value for k in call.keywords if k.arg == name)
                    yield from (a for n, a in enumerate(call.args) if names[n + is_bound :][:1] == [name])


@kept
def _names_of(scope: ast.AST) -> dict[str, list[ast.Name | ast.Attribute]]:
    found: dict[str, list[ast.Name | ast.Attribute]] = {}
    for node in nodes_in(scope):
        if isinstance(node, (ast.Name, ast.Attribute)):
            found.setdefault(spelled(node), []).append(node)
    return found


def _is_beginning(value: ast.expr) -> bool:
    """`[]`, `{}`, `deque()`, `defaultdict(list)`."""
    if isinstance(value, (ast.List, ast.Dict)):
        return not (value.elts if isinstance(value, ast.List) else value.keys)
    if not isinstance(value, ast.Call) or called_name(value) not in MAKERS:
        return False
    return not value.args or called_name(value) == "defaultdict"
