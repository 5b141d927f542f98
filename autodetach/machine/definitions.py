"""Execution of what defines functions and classes, with their decorators, and of what names come from elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine import contexts, memos
from autodetach.machine.assignments import Assignments
from autodetach.machine.classes import decorate
from autodetach.machine.enumerations import make_members
from autodetach.machine.grad_modes import grad_mode_of
from autodetach.machine.graph import Site
from autodetach.machine.oracle import Policy
from autodetach.machine.program_values import (
    Class,
    ClassMethod,
    External,
    Frame,
    Function,
    Instance,
    Method,
    Native,
    Property,
    StaticMethod,
)
from autodetach.machine.records import is_named_tuple, make_record, makes_record
from autodetach.machine.state import MISSING
from autodetach.machine.values import GradMode, Opaque, Value
from autodetach.node_types import FUNCTIONS

CALLED_WITH_FUNCTION = frozenset({"functools.singledispatch", "functools.singledispatchmethod", "torch.jit.script"})
"""Decorators that are called, and give something else than the function or mark it."""


class Definitions(Assignments):
    """Assignments plus definitions."""

    def __init__(self, policy: Policy, fuel: int) -> None:
        super().__init__(policy, fuel)
        self.functions: list[Function] = []

    def _exec_FunctionDef(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, FUNCTIONS)
        bare = self.make_function(node, frame, node.name)
        value: Value = bare
        for decorator in reversed(node.decorator_list):
            value = self._decorated(self.eval(decorator, frame), decorator, value, frame)
        if not frame.is_class and frame.top is self.globals:
            # The decorated function, if it is one, is what others call.
            self.functions.append(value if isinstance(value, Function) and value.node is node else bare)
        self.store_name(node.name, value, frame)
        return None

    def _exec_AsyncFunctionDef(self, node: ast.stmt, frame: Frame) -> str | None:
        return self._exec_FunctionDef(node, frame)

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
                return memos.memoised(self, value, None if name == "cache" else memos.USUAL_SIZE)
            if decorator.path in CALLED_WITH_FUNCTION:
                return self.call(decorator, [value], {}, site)
            return value
        if isinstance(decorator, Native) and decorator.name in ("setter", "deleter"):
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
        cls.meta = self._metaclass(node, bases, frame)
        cls.frozen = is_named_tuple(cls)
        self.asks_for_all |= "__getattribute__" in inner.names
        for member in inner.names.values():
            for function in functions_in(member):
                function.owner = cls
        make_members(self, cls)
        self._name_descriptors(cls, frame)
        self._tell_base(cls, frame)
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

    def _metaclass(self, node: ast.ClassDef, bases: list[Value], frame: Frame) -> Class | None:
        given = (self.eval(k.value, frame) for k in node.keywords if k.arg == "metaclass")
        inherited = (base.meta for base in bases if isinstance(base, Class))
        return next((one for one in (*given, *inherited) if isinstance(one, Class)), None)

    def _name_descriptors(self, cls: Class, frame: Frame) -> None:
        for name, member in list(cls.names.items()):
            named = self.class_attribute(member.cls, "__set_name__") if isinstance(member, Instance) else MISSING
            if named is not MISSING:
                site = Site(cls.node, frame.qualname)
                self.call(self.bind(named, member, site), [cls, name], {}, site)

    def _tell_base(self, cls: Class, frame: Frame) -> None:
        """What a base in view does with each class that is derived from it."""
        told = self.class_attribute(cls, "__init_subclass__", after=cls)
        function = told.function if isinstance(told, ClassMethod) else told
        if isinstance(function, Function) and isinstance(cls.node, ast.ClassDef):
            keywords = [k for k in cls.node.keywords if k.arg is not None and k.arg != "metaclass"]
            given = {k.arg or "": self.eval(k.value, frame) for k in keywords}
            self.call(function, [cls], given, Site(cls.node, frame.qualname))

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
        yield from functions_in(value.deleter)
    elif isinstance(value, (StaticMethod, ClassMethod)):
        yield from functions_in(value.function)
    elif isinstance(value, Native) and isinstance(value.this, Function):
        yield value.this
