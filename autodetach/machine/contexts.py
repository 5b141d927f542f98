"""The contexts of `with`: what is entered, what that changes, and what leaving it changes back."""

from __future__ import annotations

from collections.abc import Callable

from autodetach.machine.classes import library_bases
from autodetach.machine.expressions import Expressions
from autodetach.machine.grad_modes import grad_mode_of
from autodetach.machine.graph import Site
from autodetach.machine.opened import UNWIND, Leave, unwind
from autodetach.machine.parametrizations import CACHED
from autodetach.machine.program_values import External, Instance, Iterable, Native
from autodetach.machine.state import MISSING, Raised
from autodetach.machine.swallowing import CAUGHT, Takes, taken_by, taking
from autodetach.machine.threads import GROUPS
from autodetach.machine.values import GradMode, Opaque, Value

MANAGER = "#context"
"""Marks the functions that `@contextmanager` makes contexts of."""
KEEP_THE_MODE = frozenset({"autocast", "open", "tqdm", "trange"})
"""Contexts that have nothing to do with whether autograd records."""


def enter(m: Expressions, context: Value, site: Site) -> tuple[Value, Leave]:
    """Enter a context: what its name is bound to, and what leaves it."""
    if isinstance(context, External):
        mode = grad_mode_of(context.path)
        return context, _nothing_to_leave if mode is None else _switched(m, GradMode(mode), site)
    if isinstance(context, GradMode):
        return context, _switched(m, context, site)
    if isinstance(context, Instance) and UNWIND in context.attrs:
        return context, _stacked(m, context, site)
    if isinstance(context, Instance) and isinstance(context.cls, External) and context.cls.path == CACHED:
        return context, _keeping_parametrized(m)
    if isinstance(context, Iterable) and context.once:
        return _generated(context, taken_by(m, context))
    if isinstance(context, Instance):
        return _of_instance(m, context, site)
    if isinstance(context, Opaque) and CAUGHT in context.attrs:
        return context, _suppressing(taken_by(m, context))
    if isinstance(context, Opaque) and context.name in GROUPS:
        return context, _waiting(m)
    if isinstance(context, Opaque) and context.name not in KEEP_THE_MODE:
        return context, _unclear(m)
    return context, _nothing_to_leave


def makes_decorator(context: Value) -> bool:
    """Whether a context is a decorator, too: that of a `@contextmanager`, or one that derives from the library's."""
    if isinstance(context, Instance):
        return any(base.endswith("ContextDecorator") or base == CACHED for base in library_bases(context.cls))
    function = context.frame.function if isinstance(context, Iterable) and context.frame is not None else None
    return function is not None and MANAGER in function.attrs


def decorated(m: Expressions, make: Callable[[], Value], function: Value) -> Native:
    """A function that runs in a context, which `make` gives for each call."""

    def call(args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        context = make()
        _, leave = enter(m, context, site)
        try:
            with taking(m, taken_by(m, context)):
                result = m.call(function, args, kwargs, site)
        except Raised as error:
            if leave(error):
                return None
            raise
        leave(None)
        return result

    return Native("decorated", call, function)


def _nothing_to_leave(error: Raised | None) -> bool:
    return False


def _suppressing(takes_it: Takes | None) -> Leave:
    return lambda error: error is not None and takes_it is not None and takes_it(error.name)


def _switched(m: Expressions, context: GradMode, site: Site) -> Leave:
    before = m.grad_enabled
    if context.previous:  # `set_grad_enabled` has switched when it was called
        before = bool(context.previous.pop())
    enabled = context.enabled
    if isinstance(enabled, bool):
        m.grad_enabled = enabled
        return _switched_back(m, before)
    m.grad_enabled = m.truth(enabled, site)
    return _with_unclear_history(m, _switched_back(m, before))


def _switched_back(m: Expressions, before: bool) -> Leave:
    def leave(error: Raised | None) -> bool:
        m.grad_enabled = before
        return False

    return leave


def _waiting(m: Expressions) -> Leave:
    """A pool, or a group of tasks, is left when all that it was given is over."""
    known = len(m.tasks.all)

    def leave(error: Raised | None) -> bool:
        m.tasks.end(known)
        return False

    return leave


def _unclear(m: Expressions) -> Leave:
    """What is not in view may turn gradients off until it is left."""
    m.unclear += 1

    def leave(error: Raised | None) -> bool:
        m.unclear -= 1
        return False

    return _with_unclear_history(m, leave)


def _with_unclear_history(m: Expressions, leave: Leave) -> Leave:
    """Leave a context so that it is known that what was made there may have no history."""
    known = len(m.nodes)

    def leave_and_note(error: Raised | None) -> bool:
        m.made_unclear.update(m.nodes[known:])
        return leave(error)

    return leave_and_note


def _keeping_parametrized(m: Expressions) -> Leave:
    """`parametrize.cached()`: what is kept is forgotten where the outermost of these is left."""
    before = m.parametrized
    known = len(m.differentiations)

    def leave(error: Raised | None) -> bool:
        m.parametrized = before
        m.while_cached.update(m.differentiations[known:])
        return False

    if before is None:
        m.parametrized, m.cached_since = {}, m.loops
    return leave


def _stacked(m: Expressions, stack: Instance, site: Site) -> Leave:
    """`ExitStack`: what is entered or called back by it is left in reverse where the stack is."""
    before = m.grad_enabled

    def leave(error: Raised | None) -> bool:
        swallows = unwind(stack, error, site)
        m.grad_enabled = before  # what it has entered otherwise may have switched
        return swallows

    return leave


def _generated(context: Iterable, takes_it: Takes | None) -> tuple[Value, Leave]:
    """`@contextmanager`: the generator runs up to its `yield`, and goes on from there."""
    running = context.start(False)

    def leave(error: Raised | None) -> bool:
        next(running, None)
        return error is not None and takes_it is not None and takes_it(error.name)

    return next(running, None), leave


def _of_instance(m: Expressions, context: Instance, site: Site) -> tuple[Value, Leave]:
    enter_ = m.class_attribute(context.cls, "__enter__")
    exit_ = m.class_attribute(context.cls, "__exit__")
    entered = context if enter_ is MISSING else m.call(m.bind(enter_, context, site), [], {}, site)

    def leave(error: Raised | None) -> bool:
        of: list[Value] = [None, None, None]
        if error is not None:
            value = m.opaque("error") if error.value is None else error.value
            of = [External("builtins." + error.name), value, m.opaque("traceback")]
        return m.known_truth(m.call(m.bind(exit_, context, site), of, {}, site), site) is True

    return entered, _nothing_to_leave if exit_ is MISSING else leave
