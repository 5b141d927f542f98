"""Execution of blocks, of what chooses and leaves them, and of the bodies of functions."""

from __future__ import annotations

import ast
from collections.abc import Callable

from autodetach.machine import contexts
from autodetach.machine.bounded import note_bound
from autodetach.machine.events import DroppedDetach
from autodetach.machine.exceptions import (
    TRY,
    expects_error,
    expects_runtime_error,
    handler_for,
    suppresses_runtime_error,
)
from autodetach.machine.expressions import handlers
from autodetach.machine.graph import Differentiation, Site
from autodetach.machine.loops import RETURN, Looping, overfull
from autodetach.machine.opened import Leave
from autodetach.machine.oracle import Policy
from autodetach.machine.program_values import Frame, Function, Instance
from autodetach.machine.quiet import matters
from autodetach.machine.searches import must_find
from autodetach.machine.settings import may_ask
from autodetach.machine.spelling import spelled
from autodetach.machine.state import OutOfFuel, Raised
from autodetach.machine.stop_flags import ends_loop, ends_program
from autodetach.machine.swallowing import failing, taken_by, taking
from autodetach.machine.told_of_values import is_constant, truth_key
from autodetach.machine.values import Opaque, Sequence, Sym, Value
from autodetach.node_types import JUMPS


