"""Settings that are written in a program: the constants that a name, an attribute or a key stands for.

`ACC = False` at the top of a file, `def epoch(acc=False)` and what its callers pass, an entry of a dict, a field of a
dataclass: who uses the program writes another one there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autodetach.machine.children import children_of
from autodetach.machine.spelling import last_word
from autodetach.node_types import CALLABLES, FUNCTIONS, FunctionNode

DEEP = 4
"""Names that lead to one another."""
MOST = 200
"""So many expressions are looked at for the constants of one: functions of one name have many callers."""
PLAIN = (bool, int, float, str, type(None))
OF_NUMBERS = frozenset({"bool", "int", "float"})
Scope = tuple[ast.AST, ...]
"""The functions and classes around a place, outermost first."""


class Written:
    """What a program binds to its names, and where."""

    def __init__(self, trees: Iterable[ast.Module]) -> None:
        self._scopes: dict[ast.AST, Scope] = {}
        self._names: dict[tuple[ast.AST | None, str], list[ast.expr | None]] = {}
        self._parts: dict[str, list[ast.expr | None]] = {}
        self._calls: dict[str, list[ast.Call]] = {}
        self._functions: dict[ast.AST, str] = {}
        self._known: dict[ast.expr, list[ast.Constant]] = {}
        self._left = 0
        for tree in trees:
            self._look_through(tree)

    def constants(self, expression: ast.expr) -> list[ast.Constant]:
        """The constants that an expression stands for; none where it may be anything else."""
        if expression not in self._known:
            self._left = MOST
            self._known[expression] = list(dict.fromkeys(self._constants(expression, ()) or ()))
        return self._known[expression]

    def _constants(self, expression: ast.expr | None, on_the_way: tuple[str, ...]) -> list[ast.Constant] | None:
        """The same, None where it may be anything else; `self.acc = cfg.acc` is nothing new on the way to `acc`."""
        if isinstance(expression, ast.Constant):
            return [expression] if isinstance(expression.value, PLAIN) else None
        self._left -= 1
        if expression is None or len(on_the_way) > DEEP or self._left < 0:
            return None
        key = _part(expression)
        if key and key in on_the_way:
            return []
        found: list[ast.Constant] = []
        values = self.values(expression)
        for value in values:
            known = self._constants(value, (*on_the_way, key))
            if known is None:
                return None
            found += known
        return found if values else None

    def values(self, expression: ast.expr) -> list[ast.expr | None]:
        """What the name, the attribute or the key that an expression reads is bound to; None for what is not written.

        A name that is bound again and again is no setting: for that, there is nothing.
        """
        if isinstance(expression, ast.Name):
            return self._of_name(expression)
        if isinstance(expression, ast.Call) and last_word(expression.func) in OF_NUMBERS and len(expression.args) == 1:
            return [expression.args[0]]
        key = _part(expression)
        if key not in self._parts and isinstance(expression, ast.Attribute):
            return self._of_file(key)
        return self._parts.get(key, [])

    def _of_name(self, name: ast.Name) -> list[ast.expr | None]:
        for scope in reversed(self._scopes.get(name, ())):
            if not isinstance(scope, CALLABLES):
                continue
            bound = self._names.get((scope, name.id), [])
            if name.id in _parameters(scope):
                return [] if bound else list(self._given(scope, name.id))
            if bound:
                return bound if len(bound) == 1 else []
        return self._of_file(name.id)

    def _of_file(self, name: str) -> list[ast.expr | None]:
        """What a global name is bound to, in whichever file: most are told apart by what they are called."""
        bound = self._names.get((None, name), [])
        return bound if len(bound) == 1 else []

    def _given(self, function: ast.AST, name: str) -> Iterator[ast.expr | None]:
        """The default of a parameter, and what its callers pass."""
        if not isinstance(function, FUNCTIONS):
            yield None
            return
        places, default = _place_and_default(function, name)
        if default is not None:
            yield default
        is_method = bool(places) and _first(function) in ("self", "cls")
        for call in self._calls.get(self._functions.get(function, ""), []):
            named = next((k.value for k in call.keywords if k.arg == name), None)
            place = places.index(name) - is_method if name in places else -1
            if named is not None:
                yield named
            elif 0 <= place < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args):
                yield call.args[place]

    def _look_through(self, tree: ast.Module) -> None:
        waiting: list[tuple[ast.AST, Scope]] = [(tree, ())]
        while waiting:
            node, scope = waiting.pop()
            self._note(node, scope)
            inner = (*scope, node) if isinstance(node, (*CALLABLES, ast.ClassDef)) else scope
            waiting += [(child, inner) for child in children_of(node)]

    def _note(self, node: ast.AST, scope: Scope) -> None:
        if isinstance(node, ast.Name):
            self._scopes[node] = scope
        elif isinstance(node, FUNCTIONS):
            is_made = node.name == "__init__" and scope and isinstance(scope[-1], ast.ClassDef)
            self._functions[node] = scope[-1].name if is_made and isinstance(scope[-1], ast.ClassDef) else node.name
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind_all(target, node.value, scope)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            if node.value is not None:
                self._bind_all(node.target, node.value, scope)
        elif isinstance(node, (ast.AugAssign, ast.For, ast.AsyncFor, ast.comprehension)):
            self._bind_all(node.target, None, scope)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._bind_all(node.optional_vars, None, scope)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    self._parts.setdefault(key.value, []).append(value)
        elif isinstance(node, ast.Call):
            self._note_call(node)

    def _note_call(self, node: ast.Call) -> None:
        word = last_word(node.func)
        self._calls.setdefault(word, []).append(node)
        if word == "dict" or word[:1].isupper():
            for keyword in node.keywords:
                if keyword.arg is not None:
                    self._parts.setdefault(keyword.arg, []).append(keyword.value)
        key = _part(node)
        if key:
            default = node.args[1 if word == "get" else 2 :]
            self._parts.setdefault(key, []).extend(one for one in default if isinstance(one, ast.Constant))

    def _bind_all(self, target: ast.expr, value: ast.expr | None, scope: Scope) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            is_alike = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
            values = value.elts if is_alike and isinstance(value, (ast.Tuple, ast.List)) else [None] * len(target.elts)
            for one, part in zip(target.elts, values, strict=True):
                self._bind_all(one, part, scope)
        elif isinstance(target, ast.Name):
            if scope and isinstance(scope[-1], ast.ClassDef):
                self._parts.setdefault(target.id, []).append(value)
            else:
                here = next((s for s in reversed(scope) if isinstance(s, CALLABLES)), None)
                self._names.setdefault((here, target.id), []).append(value)
        elif key := _part(target):
            self._parts.setdefault(key, []).append(value)


def _part(expression: ast.expr) -> str:
    """The name of an attribute or a key: `acc` of `cfg.acc`, `cfg["acc"]` and `cfg.get("acc", False)`."""
    if isinstance(expression, ast.Attribute):
        return expression.attr
    key: ast.expr | None = None
    if isinstance(expression, ast.Subscript):
        key = expression.slice
    elif isinstance(expression, ast.Call) and expression.args:
        word = last_word(expression.func)
        if word == "get" and len(expression.args) <= 2:
            key = expression.args[0]
        elif word == "getattr" and len(expression.args) > 1:
            key = expression.args[1]
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""


def _parameters(function: ast.AST) -> set[str]:
    args = getattr(function, "args", None)
    if not isinstance(args, ast.arguments):
        return set()
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    return {one.arg for one in every if one is not None}


def _first(function: FunctionNode) -> str:
    every = [*function.args.posonlyargs, *function.args.args]
    return every[0].arg if every else ""


def _place_and_default(function: FunctionNode, name: str) -> tuple[list[str], ast.expr | None]:
    """The parameters that can be given by place, and the default of one parameter."""
    args = function.args
    places = [one.arg for one in (*args.posonlyargs, *args.args)]
    defaults = dict(zip(reversed(places), reversed(args.defaults), strict=False))
    named = {one.arg: value for one, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value is not None}
    return places, defaults.get(name) or named.get(name)
