"""Functions that PyTorch calls where no run sees it: those of schedulers, averages, samplers, and of a state.

They are not run. What they read is taken for what must stay a tensor: a rate or a weight that is made of it, or which
example comes next, would be another one if it were a number, and a method that only tensors have would not be there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autodetach.kept import kept
from autodetach.machine.children import walk
from autodetach.machine.classes import code_of, declared_by
from autodetach.machine.closures import free_names
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.graph_reads import LOGGING
from autodetach.machine.module_tree import modules_of
from autodetach.machine.number_readers import wanted
from autodetach.machine.program_values import (
    Class,
    ClassMethod,
    Frame,
    Function,
    Instance,
    Method,
    Namespace,
    Native,
    Property,
)
from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.values import Sequence, Value
from autodetach.node_types import CallableNode

OF_SCHEDULERS = ("get_lr", "_get_closed_form_lr")
OF_SAMPLERS = ("__iter__", "__len__")
OF_SHOWN = ("extra_repr",)
OF_STATES = ("get_extra_state", "set_extra_state", "_save_to_state_dict", "_load_from_state_dict")
OF_CHILDREN = ("state_dict",)
"""Methods that a class in view has for PyTorch, which calls them from its own; these last ones of children alone."""
BOUND = "#bound"
"""Of what `functools.partial` makes: the arguments that it has bound."""
MAX_FOLLOWED = 16
"""So many functions are looked at that one of these calls."""
CONVERTERS = frozenset({"abs", "float", "max", "min", "round"})
Reading = tuple[str, str]


def register(m: Core, values: Iterable[Value], site: Site) -> None:
    """PyTorch is given some values: functions among them, or in lists of them, may be called from now on."""
    for value in values:
        given = value.items if isinstance(value, Sequence) else [value]
        m.called_unseen += [(function, site) for function in given if code_of(function) is not None]


def register_samplers(m: Core, values: Iterable[Value], site: Site) -> None:
    """Some values are handed to what loads data: it asks samplers, and data sets that are gone through in order."""
    for value in values:
        for this in value.items if isinstance(value, Sequence) else [value]:
            register_methods(m, this, OF_SAMPLERS, site)


def register_methods(m: Core, this: Value, names: Iterable[str], site: Site) -> None:
    """Have those of some methods be called that the class of an object defines in view."""
    register(m, _own_methods(this, names), site)


def _own_methods(this: Value, names: Iterable[str]) -> list[Method]:
    if not isinstance(this, Instance) or not isinstance(this.cls, Class):
        return []
    found = [next(declared_by(this.cls, name), None) for name in names]
    return [Method(value, this) for value in found if isinstance(value, Function)]


def ask_for_state(m: Core, this: Instance, site: Site) -> None:
    """The state of a module is read or loaded: modules below it have methods of their own for that."""
    for module in modules_of(this):
        names = OF_STATES if module is this else (*OF_STATES, *OF_CHILDREN)
        for method in _own_methods(module, names):
            wanted(m, _read_by(method), site, "state_dict")


def ask(m: Core) -> None:
    """Note of the numbers that functions read by now that tensors may have been meant."""
    for function, site in m.called_unseen:
        wanted(m, _read_by(function), site, "called")


def _read_by(function: Value) -> Iterator[Value]:
    """What a function reads by names and attributes, and the functions in view that it calls."""
    waiting, seen = [function], set[object]()
    while waiting and len(seen) < MAX_FOLLOWED:
        value = waiting.pop()
        code, this = code_of(value), _receiver(value)
        if code is None or (code.node, id(this)) in seen:
            continue
        seen.add((code.node, id(this)))
        yield from _bound_in(value)
        yield from (*code.defaults, *code.kwdefaults)
        own = next((arg.arg for arg in code.node.args.args), "")
        for name, attribute in _readings(code.node):
            base = this if name == own else _bound(code.frame, name)
            found = _attribute(base, attribute) if attribute else base
            if code_of(found) is not None and not isinstance(found, Instance):
                waiting.append(found)
            else:
                yield found


def _receiver(value: Value) -> Value:
    if isinstance(value, Method):
        return value.this
    return value if isinstance(value, Instance) else _receiver(value.this) if isinstance(value, Native) else None


def _bound_in(value: Value) -> Iterator[Value]:
    if isinstance(value, Native) and BOUND in value.attrs:
        yield value.attrs[BOUND]


def _bound(frame: Frame | None, name: str) -> Value:
    """What a name is bound to around a function."""
    while frame is not None:
        if name in frame.names and not frame.is_class:
            return frame.names[name]
        frame = frame.outer
    return None


def _attribute(base: Value, name: str) -> Value:
    """An attribute as it is held; a method, or what computes it. Of anything else than objects and files, the whole."""
    if isinstance(base, Namespace):
        return base.frame.names.get(name)
    if not isinstance(base, Instance):
        return base
    if name in base.attrs:
        return base.attrs[name]
    raw = next(declared_by(base.cls, name), None) if isinstance(base.cls, Class) else None
    if isinstance(raw, Property):
        raw = raw.getter
    if isinstance(raw, (Function, Native)):
        return Method(raw, base)
    return raw.function if isinstance(raw, ClassMethod) else raw


@kept
def _readings(function: CallableNode) -> tuple[Reading, ...]:
    """The names that a function reads from around it, and its first argument, each with the attribute, if one is read.

    What is only shown, in a text or by a logger, may be a number, and a list of numbers is as long as one of tensors.
    """
    names = {*free_names(function), *(arg.arg for arg in function.args.args[:1])}
    shown = {id(each) for n in walk(function) for part in _shown_by(n) for each in _computed_of(part)}
    shown |= {id(n.args[0]) for n in walk(function) if isinstance(n, ast.Call) and n.args and spelled(n.func) == "len"}
    bases = {id(n.value) for n in walk(function) if isinstance(n, ast.Attribute)}
    found: dict[Reading, None] = {}
    for n in walk(function):
        if id(n) in shown or not isinstance(getattr(n, "ctx", None), ast.Load):
            continue
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id in names:
            found[n.value.id, n.attr] = None
        elif isinstance(n, ast.Name) and n.id in names and id(n) not in bases:
            found[n.id, ""] = None
    return tuple(found)


def _shown_by(n: ast.AST) -> list[ast.expr]:
    """What is put into a text, or printed or logged, and nothing asks for what that returns."""
    if isinstance(n, ast.FormattedValue):
        return [n.value]
    call = n.value if isinstance(n, ast.Expr) else None
    if isinstance(call, ast.Call) and (spelled(call.func) == "print" or _logs(call.func)):
        return [*call.args, *(keyword.value for keyword in call.keywords)]
    return []


def _logs(callee: ast.expr) -> bool:
    """`logger.info`."""
    return isinstance(callee, ast.Attribute) and callee.attr in LOGGING and "log" in last_word(callee.value).lower()


def _computed_of(value: ast.expr) -> Iterator[ast.expr]:
    """The names and attributes that a value is computed of by operators, and by what takes any number."""
    if isinstance(value, ast.BinOp):
        yield from _computed_of(value.left)
        if isinstance(value.op, (ast.Add, ast.Sub, ast.Mult)):  # by zero, a number would raise
            yield from _computed_of(value.right)
    elif isinstance(value, ast.UnaryOp):
        yield from _computed_of(value.operand)
    elif isinstance(value, ast.Call) and spelled(value.func) in CONVERTERS and not value.keywords:
        for each in value.args:
            yield from _computed_of(each)
    else:
        yield value
