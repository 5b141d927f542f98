"""Counts of what passes a test: none may have passed, and then what is divided by them raises as a number.

`(y > 9).sum().item()`, `len([b for b in batch if wanted(b)])`, `sum(1 for b in batch if wanted(b))`. How many differ
from something, as from the mark of padding, is not told: these are the words of a text, of which there are some.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable
from typing import TypeAlias

from autodetach.machine.activations import Pass
from autodetach.machine.oracle import ORDER, Oracle
from autodetach.machine.torch_semantics import OPERATORS
from autodetach.machine.values import PASSED, SIZES, Sequence, Sym, Tensor, Value

ONLY_PASSED = frozenset({PASSED})
Fresh: TypeAlias = "Callable[[str, int, frozenset[object]], Sym]"
NO_TAGS: frozenset[object] = frozenset()
COUNTING = frozenset(
    """
    sum nansum count_nonzero cumsum bincount item cpu cuda to int long short float double half type bool clone detach
    contiguous all any amax logical_and logical_or logical_xor logical_not flatten ravel view reshape squeeze unsqueeze
    select __getitem__
    """.split()
)
"""What counts True and False, or gives them, some of them, what is put together of them, or the count, or another form
of these."""
TESTS = frozenset({OPERATORS[name] for name in ("Lt", "LtE", "Gt", "GtE", "Eq")}) | {
    "isclose", "isin", "isinf", "isnan", "isneginf", "isposinf", "signbit",
}  # fmt: skip
NUMPY_COUNTING = frozenset({"numpy.sum", "numpy.count_nonzero"})
FILTERS = {"index": 1, "masked_select": 1, "nonzero": 0, "argwhere": 0}
"""What gives the elements that pass a test, or their places, and behind how many operands the test stands."""


def of_filter(value: Value) -> frozenset[object]:
    """The tag of how many elements something has, if a filter has let them through."""
    return ONLY_PASSED if isinstance(value, Sequence) and value.filled is not None else NO_TAGS


def is_counted_only(value: Value, call: ast.AST, loops: tuple[Pass, ...]) -> bool:
    """Whether nobody else has what `len` is asked of, or it was made in this pass; a program has data to go over."""
    if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.ListComp):
        return True
    return bool(loops) and isinstance(value, Sequence) and value.born > loops[-1].activation.started


def least(tags: frozenset[object]) -> int | None:
    """The least that a number with some tags can be, if that is known."""
    return 0 if PASSED in tags else None


def note_test(made: Tensor, name: str) -> None:
    """Mark what a comparison of tensors gives."""
    if name in TESTS:
        made.extras = (made.extras or {}) | {PASSED: True}


def note_counted(made: Tensor, name: str, inputs: Iterable[Value]) -> None:
    """Mark what an operation makes that compares, or that counts what has passed a test."""
    is_counted = name in COUNTING and any(type(t) is Tensor and t.extras and PASSED in t.extras for t in inputs)
    if is_counted or name in TESTS:
        made.extras = (made.extras or {}) | {PASSED: True}


def sizes_passed(fresh: Fresh, name: str, inputs: list[Value], *, is_alike: bool) -> Sym | None:
    """The sizes of what an operation gives of those that have passed a test: nobody knows whether there is anything.

    They are those of what it is given where it is of the same shape, so that who asks for one knows of the other.
    """
    at = FILTERS.get(name)
    if at is not None and any(type(t) is Tensor and t.extras and PASSED in t.extras for t in inputs[at:]):
        return fresh(SIZES, 0, ONLY_PASSED)
    passed = next((t.sizes for t in inputs if type(t) is Tensor and type(t.sizes) is Sym and t.sizes.tags), None)
    return passed if passed is None or is_alike else fresh(SIZES, 0, ONLY_PASSED)


def of_function(path: str, args: list[Value]) -> frozenset[object]:
    """The tag of what a function of numpy counts: `np.sum(y > 9)`."""
    first = args[0] if args else None
    if path not in NUMPY_COUNTING:
        return NO_TAGS
    is_marked = type(first) is Tensor and first.extras is not None and PASSED in first.extras
    return ONLY_PASSED if is_marked or (type(first) is Sym and _is_test(first)) else NO_TAGS


def of_method(value: Sym, name: str) -> frozenset[object]:
    """The same of the method of something unknown that was compared, an array or a tensor, or of what counts that."""
    if name not in COUNTING:
        return NO_TAGS
    return ONLY_PASSED if _is_test(value) or PASSED in value.tags else NO_TAGS


def of_sum(items: list[Value]) -> frozenset[object]:
    """The same of what `sum` makes of tests: `sum(b > 9 for b in batch)`."""
    return ONLY_PASSED if items and all(map(_is_test, items)) else NO_TAGS


def _is_test(value: Value) -> bool:
    return type(value) is Sym and isinstance(value.key, tuple) and value.key[:1] != () and value.key[0] in ORDER


def without_least(tags: frozenset[object], op: str, left: Value, right: Value) -> frozenset[object]:
    """The tags of a sum: no count to which a positive number is added is zero."""
    if op != "Add" or PASSED not in tags:
        return tags
    return tags - ONLY_PASSED if _is_positive([left, right]) else tags


def of_greatest(tags: frozenset[object], items: Iterable[Value]) -> frozenset[object]:
    """The tags of `max(count, 1)`."""
    return tags - ONLY_PASSED if _is_positive(items) else tags


def _is_positive(values: Iterable[Value]) -> bool:
    return any(isinstance(value, (int, float)) and value > 0 for value in values)


def may_be_none(oracle: Oracle, divisor: Value) -> bool:
    """Whether something counts what passes a test, and no test of the count itself says that there are some."""
    if type(divisor) is not Sym or PASSED not in divisor.tags:
        return False
    own = divisor.key
    if divisor.lo is not None and divisor.lo > 0:
        return False
    if oracle.settled(own):
        return False
    if isinstance(own, tuple) and len(own) == 2 and own[0] == "len" and oracle.settled(own[1]):
        return False
    return not _was_asked_for(oracle, own)


def _was_asked_for(oracle: Oracle, key: Hashable) -> bool:
    """Whether a count was compared with a number before: `if count == 0: return`, `if count >= least:`."""
    return any(
        isinstance(test, tuple) and len(test) == 3 and test[0] in ORDER and key in test[1:] for test in oracle.known
    )
