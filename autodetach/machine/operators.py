"""Python's operators on values: arithmetic, comparison and identity, as far as the result is known."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TypeGuard

from autodetach.machine import elements, iteration, joining, operations
from autodetach.machine.graph import DISCRETE, Site
from autodetach.machine.held import lost_by_numbers
from autodetach.machine.implicit_calls import formatted_by_percent, own_method, special
from autodetach.machine.number_readers import (
    FRACTION,
    RAISING,
    ROUNDED,
    are_apart,
    are_truths,
    computed,
    marked,
    number_in,
    of_truth,
    truth_of_sums,
    wanted,
)
from autodetach.machine.objects import Objects
from autodetach.machine.old_types import SIGNS, is_variable, tells_variables
from autodetach.machine.other_types import meets
from autodetach.machine.passed_counts import note_test, without_least
from autodetach.machine.program_values import Class, External, Instance, Iterable
from autodetach.machine.spans import outcome_of, span_made, span_of
from autodetach.machine.state import MISSING, Raised
from autodetach.machine.steering import weighed
from autodetach.machine.tallies import is_tally, signed
from autodetach.machine.told_of_values import TRUTH, is_constant, is_member, is_number, is_truth, truth_key
from autodetach.machine.torch_semantics import OPERATORS
from autodetach.machine.values import CONSTANT_TYPES, FROM_NUMBER, Mapping, Opaque, Sequence, Sym, Tensor, Value

BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "BitAnd": operator.and_,
    "MatMult": operator.matmul,
}
DUNDER = {
    "Add": "add", "Sub": "sub", "Mult": "mul", "Div": "truediv", "FloorDiv": "floordiv", "Mod": "mod", "Pow": "pow",
    "LShift": "lshift", "RShift": "rshift", "BitOr": "or", "BitXor": "xor", "BitAnd": "and", "MatMult": "matmul",
}  # fmt: skip
UNARY_DUNDER = {"USub": "__neg__", "UAdd": "__pos__", "Invert": "__invert__"}
COMPARE: dict[str, Callable[[Value, Value], bool]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}
COMPARE_DUNDER = {"Eq": "__eq__", "NotEq": "__ne__", "Lt": "__lt__", "LtE": "__le__", "Gt": "__gt__", "GtE": "__ge__"}
OF_BITS = frozenset({"BitAnd", "BitOr", "BitXor"})
"""What gives True or False of these."""
HUGE = 1 << 64
"""No greater number is computed."""
LONG = 10_000
"""As many characters as a text may have that is computed."""
MAY_BE_TENSORS = (Tensor, Opaque, Sym)
PLAIN = CONSTANT_TYPES | {Sym, Opaque}
BEFORE_TENSORS = PLAIN | {Iterable}
"""What may stand in front of an operator for which a tensor behind it answers."""
NO_TAGS: frozenset[object] = frozenset()
OF_TEXTS = frozenset[object]({ROUNDED})
"""What is left to tell of numbers in a text."""


# ---- arithmetic


def binary(m: Objects, op: str, left: Value, right: Value, site: Site) -> Value:
    """A binary operator by the name of its class in `ast`."""
    if op == "MatMult" and (is_number(left) or is_number(right)):
        m.refuse(site, "multiplies a number as a matrix", "TypeError")
    one, other = type(left), type(right)
    if op == "Mod" and one is str:
        formatted_by_percent(m, left, right, site)
    if one is Tensor and other is Instance and (own := own_method(right, f"__r{DUNDER[op]}__")) is not None:
        return m.call(own, [left], {}, site)
    if one is Tensor or (other is Tensor and one in BEFORE_TENSORS):
        if one is Sym or other is Sym:
            meets(m, left, right, site)
            weighed(m, left, right, site)
            made = operations.operator(m, OPERATORS.get(op, "add"), left, right, site)
            if type(made) is Tensor:
                marked(made, left, right)
            return made
        if one is other and (left.extras is not None or right.extras is not None):
            weighed(m, left, right, site)
        return operations.operator(m, OPERATORS.get(op, "add"), left, right, site)
    if one in PLAIN and other in PLAIN:
        if op in RAISING:
            computed(m, op, left, right, site)
        if one is Opaque or other is Opaque:
            result = operations.opaque_operator(m, OPERATORS.get(op, "add"), left, right, site)
            number = number_in(left) or number_in(right)
            if number is not None:
                meets(m, left, right, site)
                weighed(m, left, right, site)
                result.attrs[FROM_NUMBER] = number
            return result
        if one is Sym or other is Sym:
            if (left is None and is_number(right)) or (right is None and is_number(left)):
                m.refuse(site, "unsupported operands", "TypeError")
            whole = _of_count(op, left, right)
            return _of_unknown(m, op, left, right, site) if whole is MISSING else whole
        return _of_constants(m, op, left, right, site)
    if isinstance(left, (Sequence, Mapping)) or isinstance(right, (Sequence, Mapping)):
        found = joining.binary(m, op, left, right, site)
        if found is not MISSING:
            return found
    if isinstance(left, Instance) or isinstance(right, Instance):
        found = _of_instances(m, op, left, right, site)
        if found is not MISSING:
            return found
    if one is Opaque or other is Opaque:
        return operations.opaque_operator(m, OPERATORS.get(op, "add"), left, right, site)
    return _of_unknown(m, op, left, right, site)


def _of_constants(m: Objects, op: str, left: Value, right: Value, site: Site) -> Value:
    if op == "Pow" and not (is_small(left) and is_small(right) and abs(right) < 64):
        return m.fresh("number")
    if op in ("Mult", "LShift") and (is_long(left, right) or is_long(right, left)):
        return m.fresh("number" if is_number(left) and is_number(right) else "")
    try:
        result = BINARY[op](left, right)
    except TypeError:
        if left is None or right is None or (isinstance(left, str) and op == "Add"):
            m.refuse(site, "unsupported operands", "TypeError")
        return m.fresh()
    except ZeroDivisionError as error:
        if m.loops and not m.loops[-1].activation.exact:
            return m.fresh("number")  # a count that the cut-off loop would have raised
        raise Raised("ZeroDivisionError") from error
    except Exception:
        return m.fresh()
    if isinstance(result, int) and abs(result) > HUGE:
        return m.fresh("number")
    if isinstance(result, (str, bytes)) and len(result) > LONG:
        return m.fresh("str")
    return result


def _of_unknown(m: Objects, op: str, left: Value, right: Value, site: Site) -> Value:
    tags = left.tags if type(left) is Sym else NO_TAGS
    if type(right) is Sym and right.tags:
        tags = tags | right.tags
    if op == "Add" and FRACTION in tags and isinstance(left, Sym) and isinstance(right, Sym):
        tags |= {ROUNDED}
    tags = without_least(tags, op, left, right)
    number = all(is_number(side) or is_truth(side) for side in (left, right))
    lo = None
    if op == "Add" and number:
        a, b = lower_bound(left), lower_bound(right)
        lo = None if a is None or b is None else a + b
    elif op == "Sub" and number and isinstance(right, int):
        a = lower_bound(left)
        lo = None if a is None else a - right
    text = isinstance(left, str) and op in ("Mod", "Add")
    kind = "number" if number else "str" if text else ""
    if tags and are_truths(left, right):
        if op in OF_BITS:
            kind = TRUTH
        else:
            wanted(m, (left, right), site, op)  # numbers add up, and of tensors of `bool` their sum is another one
    span = span_made(op, left, right) if number else None
    made = m.sym((op, m.key(left), m.key(right)), kind, lo, tags & OF_TEXTS if text else tags, span)
    made.lost = lost_by_numbers(left, right)
    return made


def _of_count(op: str, left: Value, right: Value) -> Value:
    """What a count gives, divided by 1 or by itself, which may not be zero: `step % 1` is 0. MISSING for all else."""
    if op not in ("Mod", "FloorDiv") or not (type(left) is Sym and left.kind == "number" and left.lo is not None):
        return MISSING
    if type(right) is int and right == 1:
        return 0 if op == "Mod" else left
    if type(right) is Sym and right.key == left.key and left.lo > 0:
        return 0 if op == "Mod" else 1
    return MISSING


def _of_instances(m: Objects, op: str, left: Value, right: Value, site: Site) -> Value:
    """What the methods of a class say; MISSING if there is none."""
    name = DUNDER[op]
    if isinstance(left, Instance):
        raw = m.class_attribute(left.cls, f"__{name}__")
        if raw is not MISSING:
            return m.call(m.bind(raw, left, site), [right], {}, site)
    if isinstance(right, Instance):
        raw = m.class_attribute(right.cls, f"__r{name}__")
        if raw is not MISSING:
            return m.call(m.bind(raw, right, site), [left], {}, site)
    return MISSING


def unary(m: Objects, op: str, value: Value, site: Site) -> Value:
    """`-value`, `+value` or `~value`, by the name of its class in `ast`."""
    if isinstance(value, Tensor):
        return operations.operator(m, OPERATORS.get(op, "neg"), value, None, site)
    if is_constant(value):
        try:
            return -value if op == "USub" else +value if op == "UAdd" else ~value
        except TypeError:
            return m.fresh()
    if isinstance(value, Opaque):
        return operations.opaque_operator(m, "neg", value, None, site)
    if op != "Invert" and is_tally(value):
        return signed(m, value, op, site)
    found = special(m, value, (UNARY_DUNDER[op],), [], site)
    if found is not MISSING:
        return found
    tags = value.tags if isinstance(value, Sym) else NO_TAGS
    if op == "Invert":
        wanted(m, [value], site, op)  # of True it is -2, of a tensor of `bool` the opposite
    span = span_made("Sub", 0, value) if op == "USub" else span_of(value) if op == "UAdd" else None
    made = m.sym((op, m.key(value)), "number" if is_number(value) else "", None, tags, span)
    made.lost = lost_by_numbers(value)
    return made


def is_small(value: Value) -> bool:
    return isinstance(value, (int, float)) and abs(value) < 1e6


def is_long(value: Value, times: Value) -> bool:
    """Whether repeating `value` `times` times would make a big object."""
    if not isinstance(times, int):
        return False
    if isinstance(value, (str, bytes)):
        return len(value) * max(times, 0) > LONG
    return isinstance(value, int) and (abs(times) > HUGE or abs(value) > HUGE)


def lower_bound(value: Value) -> int | None:
    """The least that a number can be, as far as that is known."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value
    return value.lo if isinstance(value, Sym) else None


