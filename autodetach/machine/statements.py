"""Execution of statements and bodies of functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from autodetach.machine import containers, contexts, cut_parts, functional, tensors
from autodetach.machine.classes import decorate
from autodetach.machine.core import MAX_EXACT, MAX_LISTED, MAX_PASSES, MAX_SKIPPED, MISSING, WEIGHTS, OutOfFuel, Raised
from autodetach.machine.delays import MAX_DELAY, delay_of
from autodetach.machine.events import DroppedDetach, Stored
from autodetach.machine.exceptions import (
    TRY,
    expects_error,
    expects_runtime_error,
    handles,
    may_swallow,
    suppresses_runtime_error,
)
from autodetach.machine.expressions import handlers
from autodetach.machine.generators import ends
from autodetach.machine.graph import Activation, Differentiation, Loops, Site
from autodetach.machine.imports import Imports
from autodetach.machine.module_tree import is_module
from autodetach.machine.patterns import matches
from autodetach.machine.quiet import matters
from autodetach.machine.records import is_named_tuple, make_record, makes_record
from autodetach.machine.replacing import MOST, replaces_each
from autodetach.machine.spelling import spelled
from autodetach.machine.torch_library import grad_mode_of
from autodetach.machine.values import (
    Class,
    ClassMethod,
    External,
    Frame,
    Function,
    GradMode,
    Instance,
    Iterable,
    Mapping,
    Method,
    Native,
    Opaque,
    Property,
    Sequence,
    StaticMethod,
    Sym,
    Tensor,
    Value,
    contents,
    is_number,
)
from autodetach.machine.words import names_loader

BREAK, CONTINUE, RETURN = "break", "continue", "return"
CALLED_WITH_FUNCTION = frozenset({"functools.singledispatch", "functools.singledispatchmethod", "torch.jit.script"})
"""Decorators that are called, and give something else than the function or mark it."""
LEAVING = (ast.Raise, ast.Return, ast.Continue, ast.Break)
MAX_EXACT_ITEMS = 8
MAX_EXACT_PAIRS = 16
"""What a dict holds is rarely alike, a loss, a norm, a rate: so many of its values are each looked at."""
UNROLLED = 64
"""As many steps of a counter in a function as a network may unroll: words of a sentence, steps of a solver."""
BOUNDED = 16
"""A loop of so few passes over something in view is bounded by its structure: over layers, classes, gates."""


class Statements(Imports):
    """Expressions plus statements and the bodies of functions."""

    def __init__(self, *args: Value) -> None:
        super().__init__(*args)
        self._exec: dict[type, Callable[[ast.stmt, Frame], str | None]] = {
            kind: getattr(self, name) for kind, name in handlers(type(self), "_exec_")
        }
        self.functions: list[Function] = []
        self.classes: list[Class] = []
        self.executed: set[ast.stmt] = set()

    # ---- blocks

    def block(self, body: list[ast.stmt], frame: Frame) -> str | None:
        execute, trail, executed = self._exec, self.trail, self.executed
        for statement in body:
            self.fuel -= 1
            if self.fuel < 0:
                raise OutOfFuel
            executed.add(statement)
            handler = execute.get(type(statement))
            if handler is not None:
                trail.append((statement, frame))
                try:
                    signal = handler(statement, frame)
                except Raised as error:
                    error.ended.append(statement)
                    raise
                finally:
                    trail.pop()
                if signal is not None:
                    return signal
        return None

    def _exec_Expr(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.Expr)
        value = node.value
        if isinstance(value, ast.Constant):
            return None
        self.detached_at = self.detached_from = None
        self.eval(value, frame)
        if self.detached_from is not None and self.detached_at in dropped_calls(value):
            self.facts.append(DroppedDetach(Site(value, frame.qualname), node, self.detached_from))
        return None

    def _exec_Assign(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.Assign)
        value = self.eval(node.value, frame)
        if isinstance(value, Opaque) and value.node is not None and value.node.site.node is node.value:
            value.node.weak = value.node.weak or (value.node.called and repackages(node))
        for target in node.targets:
            self.assign(target, value, frame, node.value)
        return None

    def _exec_AnnAssign(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.AnnAssign)
        if node.value is not None:
            self.assign(node.target, self.eval(node.value, frame), frame, node.value)
        return None

    def _exec_AugAssign(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.AugAssign)
        target = node.target
        op = type(node.op).__name__
        if isinstance(target, ast.Name):
            old = self.load(target.id, frame)
        elif isinstance(target, ast.Attribute):
            this = self.eval(target.value, frame)
            old = self.attribute(this, target.attr, Site(target, frame.qualname))
        else:
            this = self.eval(target.value, frame)
            index = self.eval(target.slice, frame)
            old = self.subscript(this, index, Site(target, frame.qualname, ((target.value, this),)))
        right = self.eval(node.value, frame)
        site = Site(node, frame.qualname, ((target, old), (node.value, right)))
        new = self.augmented(op, old, right, site)
        if isinstance(target, ast.Name):
            self.store_name(target.id, new, frame)
        elif isinstance(target, ast.Attribute):
            self.set_attribute(this, target.attr, new, Site(target, frame.qualname))
        else:
            self.set_item(this, index, new, Site(node, frame.qualname, ((node.value, right),)), None)
        return None

    def augmented(self, op: str, old: Value, right: Value, site: Site) -> Value:
        if isinstance(old, Tensor):
            return tensors.augmented(self, op, old, right, site)
        if isinstance(old, (Sequence, Mapping)):
            done = containers.augmented(self, op, old, right, site)
            if done is not MISSING:
                return done
        if (
            isinstance(old, int)
            and isinstance(right, int)
            and op == "Add"
            and not isinstance(old, bool)
            and self.widening
        ):
            # A counter of a loop that is cut off after a few passes: it goes on, so only its least value is known.
            return self.fresh("number", lo=old + right) if right >= 0 else self.fresh("number")
        if isinstance(old, Instance):
            raw = self.class_attribute(old.cls, f"__i{op.lower()}__")
            if raw is not MISSING:
                return self.call(self.bind(raw, old, site), [right], {}, site)
        return self.binary(op, old, right, site)

    def assign(self, target: ast.expr, value: Value, frame: Frame, source: ast.expr | None = None) -> None:
        if self.evidence is not None:
            from autodetach.machine.observations import bound

            value = bound(self, target, value, frame)
        if isinstance(target, ast.Name):
            self.store_name(target.id, value, frame)
        elif isinstance(target, ast.Attribute):
            this = self.eval(target.value, frame)
            self.set_attribute(this, target.attr, value, Site(target, frame.qualname))
        elif isinstance(target, ast.Subscript):
            this = self.eval(target.value, frame)
            index = self.eval(target.slice, frame)
            self.set_item(this, index, value, Site(target, frame.qualname), source)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value, frame, source)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, value, frame)

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, frame: Frame, source: ast.expr | None) -> None:
        site = Site(target, frame.qualname, ((source, value),) if source is not None else ())
        parts = self.unpacked(value, len(target.elts), site)
        sources: list[ast.expr | None] = [None] * len(target.elts)
        if isinstance(source, (ast.Tuple, ast.List)) and len(source.elts) == len(target.elts):
            sources = list(source.elts)
        star = next((i for i, t in enumerate(target.elts) if isinstance(t, ast.Starred)), None)
        if star is None:
            for t, part, s in zip(target.elts, parts, sources, strict=False):
                self.assign(t, part, frame, s)
            return
        after = len(target.elts) - star - 1
        exact = [*parts]
        for t, part in zip(target.elts[:star], exact, strict=False):
            self.assign(t, part, frame)
        tail = exact[len(exact) - after :] if after else []
        self.assign(target.elts[star], Sequence("list", exact[star : len(exact) - after], self.clock), frame)
        for t, part in zip(target.elts[star + 1 :], tail, strict=False):
            self.assign(t, part, frame)

    def unpacked(self, value: Value, count: int, site: Site) -> list[Value]:
        """The parts of a value that is unpacked into `count` names."""
        if isinstance(value, Opaque):
            return [self.subscript(value, i, site) for i in range(count)]
        if isinstance(value, Tensor):
            return [tensors.subscript(self, value, i, site) for i in range(count)]
        if value is None:
            self.refuse(site, "unpacks None", "TypeError")
        parts, _ = self.collect(value, site)
        while len(parts) < count:
            parts.append(self.opaque("item"))
        return parts

    def set_item(self, this: Value, index: Value, value: Value, site: Site, source: ast.expr | None) -> None:
        if isinstance(this, Tensor):
            at = site if source is None else Site(site.node, site.scope, ((source, value),))
            tensors.set_item(self, this, index, value, at)
        elif isinstance(this, (Sequence, Mapping)):
            containers.set_item(self, this, index, value, source, site)
        elif isinstance(this, Instance):
            raw = self.class_attribute(this.cls, "__setitem__")
            if raw is not MISSING:
                at = site if source is None else Site(site.node, site.scope, ((source, value),))
                self.call(self.bind(raw, this, site), [index, value], {}, at)
            elif "#items" in this.attrs:
                containers.set_item(self, this.attrs["#items"], index, value, source, site)
        elif isinstance(this, Opaque):
            key = ("[]", self.key(index))
            if not cut_parts.is_of_tensor(index):
                cut_parts.cut_by_store(this, key, value, named=isinstance(index, str))
            this.attrs[key] = value
            self.escape([value], site, "[]")

    def _exec_Delete(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.Delete)
        for target in node.targets:
            if isinstance(target, ast.Name):
                frame.names.pop(target.id, None)
            elif isinstance(target, ast.Attribute):
                this = self.eval(target.value, frame)
                if isinstance(this, (Instance, Opaque)):
                    this.attrs.pop(target.attr, None)
            elif isinstance(target, ast.Subscript):
                containers.delete(self, self.eval(target.value, frame), self.eval(target.slice, frame))
        return None

    # ---- definitions

    def _exec_FunctionDef(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        bare = self.make_function(node, frame, node.name)
        value: Value = bare
        for decorator in reversed(node.decorator_list):
            value = self._decorated(self.eval(decorator, frame), decorator, value, frame)
        if not frame.is_class and frame.top is self.globals:
            # The decorated function, if it is one, is what others call.
            self.functions.append(value if isinstance(value, Function) and value.node is node else bare)
        self.store_name(node.name, value, frame)
        return None

    _exec_AsyncFunctionDef = _exec_FunctionDef

    def _decorated(self, decorator: Value, node: ast.expr, value: Value, frame: Frame) -> Value:
        site = Site(node, frame.qualname)
        if isinstance(decorator, GradMode) and isinstance(value, Function):
            if decorator.previous:  # `set_grad_enabled` has switched when it was called
                self.grad_enabled = bool(decorator.previous.pop())
            return decorate(decorator, value)
        if isinstance(decorator, (External, Opaque)) and isinstance(value, Function) and says_inference(decorator.name):
            return decorate(GradMode(False), value)
        if isinstance(decorator, External):
            name = decorator.name
            if name in ("property", "cached_property", "lazy_property"):
                return Property(value, None, name != "property")
            if name == "staticmethod":
                return StaticMethod(value)
            if name == "classmethod":
                return ClassMethod(value)
            mode = grad_mode_of(decorator.path)
            if mode is not None and isinstance(value, Function):
                return decorate(GradMode(mode), value)
            if name == "contextmanager" and isinstance(value, Function):
                value.attrs[contexts.MANAGER] = True
                return value
            if name in ("lru_cache", "cache"):
                return functional.memoised(self, value)
            if decorator.path in CALLED_WITH_FUNCTION:
                return self.call(decorator, [value], {}, site)
            return value
        if isinstance(decorator, Native) and decorator.name == "setter":
            return decorator.call([value], {}, site)
        if isinstance(decorator, Native) or self._is_in_view(decorator):
            return self.call(decorator, [value], {}, site)
        if contexts.makes_decorator(decorator):
            is_one = isinstance(decorator, Instance)
            return contexts.decorated(self, lambda: decorator if is_one else self.eval(node, frame), value)
        return value

    def _is_in_view(self, decorator: Value) -> bool:
        """Whether what a decorator does to what it is given is written in the program."""
        if isinstance(decorator, Instance):
            return self.class_attribute(decorator.cls, "__call__") is not MISSING
        return isinstance(decorator, (Function, Class, Method))

    def _exec_ClassDef(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.ClassDef)
        bases = [self.eval(b, frame) for b in node.bases]
        inner = Frame(frame, node.name if frame is self.globals else f"{frame.qualname}.{node.name}")
        inner.is_class = True
        self.block(node.body, inner)
        cls = Class(node, node.name, inner.qualname, bases, inner.names)
        cls.frozen = is_named_tuple(cls)
        for member in inner.names.values():
            for function in functions_in(member):
                function.owner = cls
        self._name_descriptors(cls, frame)
        value: Value = cls
        for decorator_node in reversed(node.decorator_list):
            decorator = self.eval(decorator_node, frame)
            kind = makes_record(decorator)
            if kind:
                make_record(cls, kind, decorator_node)
            elif self._is_in_view(decorator):
                value = self.call(decorator, [value], {}, Site(decorator_node, frame.qualname))
        self.defines(frame)
        if frame.top is self.globals:
            self.classes.append(cls)
        self.store_name(node.name, value, frame)
        return None

    def _name_descriptors(self, cls: Class, frame: Frame) -> None:
        for name, member in list(cls.names.items()):
            named = self.class_attribute(member.cls, "__set_name__") if isinstance(member, Instance) else MISSING
            if named is not MISSING:
                site = Site(cls.node, frame.qualname)
                self.call(self.bind(named, member, site), [cls, name], {}, site)

    def _exec_Import(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.Import)
        self.import_names(node, frame)
        return None

    def _exec_ImportFrom(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.ImportFrom)
        self.import_from(node, frame)
        return None

    def _exec_Global(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.Global)
        frame.declared.update(dict.fromkeys(node.names, "global"))
        return None

    def _exec_Nonlocal(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.Nonlocal)
        frame.declared.update(dict.fromkeys(node.names, "nonlocal"))
        return None

    # ---- branches

    def _test(self, node: ast.If, frame: Frame) -> bool:
        value = self.eval(node.test, frame)
        site = self.site(node.test, frame)
        known = self.known_truth(value, site)
        if known is not None:
            return known
        leaves = bool(node.body) and isinstance(node.body[-1], LEAVING) and not node.orelse
        return self.decided(value, site, not leaves, matters(node))

    def _exec_If(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.If)
        return self.block(node.body if self._test(node, frame) else node.orelse, frame)

    def _exec_Match(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.Match)
        subject = self.eval(node.subject, frame)
        for case in node.cases:
            site = self.site(case.pattern, frame)
            matched = matches(self, case.pattern, subject, frame, site)
            if case.guard is not None and self.truth(matched, site):
                matched = self.eval(case.guard, frame)
            if self.truth(matched, site, default=case is node.cases[0]):
                return self.block(case.body, frame)
        return None

    # ---- loops

    def passes(self, node: ast.For | ast.AsyncFor, frame: Frame) -> Iterator[Value]:
        """The items of a `for` loop, as many as are executed; each begins a pass."""
        items = self.items_of(self.eval(node.iter, frame), Site(node.iter, frame.qualname))
        limit = MAX_EXACT if items.name in ("range", "enumerate") else MAX_EXACT_ITEMS
        if items.name in ("items", "values"):
            limit = MAX_EXACT_PAIRS
        if items.listed:  # what is done to each part of a network, is done to all
            limit = UNROLLED if self.loops else MAX_LISTED
        exact = items.length is not None and items.length <= limit
        activation = self.activate_over(items, node, frame, exact)
        is_each = not exact and replaces_each(node)
        outer = self.loops
        try:
            for item in items.start(exact):
                if not exact and is_enough(activation, items, is_each=is_each):
                    self.run_out(items)
                    break
                self.enter_pass_with(item, activation, outer)
                yield item
                self.loops = outer
        finally:
            self.loops = outer
            self.finish(activation)

    def run_out(self, items: Iterable) -> None:
        """Go on with a generator of the file, of whose items no more are looked at, to its end, as the program does."""
        while items.inner is not None:
            items = items.inner
        frame = items.frame
        if frame is not None and not frame.ending and frame.function is not None and ends(frame.function.node):
            frame.ending = frame.cut = True
            for _ in zip(range(MAX_EXACT_ITEMS), items.start(False), strict=False):
                pass

    def activate_over(self, items: Iterable, node: ast.AST, frame: Frame, exact: bool) -> Activation:
        activation = self.activate(node, frame, exact)
        activation.length = items.length
        activation.bounded = items.length is not None and items.length <= BOUNDED and items.name != "loader"
        if activation.bounded and isinstance(node, ast.For) and names_loader(node.iter):
            activation.bounded = activation.short = False  # a few in an example stand for the many of a loader
            return activation
        unrolled = items.name == "range" and frame.outer is not None and (items.length or 0) <= UNROLLED
        activation.short = activation.bounded or items.short or unrolled
        activation.inner = self.in_module and activation.short
        return activation

    def enter_pass_with(self, item: Value, activation: Activation, outer: Loops) -> None:
        if has_module(item):  # the layers of a network, one after the other
            activation.bounded = activation.short = activation.over_modules = True
            activation.inner = self.in_module
        elif is_batch(item):  # of a loader, too
            activation.bounded = activation.short = False
        self.enter_pass(activation, outer)

    def finish(self, activation: Activation) -> None:
        """A loop has ended: note what was stored during it in what is older than it, and is still there."""
        there: dict[int, frozenset[int]] = {}
        for events in (self.stored, self.filled):
            for event in reversed(events):
                if event.clock < activation.started:
                    break
                if _is_there(event, there):
                    event.held.add(activation.number)

    def _exec_For(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, (ast.For, ast.AsyncFor))
        for item in self.passes(node, frame):
            self.assign(node.target, item, frame)
            signal = self.block(node.body, frame)
            if signal is BREAK:
                return None
            if signal is RETURN:
                return signal
            self.loops[-1].activation.skipped += signal is CONTINUE
        return self.block(node.orelse, frame)

    _exec_AsyncFor = _exec_For

    def _exec_While(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.While)
        activation = self.activate(node, frame, False)
        outer = self.loops
        limit = limit_of_length(node)
        is_far = limit is not None and _is_much(self.eval(limit, frame))
        try:
            while not is_cut_short(activation):
                self.enter_pass(activation, outer)
                value = self.eval(node.test, frame)
                if is_far or not self.truth(value, self.site(node.test, frame), relevant=False):
                    break
                signal = self.block(node.body, frame)
                if signal is BREAK:
                    return None
                if signal is RETURN:
                    return signal
                activation.skipped += signal is CONTINUE
        finally:
            self.loops = outer
            self.finish(activation)
        return self.block(node.orelse, frame)

    def _exec_Break(self, node: ast.stmt, frame: Frame) -> str | None:
        return BREAK

    def _exec_Continue(self, node: ast.stmt, frame: Frame) -> str | None:
        return CONTINUE

    # ---- exceptions and contexts

    def _exec_Try(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, TRY)
        signal: str | None = None
        try:
            self.expecting.append(expects_runtime_error(node))
            try:
                signal = self.block(node.body, frame)
            finally:
                self.expecting.pop()
            if signal is None:
                signal = self.block(node.orelse, frame)
        except Raised as error:
            handler = next((h for h in node.handlers if handles(h, error.name, error.value)), None)
            if handler is None:
                self.block(node.finalbody, frame)
                raise
            if handler.name is not None:
                known = isinstance(error.value, Instance)
                self.store_name(handler.name, error.value if known else self.opaque(handler.name), frame)
            signal = self.block(handler.body, frame)
        return self.block(node.finalbody, frame) or signal

    _exec_TryStar = _exec_Try

    def _exec_Raise(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.Raise)
        name = "Exception"
        value: Value = None
        if node.exc is not None:
            value = self.eval(node.exc, frame)
            target = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            name = (
                target.id
                if isinstance(target, ast.Name)
                else target.attr
                if isinstance(target, ast.Attribute)
                else name
            )
        raise Raised(name, value)

    def _exec_Assert(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.Assert)
        value = self.eval(node.test, frame)
        if isinstance(value, Sym) and self.oracle.settled(value.key) is None:
            self.oracle.learn(value.key, True)
        return None

    def _exec_With(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, (ast.With, ast.AsyncWith))
        return self._with(node, 0, frame)

    _exec_AsyncWith = _exec_With

    def _with(self, node: ast.With | ast.AsyncWith, at: int, frame: Frame) -> str | None:
        if at == len(node.items):
            return self.block(node.body, frame)
        item = node.items[at]
        context = self.eval(item.context_expr, frame)
        site = self.site(item.context_expr, frame)
        must_raise = expects_error(item.context_expr)
        expects = must_raise or suppresses_runtime_error(item.context_expr)
        known = len(self.differentiations)
        suppresses = isinstance(item.context_expr, ast.Call) and "suppress" in spelled(item.context_expr.func)
        leave = self.enter(context, item, frame, site)
        expecting = expects or (
            isinstance(context, Instance) and may_swallow(self.class_attribute(context.cls, "__exit__"))
        )
        if expecting:
            self.expecting.append(True)
        try:
            signal = self._with(node, at + 1, frame)
        except Raised as error:
            if leave(error) or expects or suppresses:
                return None
            raise
        finally:
            if expecting:
                self.expecting.pop()
        leave(None)
        if must_raise:
            take_back(self.differentiations[known:])
        return signal

    def enter(self, context: Value, item: ast.withitem, frame: Frame, site: Site) -> contexts.Leave:
        """Enter a context, and bind its name; returns what leaves it."""
        entered, leave = contexts.enter(self, context, site)
        if item.optional_vars is not None:
            self.assign(item.optional_vars, entered, frame)
        return leave

    def _exec_Return(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.Return)
        frame.returns = [None if node.value is None else self.eval(node.value, frame)]
        return RETURN

    # ---- functions

    def run_function(self, function: Function, frame: Frame) -> Value:
        if isinstance(function.node, ast.Lambda):
            return self.eval(function.node.body, frame)
        self.expecting.append(False) if not (self.expecting and self.expecting[-1]) else self.expecting.append(True)
        try:
            signal = self.block(function.node.body, frame)
        finally:
            self.expecting.pop()
        return frame.returns[-1] if signal is RETURN and frame.returns else None


def take_back(differentiations: list[Differentiation]) -> None:
    """What must raise has raised before these came to their end, as far as anybody knows: they have freed nothing."""
    for d in differentiations:
        for node in d.walked:
            if node.freed_by is d:
                node.freed_by = None


def dropped_calls(value: ast.expr) -> list[ast.expr]:
    """The calls whose results a statement drops: `h.detach()`, `h.detach(), c.detach()`, `[h.detach() for h in hs]`."""
    if isinstance(value, ast.Tuple):
        parts = [dropped_calls(v) for v in value.elts]
        return [call for part in parts for call in part] if all(parts) else []
    if isinstance(value, ast.ListComp):
        return dropped_calls(value.elt) if len(value.generators) == 1 and not value.generators[0].ifs else []
    is_detach = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "detach"
    return [value] if is_detach else []


def _is_there(event: Stored, there: dict[int, frozenset[int]]) -> bool:
    """Whether what was stored is still in its container, and that one in what holds it; `there` is looked up once."""
    at: Stored | None = event
    while at is not None:
        held = there.get(id(at.container))
        if held is None:
            held = there[id(at.container)] = frozenset(map(id, contents(at.container)))
        if id(at.value) not in held:
            return False
        at = at.inner
    return True


def is_enough(activation: Activation, items: Iterable, *, is_each: bool) -> bool:
    """Whether no more items are looked at, of which not all are known, or too many; see `replaces_each`."""
    if is_each:
        return activation.passes >= MOST
    return activation.passes >= MAX_EXACT_ITEMS if items.whole else is_cut_short(activation)


def is_cut_short(activation: Activation) -> bool:
    """Whether a loop has had its passes: with more, where what two of them have made takes long to come to its end."""
    passes = activation.passes - min(activation.skipped, MAX_SKIPPED)
    if passes < MAX_PASSES:
        return False
    delay = delay_of(activation.node) if isinstance(activation.node, (ast.For, ast.AsyncFor, ast.While)) else 1
    return passes >= MAX_PASSES + min(delay - 1, MAX_DELAY)


def has_module(item: Value) -> bool:
    """A module, alone or with its number or name, or with others: `enumerate(zip(convolutions, norms))`."""
    if isinstance(item, Sequence):
        return item.kind == "tuple" and any(map(has_module, item.items))
    return is_module(item) or (isinstance(item, Opaque) and WEIGHTS in item.attrs)


def is_batch(item: Value) -> bool:
    """Inputs and targets: a tuple of tensors without history, or a dict of them, and of names and numbers."""
    if isinstance(item, Mapping):
        parts = [part for part in contents(item) if not (isinstance(part, str) or is_number(part))]
    else:
        parts = item.items if isinstance(item, Sequence) and item.kind == "tuple" else []
    return len(parts) > 1 and all(isinstance(part, Tensor) and part.node is None for part in parts)


def repackages(node: ast.Assign) -> bool:
    """`h = f(h)` with an `f` from elsewhere: as likely as not it detaches, as `repackage_hidden` does."""
    call = node.value
    return (
        isinstance(call, ast.Call)
        and len(call.args) == 1
        and not call.keywords
        and len(node.targets) == 1
        and spelled(call.args[0]) == spelled(node.targets[0])
    )


def says_inference(name: str) -> bool:
    """Whether a decorator from elsewhere calls itself one of inference, as `smart_inference_mode` does."""
    return "no_grad" in name or "inference_mode" in name


def functions_in(value: Value) -> Iterator[Function]:
    """The functions behind a class attribute."""
    if isinstance(value, Function):
        yield value
    elif isinstance(value, Property):
        yield from functions_in(value.getter)
        yield from functions_in(value.setter)
    elif isinstance(value, (StaticMethod, ClassMethod)):
        yield from functions_in(value.function)
    elif isinstance(value, Native) and isinstance(value.this, Function):
        yield value.this


def limit_of_length(node: ast.While) -> ast.expr | None:
    """The capacity in `while len(memory) > capacity: memory.popleft()`."""
    test = node.test
    if not (isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Gt, ast.GtE))):
        return None
    limit = test.comparators[0]
    of_length = isinstance(test.left, ast.Call) and spelled(test.left.func) == "len"
    drops = all(
        isinstance(statement, ast.Delete)
        or (
            isinstance(statement, (ast.Expr, ast.Assign))
            and isinstance(statement.value, ast.Call)
            and isinstance(statement.value.func, ast.Attribute)
            and statement.value.func.attr in ("pop", "popleft", "popitem")
        )
        for statement in node.body
    )
    return limit if of_length and drops and isinstance(limit, (ast.Name, ast.Attribute, ast.Constant)) else None


def _is_much(limit: Value) -> bool:
    """Whether the few passes that are executed are far from filling something, as they are for `deque(maxlen=...)`."""
    return isinstance(limit, int) and limit > UNROLLED
