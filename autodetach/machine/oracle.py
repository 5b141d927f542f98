"""Which way a test goes whose outcome is not known: one policy a path, the same test the same way."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Hashable, Iterable, MutableMapping
from typing import Any

from autodetach.kept import kept
from autodetach.machine.alternation import Alternation
from autodetach.machine.spelling import spelled
from autodetach.named_tuples import NamedTuple

ORDER: dict[str, Callable[[Any, Any], bool]] = {"==": operator.eq, "Lt": operator.lt, "LtE": operator.le}
"""The comparisons by their words in keys."""
TestKey = tuple[str, str, int]
"""A test, told apart independent of its line: function, text, and how many of the same stand before it."""

COUNTED = (("len",), ("Mod",))
"""How the key of a value begins that is a length, or a remainder."""
FIXED = ("c", "i", "x")
"""How the key of what differs from all others begins: of a constant, an object, or something imported."""
Setting = tuple[str, ...]
"""An entry that may be written over: the name of the object, those of the entries that lead there, its own."""
SETTING = "setting"
"""How the key of the value of one begins, see `settings`."""
DEEP = 6
"""Levels of a key that are looked at."""


class Policy(NamedTuple):
    """A path: for each test that departs from its default, the way it goes.

    "other": in every pass; "once": in all but the second; "later": only after the first one; "after": only in the first
    two. What is true but in every k-th pass (see `is_usual`) goes the other way in each third pass, or "later" in each
    second. What is true in every k-th pass is so "later" in each second one: windows of two passes.

    `opened` are the names of objects of settings of which nothing is as by default, since a test of one is not.
    """

    flips: tuple[tuple[TestKey, str], ...] = ()
    opened: frozenset[str] = frozenset()

    def flip(self, key: TestKey) -> str:
        for k, how in self.flips:
            if k == key:
                return how
        return ""

    def with_flip(self, key: TestKey, how: str) -> Policy:
        return self._replace(flips=(*self.flips, (key, how)))

    def turned(self, decision: Decision) -> Policy:
        """The path on which a test goes the other way in every pass, and all settings beside it may be anything."""
        return Policy((*self.flips, (decision.key, "other")), self.opened | decision.settings)


class Decision:
    """A test that the oracle had to decide: its place, and the ways it went.

    `counts`: it is, or follows from, one of how many there are by now, or of every k-th pass. `of_device`: it asks
    what there is to compute on. `late`: nothing had to decide it in the first pass of its loop, as of a counter that is
    zero there. `settings`: it asks for some of these objects, and takes them as they are by default.
    `unset`: how it goes where a flag that it asks for is not given to the program, None where it asks for none.
    """

    __slots__ = (
        "counts", "default", "key", "late", "line", "of_device", "outcomes", "relevant", "settings", "text", "unset",
    )  # fmt: skip

    def __init__(
        self, key: TestKey, line: int, text: str, *, relevant: bool, default: bool, counts: bool, of_device: bool
    ) -> None:
        self.key = key
        self.line = line
        self.text = text
        self.relevant = relevant
        self.default = default
        self.counts = counts
        self.of_device = of_device
        self.late = False
        self.settings: frozenset[str] = frozenset()
        self.unset: bool | None = None
        self.outcomes: set[bool] = set()

    @property
    def is_unset_otherwise(self) -> bool:
        """Whether it asks for a flag, and goes the other way where that is not given."""
        return self.unset is not None and self.unset is not self.default


class Oracle:
    """Decides tests for one run, consistent with what this run has decided already."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.known: MutableMapping[Hashable, bool] = {}
        self.equal_to: MutableMapping[Hashable, Hashable] = {}
        self.decisions: dict[TestKey, Decision] = {}
        self.visits: dict[TestKey, int] = {}
        self.presumed: dict[Hashable, Hashable] = {}
        self.unset: dict[Hashable, bool | None] = {}  # of flags: None where they may be given elsewhere
        self.alternations: dict[Hashable, Alternation] = {}
        self.awaited = 0  # passes that a loop has at least, as one that goes on to the end of what it has begun
        self._decided_in: dict[Hashable, TestKey] = {}
        self._settled: dict[ast.AST, Hashable] = {}

    def likely(self, key: Hashable) -> bool | None:
        """The truth of a comparison with what a value is by default, or None where nothing is presumed of it."""
        if isinstance(key, tuple) and key:
            if key[0] == "not":
                inner = self.likely(key[1])
                return None if inner is None else not inner
            if isinstance(key[0], str) and (key[0] in ORDER or key[0] == "is") and len(key) == 3:
                return self._compared(key[0], self.by_default(key[1]), self.by_default(key[2]))
            default = self.presumed.get(("o", key[1]) if key[0] == "truth" else ("s", key))
            if isinstance(default, tuple):
                return bool(default[-1])
        return None

    def by_default(self, key: Hashable) -> Hashable:
        """What a value is by default: a constant by its key, or None."""
        if isinstance(key, tuple) and key and key[0] == "c":
            return key
        return self.presumed.get(key, self.presumed.get(("s", key)))

    def _compared(self, sign: str, left: Hashable, right: Hashable) -> bool | None:
        if left is None or right is None:
            return None
        if sign in ("==", "is"):
            return bool(left == right)
        if isinstance(left, tuple) and isinstance(right, tuple) and len(left) == len(right) == 2:  # two numbers
            return ORDER[sign](left[1], right[1])
        return None

    def settled(self, key: Hashable) -> bool | None:
        """The truth of a test that follows from what was decided before, or None."""
        if key in self.known:
            return self.known[key]
        if isinstance(key, tuple) and key:
            if key[0] == "not":
                inner = self.settled(key[1])
                return None if inner is None else not inner
            if key[0] == "==" and len(key) == 3:
                other = self.equal_to.get(key[1])
                if other is not None and other != key[2] and not is_open(key[2]):
                    return False
        return None

    def decide(
        self, key: Hashable, test: TestKey, line: int, text: str, default: bool, relevant: bool, turn: int | None
    ) -> bool:
        """Which way a test goes, in pass `turn` of the innermost loop, if it is in any."""
        settled = self.settled(key)
        if settled is not None:
            return settled
        likely = self.likely(key)
        default = default if likely is None else likely
        decision = self.decisions.get(test)
        if decision is None:
            counts = "%" in text or "len(" in text or is_counted(key)
            decision = self.decisions[test] = Decision(
                test, line, text, relevant=relevant, default=default, counts=counts, of_device=_asks_for_device(key)
            )
            decision.late = turn is not None and turn > 0
            decision.unset = self._without_flag(key)
        visit = self.visits.get(test, 0)
        self.visits[test] = visit + 1
        how = self.policy.flip(test)
        outcome = default
        if how and turn is not None and is_usual(text):
            outcome = default != (turn % 2 == 1 if how == "later" else turn % 3 == 2)
        elif how == "later" and turn is not None and is_now_and_then(text):
            outcome = default == (turn % 2 == 1)
        elif how == "other":
            outcome = not default
        elif how == "once":
            outcome = default == ((visit if turn is None else turn) == 1)
        elif how == "later":  # the first time as by default, then the other way
            outcome = default if visit == 0 else not default
        elif how == "after":  # twice the other way, so that two passes lead to the third
            outcome = default if visit >= 2 else not default
        decision.outcomes.add(outcome)
        self._decided_in.setdefault(_without_not(key), test)
        self.learn(key, outcome)
        return outcome

    def without_flags(self) -> Policy | None:
        """The path of a program that is given no flag, where one was taken to be given."""
        policy = self.policy
        for decision in self.decisions.values():
            if decision.relevant and not decision.settings and decision.is_unset_otherwise:
                policy = policy.turned(decision)
        return policy if policy is not self.policy else None

    def asks_for_flag(self, key: Hashable) -> bool:
        """Whether a test is one of an option that takes no value, whichever way."""
        return _without_not(key) in self.unset

    def _without_flag(self, key: Hashable) -> bool | None:
        """Which way a test of a flag goes where that is not given, None where it asks for no flag."""
        if isinstance(key, tuple) and len(key) == 2 and key[0] == "not":
            inner = self._without_flag(key[1])
            return None if inner is None else not inner
        return self.unset.get(key)

    def note_settled(self, node: ast.AST, key: Hashable) -> None:
        """A statement asks for what was decided before."""
        self._settled[node] = key

    def settled_by(self, node: ast.AST) -> TestKey | None:
        """The test that has decided what a statement asks for."""
        key = _without_not(self._settled.get(node))
        found = self._decided_in.get(key)
        if found is None and isinstance(key, tuple) and key[0] == "==" and key[1] in self.equal_to:
            found = self._decided_in.get(("==", key[1], self.equal_to[key[1]]))
        return found

    def learn(self, key: Hashable, outcome: bool) -> None:
        if isinstance(key, tuple) and key and key[0] == "not":
            self.learn(key[1], not outcome)
            return
        self.known[key] = outcome
        if outcome and isinstance(key, tuple) and key and key[0] == "==" and len(key) == 3 and not is_open(key[2]):
            self.equal_to[key[1]] = key[2]


