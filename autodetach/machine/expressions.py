"""Evaluation of expressions: the whole grammar; what is not modelled evaluates to something unknown."""

from __future__ import annotations

import ast
from collections.abc import Callable

from autodetach.machine import (
    elements,
    joining,
    object_arrays,
    operators,
    python_builtins,
    read_by_text,
    settings,
    sliced_arrays,
    tensors,
)
from autodetach.machine.alike_calls import is_scalar_alike
from autodetach.machine.attributes import has_names
from autodetach.machine.decisions import Decisions
from autodetach.machine.enumerations import by_name
from autodetach.machine.events import DataRead
from autodetach.machine.generators import has_yield
from autodetach.machine.graph import Site
from autodetach.machine.held import held_by
from autodetach.machine.implicit_calls import TO_STRING, formatted, hash_all, show, special
from autodetach.machine.marks import ITEMS
from autodetach.machine.module_tree import is_module
from autodetach.machine.modules import part_of
from autodetach.machine.number_readers import wanted_of_number
from autodetach.machine.operators import LONG, key_in_test, negate
from autodetach.machine.sizes import SIZES, part_of_sizes
from autodetach.machine.spelling import spelled
from autodetach.machine.star_names import from_a_star
from autodetach.machine.state import MISSING, OutOfFuel
from autodetach.machine.values import (
    Class,
    Deferred,
    External,
    Frame,
    Function,
    Instance,
    Mapping,
    Opaque,
    Sequence,
    Slice,
    Super,
    Sym,
    Tensor,
    Value,
    is_constant,
    is_number,
    is_scalar,
)

NAME, CONSTANT, ATTRIBUTE, STARRED, SUBSCRIPT = ast.Name, ast.Constant, ast.Attribute, ast.Starred, ast.Subscript
FILLING = frozenset("add append appendleft extend extendleft insert setdefault update".split())
"""Methods of containers that add to them."""
LOOKS = frozenset(f"builtins.{name}" for name in ("bool", "id", "isinstance", "len", "print", "type"))
"""Functions that give nothing of what they are given."""