# ---- comparison


def compare(m: Objects, op: str, left: Value, right: Value, site: Site) -> Value:
    """A comparison by the name of its class in `ast`: True, False, a Sym where it is not known, or a tensor."""
    if type(left) is External and tells_variables(op, left, right):
        return is_variable(m, op, site)
    if op in SIGNS and are_apart(left, right):
        return not SIGNS[op]
    if op in ("Is", "IsNot", "In", "NotIn"):
        positive = _identity(m, left, right, site) if op in ("Is", "IsNot") else elements.contains(m, right, left, site)
        if op in ("Is", "In"):
            return positive
        return negate(m, positive, site)
    if is_constant(left) and is_constant(right):
        try:
            return COMPARE[op](left, right)
        except TypeError:
            if None in (left, right):
                m.refuse(site, "compares None with a number", "TypeError")
            return m.fresh("bool")
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        compared = Tensor(None, left.shape if isinstance(left, Tensor) else None, False)
        m.note_lost(compared, (left, right), site, DISCRETE)
        marked(compared, left, right, is_truth=True)
        note_test(compared, OPERATORS.get(op, ""))
        return compared
    if isinstance(left, Instance):
        raw = m.class_attribute(left.cls, COMPARE_DUNDER[op])
        if raw is not MISSING:
            return m.call(m.bind(raw, left, site), [right], {}, site)
    known = outcome_of(op, left, right)
    if known is not None:
        return known
    if op in ("Eq", "NotEq"):
        return of_truth(m, _equality(m, op, left, right, site), left, right)
    a, b = key_in_test(m, left), key_in_test(m, right)
    kind = _kind_of_truth(left, right)
    key = (op, a, b) if op in ("Lt", "LtE") else ({"Gt": "Lt", "GtE": "LtE"}[op], b, a)
    return of_truth(m, m.sym(key, kind), left, right)