def _asks_for_device(key: Hashable) -> bool:
    """Whether a test is one of `torch.cuda.is_available()` and its like, by its key."""
    key = _without_not(key)
    return isinstance(key, tuple) and key[:1] == ("torch",)


def _without_not(key: Hashable) -> Hashable:
    """The key of what is asked, whichever way."""
    while isinstance(key, tuple) and len(key) == 2 and key[0] == "not":
        key = key[1]
    return key


def is_open(key: Hashable) -> bool:
    """Whether this is the key of something that is not known, or has that in it: another one may be equal to it."""
    if isinstance(key, tuple) and key[:1] == ("t",):
        return any(map(is_open, key[1]))
    return not (isinstance(key, tuple) and key[:1] and key[0] in FIXED)


def is_counted(key: Hashable, depth: int = DEEP) -> bool:
    """Whether a length or a remainder stands in the key of a test, whatever function has computed it."""
    if not isinstance(key, tuple) or not depth:
        return False
    return (key[:1] in COUNTED) or any(is_counted(part, depth - 1) for part in key)


def is_usual(text: str) -> bool:
    """Whether a test is true but in every k-th pass, by its text: `i % k != 0`, `(i + 1) % k`."""
    return "%" in text and not text.startswith("not ") and not any(sign in text for sign in ("==", "<", ">", " in "))