class Statements(Looping):
    """All statements, and the bodies of functions."""

    def __init__(self, policy: Policy, fuel: int) -> None:
        super().__init__(policy, fuel)
        self._exec: dict[type, Callable[[ast.stmt, Frame], str | None]] = {
            kind: getattr(self, name) for kind, name in handlers(type(self), "_exec_")
        }
        self.executed: set[ast.stmt] = set()

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
        self._forget_detached()
        self.eval(value, frame)
        if self.detached_from is not None and self.detached_at in dropped_calls(value):
            self.facts.append(DroppedDetach(Site(value, frame.qualname), node, self.detached_from))
        return None

    def _forget_detached(self) -> None:
        self.detached_at = self.detached_from = None

    def decided_by_test(self, node: ast.If, frame: Frame) -> bool:
        is_so = self._outcome(node, frame)
        self.ways.append((node, is_so))
        return is_so

    def _outcome(self, node: ast.If, frame: Frame) -> bool:
        value = self.eval(node.test, frame)
        site = self.site(node.test, frame)
        known = self.known_truth(value, site)
        if known is not None and self.settings and is_constant(value) and may_ask(node.test):
            return self._by_settings(node, frame, known)
        if known is not None:
            if isinstance(value, (Sym, Opaque)):
                self.oracle.note_settled(node, truth_key(value))
            return known
        return self._decided(node, value, frame)

    def _decided(self, node: ast.If, value: Value, frame: Frame) -> bool:
        leaves = bool(node.body) and isinstance(node.body[-1], JUMPS) and not node.orelse
        if leaves and isinstance(node.body[-1], ast.Return) and self.loops:
            leaves = not must_find(self.loops[-1].activation.node, frame)
        if self.loops and self.loops[-1].activation.frame is frame:
            leaves = leaves or ends_loop(node.body, self.loops[-1].activation.node)
        asks_for_flag = isinstance(value, (Sym, Opaque)) and self.oracle.asks_for_flag(truth_key(value))
        ends = asks_for_flag and ends_program(node.body)
        is_so = self.decided(value, self.site(node.test, frame), not (leaves or ends), matters(node))
        if ends or (asks_for_flag and ends_program(node.orelse)):
            decision = self.oracle.decisions.get(self.tests.key(node.test, frame.qualname)[0])
            if decision is not None:
                decision.unset = None
        return is_so

    def _by_settings(self, node: ast.If, frame: Frame, by_default: bool) -> bool:
        """How a test goes whose value is known, but where settings may be others than they are by default."""
        self.asking = asked = set[str]()
        try:
            value = self.eval(node.test, frame)
        finally:
            self.asking = None
        if not asked or self.known_truth(value, self.site(node.test, frame)) is not None:
            return by_default
        is_so = self._decided(node, value, frame)
        decision = self.oracle.decisions.get(self.tests.key(node.test, frame.qualname)[0])
        if decision is not None:
            decision.settings |= asked
            self.setting_asked = decision.key
        return is_so

    def _exec_If(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.If)
        is_so = self.decided_by_test(node, frame)
        memory = overfull(node)
        kept = None if memory is None else self.eval(memory, frame)
        if isinstance(kept, Sequence) and not kept.exact and is_so and len(kept.items) == 1:
            self.executed.update(node.body)  # the one that stands for all is left
            return None
        note_bound(self, node, frame, is_so=is_so)
        return self.block(node.body if is_so else node.orelse, frame)

    def _exec_Match(self, node: ast.stmt, frame: Frame) -> str | None:
        from autodetach.machine.patterns import matches

        assert isinstance(node, ast.Match)
        subject = self.eval(node.subject, frame)
        for case in node.cases:
            self.spend()  # as for an `elif`
            site = self.site(case.pattern, frame)
            matched = matches(self, case.pattern, subject, frame, site)
            if case.guard is not None and self.truth(matched, site):
                matched = self.eval(case.guard, frame)
            if self.truth(matched, site, default=case is node.cases[0]):
                self.ways.append((case, True))
                return self.block(case.body, frame)
        return None

    def _exec_Try(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, TRY)
        signal: str | None = None
        try:
            self.expecting.append(expects_runtime_error(node, frame))
            try:
                signal = self.block(node.body, frame)
            finally:
                self.expecting.pop()
            if signal is None:
                signal = self.block(node.orelse, frame)
        except Raised as error:
            handler = handler_for(node, error.name, error.value, frame)
            if handler is None:
                signal = self.block(node.finalbody, frame)
                if signal is not None:
                    return signal
                raise
            if handler.name is not None:
                known = isinstance(error.value, Instance)
                self.store_name(handler.name, error.value if known else self.opaque(handler.name), frame)
            self.ways.append((handler, True))
            signal = self.block(handler.body, frame)
        return self.block(node.finalbody, frame) or signal

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
        if isinstance(value, Sym) or (isinstance(value, Opaque) and truth_key(value) in self.oracle.unset):
            key = truth_key(value)
            if self.oracle.settled(key) is None:
                self.oracle.learn(key, True)
        return None

    def _exec_With(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, (ast.With, ast.AsyncWith))
        return self._with(node, 0, frame)

    def _exec_AsyncWith(self, node: ast.stmt, frame: Frame) -> str | None:
        return self._exec_With(node, frame)

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
        if expects:
            self.expecting.append(True)
        try:
            with taking(self, taken_by(self, context)):
                signal = self._with(node, at + 1, frame)
        except Raised as error:
            if leave(error) or expects or suppresses:
                return None
            raise
        finally:
            if expects:
                self.expecting.pop()
        leave(None)
        if must_raise:
            take_back(self.differentiations[known:])
        return signal

    def open_context(self, context: Value, site: Site) -> tuple[Value, Leave]:
        return contexts.enter(self, context, site)

    def enter(self, context: Value, item: ast.withitem, frame: Frame, site: Site) -> Leave:
        """Enter a context, and bind its name; returns what leaves it."""
        entered, leave = contexts.enter(self, context, site)
        if item.optional_vars is not None:
            self.assign(item.optional_vars, entered, frame)
        return leave

    def _exec_Return(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.Return)
        frame.returns = [None if node.value is None else self.eval(node.value, frame)]
        return RETURN

    def run_function(self, function: Function, frame: Frame) -> Value:
        if isinstance(function.node, ast.Lambda):
            self.chosen.add(function.node.body)
            return self.eval(function.node.body, frame)
        made_to_fail = failing(function.node)
        try:
            with taking(self, made_to_fail):
                signal = self.block(function.node.body, frame)
        except Raised as error:
            if made_to_fail is not None and made_to_fail(error.name):
                return None
            raise
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