def _kind_of_truth(left: Value, right: Value) -> str:
    """Of anything but numbers, nobody knows whether it is compared as a whole: arrays are not."""
    return TRUTH if is_number(left) and is_number(right) else "bool"


def _equality(m: Objects, op: str, left: Value, right: Value, site: Site) -> Value:
    if isinstance(left, Sequence) and isinstance(right, Sequence) and left.kind == right.kind:
        same = iteration.equal(left, right) if left.exact and right.exact else None
        if same is not None:
            return same if op == "Eq" else not same
    kinds = _type_of(left), _type_of(right)
    if None not in kinds:
        return (kinds[0] == kinds[1]) is (op == "Eq")
    if any(kind is not None and is_constant(other) for kind, other in zip(kinds, (right, left), strict=True)):
        return op == "NotEq"  # a type is no text: `type == "dot"` where no argument has that name
    if all(is_member(value) or is_constant(value) for value in (left, right)):
        return (left is right) is (op == "Eq")
    if any(isinstance(a, (Sequence, Mapping)) and is_constant(b) for a, b in ((left, right), (right, left))):
        return op == "NotEq"  # `now != None`
    for flag, way in ((left, right), (right, left)):
        if isinstance(way, bool) and _is_flag(flag, m):
            return flag if way is (op == "Eq") else negate(m, flag, site)
    a, b = key_in_test(m, left), key_in_test(m, right)
    if a == b:
        return op == "Eq"
    if is_constant(left) or is_member(left):
        a, b = b, a
    key = ("==", a, b)
    kind = _kind_of_truth(left, right)
    return m.sym(key if op == "Eq" else ("not", key), kind)