def is_now_and_then(text: str) -> bool:
    """Whether a test is true in every k-th pass, by its text: `i % k == 0`, `(i + 1) % k == 0`."""
    return "%" in text and text.endswith("== 0")


def is_part(test: TestKey, others: Iterable[TestKey]) -> bool:
    """Whether a test that `is_usual` is a part of one of others, or has one in it: both go another way at once.

    Each with a rhythm of its own, `i % k != 0 and i != last` would be false in two passes on end.
    """
    scope, text, _ = test
    return is_usual(text) and any(o[0] == scope and is_usual(o[1]) and (o[1] in text or text in o[1]) for o in others)


class TestIndex:
    """Names the tests of a program independent of their lines, so that a policy also fits the edited program."""

    def __init__(self) -> None:
        self._keys: dict[ast.AST, tuple[TestKey, str]] = {}
        self._counts: dict[tuple[str, str], int] = {}

    def key(self, node: ast.AST, scope: str) -> tuple[TestKey, str]:
        known = self._keys.get(node)
        if known is None:
            text = _text(node)
            # The order of first visits is deterministic, and an edit moves whole statements, tests included.
            number = self._counts.get((scope, text), 0)
            self._counts[(scope, text)] = number + 1
            known = self._keys[node] = ((scope, text, number), text)
        return known

    def known(self, node: ast.AST) -> TestKey | None:
        """The name of a test, if it was asked for."""
        return self._keys[node][0] if node in self._keys else None


@kept
def _text(node: ast.AST) -> str:
    """What a test is told apart by."""
    return spelled(node).replace(".detach()", "").replace(".item()", "")[:200]
