"""The truth of a value, and which way a test goes whose truth nobody knows."""

from __future__ import annotations

from autodetach.machine.activations import Pass
from autodetach.machine.graph import Site
from autodetach.machine.last_pass import asks_for_last, ends_with, goes_on_after, may_be_last, once_in
from autodetach.machine.number_readers import sum_in
from autodetach.machine.objects import Objects
from autodetach.machine.oracle import Policy
from autodetach.machine.passes import last_of, passes_of
from autodetach.machine.passes_by_length import pass_by_length
from autodetach.machine.program_values import Function, Instance
from autodetach.machine.remainder_tests import test_of_remainder
from autodetach.machine.spans import truth_of
from autodetach.machine.state import MAX_RECURSION, MISSING
from autodetach.machine.steering import tested
from autodetach.machine.told_of_values import truth_key
from autodetach.machine.values import CONSTANT_TYPES, Mapping, Opaque, Sequence, Sym, Tensor, Value


class Decisions(Objects):
    """Objects plus decisions."""

    def __init__(self, policy: Policy, fuel: int) -> None:
        super().__init__(policy, fuel)
        self._met: set[object] = set()  # what is true in one pass only, and has been

    def known_truth(self, value: Value, site: Site) -> bool | None:
        """The truth of a value where it is known, or follows from a test that was decided before."""
        kind = type(value)
        if kind in CONSTANT_TYPES:
            return bool(value)
        if kind is Sym:
            if value.lo is not None and value.lo > 0:
                return True
            truth = truth_of(value)
            if truth is not None:
                return truth
            if value.tags:
                tested(self, value, site)
            return self.oracle.settled(value.key)
        if kind is Opaque:
            return self.oracle.settled(("truth", value.number))
        if isinstance(value, Sequence):
            if value.filled is not None:
                return self.known_truth(value.filled, site)
            return bool(value.items) if value.exact else True if value.items else None
        if isinstance(value, Mapping):
            return bool(value.items) if value.exact else True if value.items else None
        if isinstance(value, Instance):
            for name in ("__bool__", "__len__"):
                raw = self.class_attribute(value.cls, name)
                if raw is not MISSING:
                    return self.known_truth(self.call(self.bind(raw, value, site), [], {}, site), site)
            return True
        if kind is Tensor:
            number = sum_in(value)
            if number is not None:
                tested(self, number, site)
            return None
        return True

    def truth(self, value: Value, site: Site, default: bool = True, relevant: bool = True) -> bool:
        known = self.known_truth(value, site)
        return known if known is not None else self.decided(value, site, default, relevant)

    def decided(self, value: Value, site: Site, default: bool, relevant: bool) -> bool:
        """Which way a test goes whose truth is not known."""
        if isinstance(value, (Sym, Opaque)):
            key: object = truth_key(value)
        elif isinstance(value, Sequence) and value.filled is not None:
            key = value.filled.key
        else:
            key = ("tensor", self.serial())
        if isinstance(key, tuple) and key and key[0] == "is":
            default = False  # what an unknown callable returned is rarely None
        elif isinstance(key, tuple) and key and key[0] == "not" and isinstance(key[1], tuple) and key[1][:1] == ("is",):
            default = True
        test, text = self.tests.key(site.node, site.scope)
        only, is_of_last = self._only_pass(key, site), False
        if only is not None:
            if (site.node, only.activation) in self._met:
                return False
            # It is rarely the first: those behind it count, too.
            default = only.index >= passes_of(only.activation, self.nodes) - 1
            is_of_last = asks_for_last(site.node) or self._ending(site) is not None
            if is_of_last and only.index < last_of(only.activation, self.nodes):
                return False
        followed = goes_on_after(site.node, self.loops) or self._by_length(site, of_last=False)
        if followed is not None and not may_be_last(followed, passes_of(followed.activation, self.nodes)):
            return True
        ends = self._end_of_recursion(test)
        if ends is not None and self.oracle.settled(key) is None:
            self.oracle.learn(key, ends)
        turn = self.loops[-1].index if self.loops else None
        told = test_of_remainder(self, test, site)
        follows = told.follows(self) if told is not None else None
        if follows is not None and self.oracle.settled(key) is None:
            self.oracle.learn(key, follows)
        outcome = self.oracle.decide(key, test, site.line, text, default, relevant, turn)
        if told is not None:
            told.note(outcome)
        if self.trail:
            self.trail[-1][1].went[test] = outcome
        if only is not None and outcome:
            self._met.add((site.node, only.activation))
            only.activation.ended |= is_of_last
        return outcome

    def _end_of_recursion(self, test: object) -> bool | None:
        """How a test goes in the last call of a function by itself that is executed, if the same led there each time.

        Functions that call themselves end: on a path on which none of `isinstance(h, Tensor)` is true, they would not.
        """
        function = self.trail[-1][1].function if self.trail else None
        calls = self.active.get(function.node, []) if function is not None else []
        if len(calls) < MAX_RECURSION:
            return None
        went = {frame.went.get(test) for frame, _ in calls[: MAX_RECURSION - 1]}
        return not went.pop() if len(went) == 1 and None not in went else None

    def _only_pass(self, key: object, site: Site) -> Pass | None:
        """`step == 7`: a counter has a value in one pass of its loop only."""
        if not self.loops:
            return None
        ending = self._ending(site)
        if ending is not None:
            return ending
        current = once_in(site.node, self.loops)
        if current is not None:
            return current
        is_equal = isinstance(key, tuple) and len(key) == 3 and key[0] == "=="
        of_number = is_equal and isinstance(key, tuple) and isinstance(key[1], tuple) and key[1][:1] == ("fresh",)
        return self.loops[-1] if of_number else None

    def _ending(self, site: Site) -> Pass | None:
        """The pass of whose loop a test asks whether it is the last one."""
        return ends_with(site.node, self.loops) or self._by_length(site, of_last=True)

    def _by_length(self, site: Site, *, of_last: bool) -> Pass | None:
        """The pass of whose loop a test asks, by how many it has, whether it is the last one, or is not."""
        frame = self.trail[-1][1] if self.trail and self.loops else None
        if frame is None:
            return None
        module = frame.top.module
        scope = frame.function.node if isinstance(frame.function, Function) else module.tree if module else None
        return pass_by_length(site.node, self.loops, scope, of_last=of_last) if scope is not None else None