def _type_of(value: Value) -> object:
    """What tells a type apart from others, as in `type(m) == nn.Linear`; None for what may be no type.

    A `Variable` of old programs is a tensor: https://docs.pytorch.org/docs/stable/autograd.html#variable-deprecated
    """
    if isinstance(value, Class):
        return value
    if not isinstance(value, External):
        return None
    first, _, name = value.path.partition(".")
    last = name.rpartition(".")[2]
    if first == "torch" and last in ("Tensor", "Variable"):
        return "torch.Tensor"
    is_type = first == "builtins" or (name.startswith("nn.") and last[:1].isupper()) or value.path == "numpy.ndarray"
    return f"{first}.{last}" if is_type else None


def _identity(m: Objects, left: Value, right: Value, site: Site) -> Value:
    for a, b in ((left, right), (right, left)):
        if isinstance(b, bool) and _is_flag(a, m):
            return a if b else negate(m, a, site)
        if b is None or isinstance(b, bool) or b is Ellipsis:
            if is_constant(a):
                return a is b
            if isinstance(a, Opaque):
                return m.sym(("is", m.key(a), m.key(b)), "bool")
            if isinstance(a, Sym) and (a.kind == "" or (a.tags and is_truth(a) and isinstance(b, bool))):
                wanted(m, [a], site, "is")
                return m.sym(("is", m.key(a), m.key(b)), "bool")
            return False
    if isinstance(left, MAY_BE_TENSORS) and isinstance(right, MAY_BE_TENSORS):
        m.tell_apart(left)
        m.tell_apart(right)
    if isinstance(left, (Opaque, Sym)) or isinstance(right, (Opaque, Sym)):
        wanted(m, [value for value in (left, right) if type(value) is Sym], site, "is")  # a tensor stays the same one
        return left is right or m.sym(("is", m.key(left), m.key(right)), "bool")
    if isinstance(left, External) and isinstance(right, External):
        kinds = _type_of(left), _type_of(right)
        return kinds[0] == kinds[1] if None not in kinds else left.path == right.path
    return left is right or (is_constant(left) and is_constant(right) and left == right)


def _is_flag(value: Value, m: Objects) -> TypeGuard[Opaque | Sym]:
    """Whether this is an option of the command line that takes no value: True or False, and always the same."""
    return isinstance(value, (Opaque, Sym)) and truth_key(value) in m.oracle.unset


def key_in_test(m: Objects, value: Value) -> object:
    """A value in the key of a test: the same test has the same key."""
    return value.key if isinstance(value, Sym) else m.key(value)


def negate(m: Objects, value: Value, site: Site) -> Value:
    """`not value`, in the words of the test itself: what is known of one is known of the other."""
    known = m.known_truth(value, site)
    if known is not None:
        return not known
    key = truth_key(value) if _is_flag(value, m) else key_in_test(m, value)
    return m.sym(("not", key), "bool", None, truth_of_sums([value]))
