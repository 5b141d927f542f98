"""Evaluation of expressions: the whole grammar; what is not modelled evaluates to something unknown."""

from __future__ import annotations

import ast
from collections.abc import Callable

from autodetach.container_methods import ADDING
from autodetach.machine import operators, python_builtins, read_by_text
from autodetach.machine.accesses import Accesses
from autodetach.machine.bounded import note_bound
from autodetach.machine.generators import has_yield
from autodetach.machine.graph import Site
from autodetach.machine.implicit_calls import as_mapping
from autodetach.machine.last_pass import remainder_or_last
from autodetach.machine.operators import negate
from autodetach.machine.oracle import Policy
from autodetach.machine.program_values import Class, Deferred, External, Frame, Function, Super
from autodetach.machine.star_names import from_a_star
from autodetach.machine.state import MISSING, OutOfFuel
from autodetach.machine.values import Mapping, Value
from autodetach.node_types import JUMPS, CallableNode

NAME, CONSTANT, ATTRIBUTE, STARRED, SUBSCRIPT = ast.Name, ast.Constant, ast.Attribute, ast.Starred, ast.Subscript
LOOKS = frozenset(f"builtins.{name}" for name in ("bool", "id", "isinstance", "len", "print", "type"))
"""Functions that give nothing of what they are given."""