class Expressions(Decisions):
    """Decisions plus expressions."""

    def __init__(self, *args: Value) -> None:
        super().__init__(*args)
        self._eval: dict[type, Callable[[Value, Frame], Value]] = {
            kind: getattr(self, name) for kind, name in handlers(type(self), "_eval_")
        }
        self.globals = Frame(None, "<module>")
        self.builtins: dict[str, Value] = python_builtins.builtin_names()

    binary = operators.binary
    compare = operators.compare

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
        for i, operand in enumerate(node.values):
            value = self.eval(operand, frame)
            if i == len(node.values) - 1:
                return value
            if self.truth(value, Site(operand, frame.qualname), is_and) != is_and:
                return value
        return value

    def _eval_IfExp(self, node: ast.IfExp, frame: Frame) -> Value:
        chosen = self.truth(self.eval(node.test, frame), self.site(node.test, frame))
        self.ways.append((node, chosen))
        return self.eval(node.body if chosen else node.orelse, frame)

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

    # ---- displays

    def _elements(self, nodes: list[ast.expr], frame: Frame) -> tuple[list[Value], bool]:
        values: list[Value] = []
        exact = True
        for n in nodes:
            if isinstance(n, ast.Starred):
                more, complete = self.collect(self.eval(n.value, frame), self.site(n, frame))
                values.extend(more)
                exact = exact and complete
            else:
                values.append(self.eval(n, frame))
        return values, exact

    def _eval_List(self, node: ast.List, frame: Frame) -> Value:
        return self._row("list", node, frame)

    def _eval_Tuple(self, node: ast.Tuple, frame: Frame) -> Value:
        return self._row("tuple", node, frame)

    def _row(self, kind: str, node: ast.List | ast.Tuple, frame: Frame) -> Sequence:
        values, exact = self._elements(node.elts, frame)
        made = Sequence(kind, values, self.clock, exact)
        old = self._continued([e.value for e in node.elts if isinstance(e, ast.Starred)], frame)
        if isinstance(old, Sequence):
            joining.adopt(self, old, made)
            star = next(i for i, element in enumerate(node.elts) if isinstance(element, ast.Starred))
            for i, element in enumerate(node.elts):
                if i != star:
                    value = values[i if i < star else i - len(node.elts)]
                    self.store(made, value, element, self.site(node, frame), "append")
        return made

    def _continued(self, inner: list[ast.expr], frame: Frame) -> Value:
        """What a display goes on with under its name: `logs` of `logs = [*logs, loss]`."""
        statement = self.trail[-1][0] if len(inner) == 1 and self.trail else None
        if not isinstance(statement, ast.Assign) or not isinstance(inner[0], (ast.Name, ast.Attribute)):
            return None
        return self.eval(inner[0], frame) if spelled(statement.targets[0]) == spelled(inner[0]) else None

    def _eval_Set(self, node: ast.Set, frame: Frame) -> Value:
        values, exact = self._elements(node.elts, frame)
        hash_all(self, values, self.site(node, frame))
        return Sequence("set", values, self.clock, exact)

    def _eval_Dict(self, node: ast.Dict, frame: Frame) -> Value:
        mapping = Mapping(self.clock)
        old = self._continued([v for k, v in zip(node.keys, node.values, strict=True) if k is None], frame)
        if isinstance(old, Mapping):
            joining.adopt(self, old, mapping)
        for key_node, value_node in zip(node.keys, node.values, strict=True):
            value = self.eval(value_node, frame)
            if key_node is None:
                value = held_by(value)
                self.note_read(value)
                if isinstance(value, Mapping):
                    mapping.items.update(value.items)
                    mapping.exact = mapping.exact and value.exact
                else:
                    mapping.exact = False
                continue
            key = self.eval(key_node, frame)
            hash_all(self, [key], self.site(node, frame))
            hashed = self.key(key)
            if isinstance(old, Mapping) and hashed not in old.items:
                self.store(mapping, value, value_node, self.site(node, frame), "new key")
            mapping.items[hashed] = (key, value)
        return mapping

    def _eval_Starred(self, node: ast.Starred, frame: Frame) -> Value:
        return self.eval(node.value, frame)

    def _eval_Slice(self, node: ast.Slice, frame: Frame) -> Value:
        def part(n: ast.expr | None) -> Value:
            return None if n is None else self.eval(n, frame)

        return Slice(part(node.lower), part(node.upper), part(node.step))

    def _eval_JoinedStr(self, node: ast.JoinedStr, frame: Frame) -> Value:
        parts: list[str] = []
        known = True
        keys: list[object] = []
        for piece in node.values:
            value = self.eval(piece, frame)
            keys.append(key_in_test(self, value))
            if isinstance(value, str):
                parts.append(value)
            else:
                known = False
        if known and sum(map(len, parts)) < LONG:
            return "".join(parts)
        return self.sym(("text", *keys), "str")

    def _eval_FormattedValue(self, node: ast.FormattedValue, frame: Frame) -> Value:
        value = self.eval(node.value, frame)
        spec = self.eval(node.format_spec, frame) if node.format_spec is not None else ""
        if node.conversion == -1:
            formatted(self, value, spec, self.site(node, frame))
        else:
            show(self, [value], self.site(node, frame), TO_STRING if chr(node.conversion) == "s" else ("__repr__",))
        if is_constant(value) and isinstance(spec, str) and node.conversion == -1:
            try:
                return format(value, spec)
            except (ValueError, TypeError):
                return self.fresh("str")
        return self.sym(("format", key_in_test(self, value)), "str")

    def _eval_TemplateStr(self, node: ast.expr, frame: Frame) -> Value:
        return self.fresh("str")

    # ---- attributes, subscripts, calls

    def _eval_Attribute(self, node: ast.Attribute, frame: Frame) -> Value:
        this = self.eval(node.value, frame)
        if type(this) is Opaque:
            known = this.attrs.get(node.attr, MISSING)
            if known is not MISSING and node.attr != "grad_fn":
                return settings.asked(self, this, node.attr, known) if self.asking is not None else known
        found = self.attribute(this, node.attr, Site(node, frame.qualname, ((node.value, this),)))
        return settings.asked(self, this, node.attr, found) if self.asking is not None else found

    def _eval_Subscript(self, node: ast.Subscript, frame: Frame) -> Value:
        this = self.eval(node.value, frame)
        index = self.eval(node.slice, frame)
        site = Site(node, frame.qualname, ((node.value, this), (node.slice, index)))
        if is_scalar(this) and isinstance(index, int) and not isinstance(index, bool):
            if _is_data(node.value) or (isinstance(this, Tensor) and tensors.is_made_so(this) and _is_first(node)):
                self.facts.append(DataRead(site, this, raises=True))
            return self.fresh("number", tags=frozenset({node}))
        if isinstance(this, Opaque) and tensors.WITHOUT_DIMENSION in this.attrs and index == 0 and _is_first(node):
            self.facts.append(DataRead(site, this.attrs[tensors.WITHOUT_DIMENSION], raises=True))
            return self.fresh("number", tags=frozenset({node}))
        if type(index) is int and index == 0:
            if type(this) is Sym and is_number(this) and node.value in this.tags and _is_list(node.value):
                self.facts.append(DataRead(site, this, raises=True))
                return self.fresh("number", tags=frozenset({node}))
            if type(this) is Opaque:
                if this.owner is not None and _is_data(node.value) and _is_first(node):
                    self.unproven.append(DataRead(site, this, raises=True))
                    if is_scalar_alike(this.owner.node):
                        self.facts.append(DataRead(site, this, raises=True, alike=True))
            elif not (this is None or is_number(this)):
                self.having_elements.add(node)
        found = self.subscript(this, index, site)
        return settings.asked(self, this, index, found) if self.asking is not None else found

    def subscript(self, this: Value, index: Value, site: Site) -> Value:
        self.spend()
        if isinstance(this, Tensor):
            return tensors.subscript(self, this, index, site)
        if isinstance(this, (Sequence, Mapping, str, bytes)):
            return elements.subscript(self, this, index, site)
        if isinstance(this, Instance):
            raw = self.class_attribute(this.cls, "__getitem__")
            if raw is not MISSING:
                return self.call(self.bind(raw, this, site), [index], {}, site)
            if ITEMS in this.attrs:
                if isinstance(held_by(this), Mapping) and self.key(index) not in held_by(this).items:
                    found = special(self, this, ("__missing__",), [index], site)
                    if found is not MISSING:
                        return found
                if isinstance(index, Slice) and isinstance(this.attrs[ITEMS], Sequence) and is_module(this):
                    return part_of(self, this, index)
                return elements.subscript(self, this.attrs[ITEMS], index, site)
            return self.opaque("item")
        if isinstance(this, Opaque):
            if isinstance(index, str):
                has_names(this)
            if (held := object_arrays.places(this, index)) is not None:
                return elements.subscript(self, held, index, site)
            key = ("[]", self.key(index)) if not isinstance(index, Slice) else ("[]", self.serial())
            if key not in this.attrs:
                this.attrs[key] = self.part(this, "item", site, named=isinstance(index, str))
                sliced_arrays.note_array(this.attrs[key], index, site.node)
            return this.attrs[key]
        if isinstance(this, (Class, External)):
            member = by_name(this, index)
            return this if member is MISSING else member  # `list[int]`, `Optional[Tensor]`: a type
        if isinstance(this, Sym):
            if this.kind == SIZES:
                return part_of_sizes(self, this, index)
            wanted_of_number(self, this, site, "subscript")
            return self.sym(("[]", this.key, self.key(index)))
        if this is None or is_number(this):
            self.refuse(site, "indexes what cannot be indexed", "TypeError")
        return self.opaque("item")

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
            elif isinstance(value := held_by(value), Mapping):
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
            if type(func.value) is SUBSCRIPT and func.attr in FILLING:
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

    def make_function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, frame: Frame, name: str
    ) -> Function:
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


def _is_data(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "data"


def _is_list(node: ast.expr) -> bool:
    """`x.tolist()`, of which it is known that it gives a number."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "tolist"


def _is_first(node: ast.Subscript) -> bool:
    """`x[0]`, which is read."""
    return isinstance(node.slice, ast.Constant) and node.slice.value == 0 and isinstance(node.ctx, ast.Load)


_handlers: dict[tuple[str, str], tuple[tuple[type[ast.AST], str], ...]] = {}


def handlers(machine: type, prefix: str) -> tuple[tuple[type[ast.AST], str], ...]:
    """The methods of a class that are named after what they handle: a kind of syntax node, and the name."""
    key = (machine.__qualname__, prefix)
    if key not in _handlers:
        names = (name for name in dir(machine) if name.startswith(prefix))
        _handlers[key] = tuple((getattr(ast, name[6:]), name) for name in names if hasattr(ast, name[6:]))
    return _handlers[key]