class Expressions(Accesses):
    """Look-ups plus all other expressions."""

    def __init__(self, policy: Policy, fuel: int) -> None:
        super().__init__(policy, fuel)
        self._eval: dict[type, Callable[[Value, Frame], Value]] = {
            kind: getattr(self, name) for kind, name in handlers(type(self), "_eval_")
        }
        self.globals = Frame(None, "<module>")
        self.builtins: dict[str, Value] = python_builtins.builtin_names()

    def binary(self, op: str, left: Value, right: Value, site: Site) -> Value:
        return operators.binary(self, op, left, right, site)

    def compare(self, op: str, left: Value, right: Value, site: Site) -> Value:
        return operators.compare(self, op, left, right, site)

    def eval(self, node: ast.expr, frame: Frame) -> Value:
        kind = type(node)
        if kind is NAME:
            value = frame.names.get(node.id, MISSING)  # type: ignore[attr-defined]
            if value is MISSING or type(value) is Deferred:
                return self.load(node.id, frame)  # type: ignore[attr-defined]
            return value
        if kind is CONSTANT:
            return node.value  # type: ignore[attr-defined]
        handler = self._eval.get(kind)
        return handler(node, frame) if handler is not None else self.opaque(kind.__name__)

    def site(self, node: ast.AST, frame: Frame, *operands: tuple[ast.expr, object]) -> Site:
        return Site(node, frame.qualname, operands)

    # ---- names and constants

    def _eval_Constant(self, node: ast.Constant, frame: Frame) -> Value:
        return node.value

    def _eval_Name(self, node: ast.Name, frame: Frame) -> Value:
        return self.load(node.id, frame)

    def load(self, name: str, frame: Frame) -> Value:
        scope: Frame | None = frame
        first = True
        while scope is not None:
            if (first or not scope.is_class) and name in scope.names:
                value = scope.names[name]
                return self.fetched(scope, name) if type(value) is Deferred else value
            if first and scope.declared.get(name) == "global":
                break
            first = False
            scope = scope.outer
        module = frame.top
        if name in module.names:
            return self.fetched(module, name)
        if name in self.builtins:
            return self.builtins[name]
        known = None if module.module is None else from_a_star(self.project, module.module, name)
        module.names[name] = found = self.opaque(name) if known is None else known
        return found

    def store_name(self, name: str, value: Value, frame: Frame) -> None:
        how = frame.declared.get(name)
        if how == "global":
            frame.top.names[name] = value
            return
        if how == "nonlocal":
            scope = frame.outer
            while scope is not None:
                if name in scope.names and not scope.is_class:
                    scope.names[name] = value
                    return
                scope = scope.outer
        frame.names[name] = value

    def _eval_NamedExpr(self, node: ast.NamedExpr, frame: Frame) -> Value:
        value = self.eval(node.value, frame)
        if self.evidence is not None:
            from autodetach.machine.observations import bound

            value = bound(self, node.target, value, frame)
        self.store_name(node.target.id, value, frame)
        return value

    # ---- operators

    def _eval_BinOp(self, node: ast.BinOp, frame: Frame) -> Value:
        left = self.eval(node.left, frame)
        right = self.eval(node.right, frame)
        self.fuel -= 1
        if self.fuel < 0:
            raise OutOfFuel
        site = Site(node, frame.qualname, ((node.left, left), (node.right, right)))
        return self.binary(type(node.op).__name__, left, right, site)

    def _eval_UnaryOp(self, node: ast.UnaryOp, frame: Frame) -> Value:
        value = self.eval(node.operand, frame)
        if isinstance(node.op, ast.Not):
            return negate(self, value, self.site(node, frame))
        site = Site(node, frame.qualname, ((node.operand, value),))
        return operators.unary(self, type(node.op).__name__, value, site)

    def _eval_BoolOp(self, node: ast.BoolOp, frame: Frame) -> Value:
        is_and = isinstance(node.op, ast.And)
        value: Value = is_and
        remainder = None if is_and else remainder_or_last(node)
        if remainder is not None and self._is_test_of_block(node):
            return self._at_remainder(node, remainder, frame)
        for i, operand in enumerate(node.values):
            self.chosen.add(operand)
            value = self.eval(operand, frame)
            if i == len(node.values) - 1:
                return value
            if self.truth(value, Site(operand, frame.qualname), is_and) != is_and:
                note_bound(self, node, frame, is_so=not is_and)
                return value
        return value

    def _is_test_of_block(self, node: ast.BoolOp) -> bool:
        """Whether it is the test of an `if` that goes on behind what it leads to."""
        statement = self.trail[-1][0] if self.trail else None
        return isinstance(statement, ast.If) and statement.test is node and not isinstance(statement.body[-1], JUMPS)

    def _at_remainder(self, node: ast.BoolOp, remainder: ast.expr, frame: Frame) -> Value:
        """The value of a test that is true at one remainder, and in the last pass, which stands for none of them."""
        self.chosen.update(node.values)
        for operand in node.values:
            value, site = self.eval(operand, frame), Site(operand, frame.qualname)
            is_so = self.truth(value, site) if operand is remainder else self.known_truth(value, site)
            if is_so:
                return True
        return False

    def _eval_IfExp(self, node: ast.IfExp, frame: Frame) -> Value:
        chosen = self.truth(self.eval(node.test, frame), self.site(node.test, frame))
        self.ways.append((node, chosen))
        note_bound(self, node, frame, is_so=chosen)
        way = node.body if chosen else node.orelse
        self.chosen.add(way)
        return self.eval(way, frame)

    def _eval_Compare(self, node: ast.Compare, frame: Frame) -> Value:
        left = self.eval(node.left, frame)
        result: Value = True
        site = Site(node, frame.qualname)
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.eval(right_node, frame)
            result = self.compare(type(op).__name__, left, right, site)
            if len(node.ops) > 1 and not self.truth(result, site):
                return False
            left = right
        return result

    # ---- calls

    def _arguments(
        self, node: ast.Call, frame: Frame
    ) -> tuple[list[Value], dict[str, Value], list[tuple[ast.expr, object]]]:
        args: list[Value] = []
        kwargs: dict[str, Value] = {}
        operands: list[tuple[ast.expr, object]] = []
        for a in node.args:
            if type(a) is STARRED:
                whole = self.eval(a.value, frame)
                more, _ = self.collect(whole, self.site(a, frame))
                args.extend(more)
                operands.append((a.value, whole))
                continue
            value = self.eval(a, frame)
            args.append(value)
            operands.append((a, value))
        for k in node.keywords:
            value = self.eval(k.value, frame)
            operands.append((k.value, value))
            if k.arg is not None:
                kwargs[k.arg] = value
            elif isinstance(value := as_mapping(self, value, self.site(k.value, frame)), Mapping):
                for name, item in value.items.values():
                    if isinstance(name, str):
                        if name in kwargs and value.exact:
                            self.refuse(self.site(node, frame), f"`{name}` is given twice", "TypeError")
                        kwargs[name] = item
                if not value.exact:
                    kwargs["**"] = value
            else:
                kwargs["**"] = value
        return args, kwargs, operands

    def _eval_Call(self, node: ast.Call, frame: Frame) -> Value:
        func = node.func
        if type(func) is ATTRIBUTE:
            if type(func.value) is SUBSCRIPT and func.attr in ADDING:
                self.filled_place = func.value
            this = self.eval(func.value, frame)
            args, kwargs, operands = self._arguments(node, frame)
            for _, value in operands:
                self.note_read(value)
            site = Site(node, frame.qualname, ((func.value, this), *operands))
            if self.evidence is not None:
                return self._observed_call(node, frame, this, func.attr, args, kwargs, site)
            return self.call_method(this, func.attr, args, kwargs, site)
        callee = self.eval(func, frame)
        path = callee.path if type(callee) is External else ""
        if path == "builtins.super":
            return self._super(node, frame)
        args, kwargs, operands = self._arguments(node, frame)
        if path not in LOOKS:
            for _, value in operands:
                self.note_read(value)
        if path in ("builtins.locals", "builtins.globals", "builtins.vars") and not args:
            return read_by_text.names(self, frame, all_of_file=path == "builtins.globals")
        site = Site(node, frame.qualname, tuple(operands))
        if self.evidence is not None:
            return self._observed_call(node, frame, callee, "", args, kwargs, site)
        return self.call(callee, args, kwargs, site)

    def _observed_call(
        self,
        node: ast.Call,
        frame: Frame,
        callee: Value,
        method: str,
        args: list[Value],
        kwargs: dict[str, Value],
        site: Site,
    ) -> Value:
        """A call, of a method of `callee` if one is named, of which a run may have shown something."""
        from autodetach.machine.observations import begin, finish

        begun = begin(self, node, frame, callee, method, args, kwargs, site)
        if method:
            result = self.call_method(callee, method, args, kwargs, site)
        else:
            result = self.call(callee, args, kwargs, site)
        return result if begun is None else finish(self, begun, result)

    def _super(self, node: ast.Call, frame: Frame) -> Value:
        scope: Frame | None = frame
        while scope is not None and (scope.function is None or scope.function.owner is None):
            scope = scope.outer
        if len(node.args) == 2:
            cls, this = self.eval(node.args[0], frame), self.eval(node.args[1], frame)
            return Super(cls if isinstance(cls, Class) else None, this)
        if scope is None or scope.function is None:
            return self.opaque("super")
        return Super(scope.function.owner, scope.this)

    # ---- functions and comprehensions

    def _eval_Lambda(self, node: ast.Lambda, frame: Frame) -> Value:
        return self.make_function(node, frame, "<lambda>")

    def make_function(self, node: CallableNode, frame: Frame, name: str) -> Function:
        defaults = [self.eval(d, frame) for d in node.args.defaults]
        kwdefaults = [MISSING if d is None else self.eval(d, frame) for d in node.args.kw_defaults]
        prefix = "" if frame is self.globals else frame.qualname + "."
        function = Function(node, frame, name, prefix + name, defaults, kwdefaults)
        function.is_generator = has_yield(node)
        self.defines(frame)
        return function

    def _eval_Await(self, node: ast.Await, frame: Frame) -> Value:
        with self.tasks.awaiting(node.value):
            return self.eval(node.value, frame)

    def _eval_Yield(self, node: ast.Yield, frame: Frame) -> Value:
        if node.value is not None:
            frame.returns.append(self.eval(node.value, frame))
        return None

    def _eval_YieldFrom(self, node: ast.YieldFrom, frame: Frame) -> Value:
        frame.returns.append(self.eval(node.value, frame))
        return None


_handlers: dict[tuple[str, str], tuple[tuple[type[ast.AST], str], ...]] = {}


def handlers(machine: type, prefix: str) -> tuple[tuple[type[ast.AST], str], ...]:
    """The methods of a class that are named after what they handle: a kind of syntax node, and the name."""
    key = (machine.__qualname__, prefix)
    if key not in _handlers:
        names = (name for name in dir(machine) if name.startswith(prefix))
        _handlers[key] = tuple((getattr(ast, name[6:]), name) for name in names if hasattr(ast, name[6:]))
    return _handlers[key]
