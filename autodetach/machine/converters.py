"""Whether a test of a value's type only chooses how it is made a number: `v.item() if torch.is_tensor(v) else v`.

What is run for a tensor and what is run for a number are then the same, but for what makes a number of the tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.torch_semantics import TENSOR_ATTRIBUTES

TENSORS = frozenset({"Tensor", "Variable", "FloatTensor"})
OF_NUMBERS = frozenset({"float", "Number", "Real", "Complex"})
OF_NEITHER = frozenset(
    "str bytes bool list tuple dict set ndarray integer generic floating Mapping Sequence Module".split()
)
"""Classes of which neither a tensor nor a `float` is an instance."""
KEEPING = frozenset(
    "item detach cpu cuda clone contiguous float double mean sum squeeze numpy tolist detach_ squeeze_".split()
)
"""Methods that make of a tensor with one number one with the same number, or that number itself."""
MAKING = frozenset({"float", "tensor", "as_tensor", "asarray", "float64"})
"""Functions that make of a tensor what they make of its number."""
ASKING = frozenset({"isinstance", "is_tensor", "hasattr", "type"})
MAX_TESTS = 6
"""More tests of one value's type than this are not told apart."""
VALUE = ("the value",)
Shape = tuple[object, ...]
"""What a piece of code does, as something to compare."""


class Choice(NamedTuple):
    """A value by its text, and whether a tensor stands for it or a number."""

    asked: str
    is_tensor: bool


def only_converts(block: Sequence[ast.stmt], statement: ast.AST, function: ast.AST | None, test: ast.AST) -> bool:
    """Whether what follows from a test of a value's type, in a statement of a block, only converts the value."""
    if not isinstance(test, ast.Call) or not test.args or last_word(test.func) not in ASKING:
        return False
    asked = spelled(test.args[0])
    whole = function.body if isinstance(function, ast.Lambda) and test in ast.walk(function.body) else statement
    choices = [n for n in ast.walk(whole) if isinstance(n, ast.IfExp) and test in ast.walk(n)]
    choices = [n for n in choices if _tests(n.test, asked)]
    if choices:
        return _is_alike(choices[:1], asked)
    if not isinstance(statement, ast.If) or test not in ast.walk(statement.test):
        return False
    code = _from_first(statement, block, asked) or [statement]
    tests = [each for each in code if isinstance(each, ast.If) and _tests(each.test, asked)]
    return _is_alike(code if any(map(_ends, tests)) else tests, asked)


def _is_alike(code: Sequence[ast.AST], asked: str) -> bool:
    """Whether some code does the same for a tensor and for a number."""
    if sum(_asks(n, asked) for each in code for n in ast.walk(each)) > MAX_TESTS:
        return False
    one, other = (tuple(_block(code, Choice(asked, is_tensor))) for is_tensor in (True, False))
    return one == other


def _ends(statement: ast.stmt) -> bool:
    """Whether what stands behind it is not run after each of its branches."""
    return any(isinstance(n, (ast.Return, ast.Raise, ast.Continue, ast.Break)) for n in ast.walk(statement))


def _from_first(statement: ast.stmt, block: Sequence[ast.stmt], asked: str) -> list[ast.stmt]:
    """What is run from the first test of the type on that a statement goes on with; nothing if it is not there."""
    for i, each in enumerate(block):
        is_chained = isinstance(each, ast.If) and len(each.orelse) == 1 and isinstance(each.orelse[0], ast.If)
        if each is statement or (is_chained and _from_first(statement, getattr(each, "orelse", []), asked)):
            earlier = (j for j in range(i) if isinstance(at := block[j], ast.If) and _tests(at.test, asked))
            return list(block[next(earlier, i) :])
        for part in ("body", "orelse", "finalbody"):
            inner = _from_first(statement, getattr(each, part, []), asked)
            if inner:
                return [*inner, *block[i + 1 :]] if isinstance(each, ast.If) else inner
    return []


def _block(code: Sequence[ast.AST], choice: Choice) -> Iterator[object]:
    """What statements do one after the other, up to one that leaves them."""
    for i, each in enumerate(code):
        if isinstance(each, ast.If) and _tests(each.test, choice.asked):
            rest = code[i + 1 :] if _ends(each) else ()
            yield from _chosen(each.test, [*each.body, *rest], [*each.orelse, *rest], choice)
            if rest:
                return
        elif not _does_nothing(each, choice):
            yield _shape(each, choice)
        if isinstance(each, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
            return


def _chosen(test: ast.expr, body: Sequence[ast.AST], orelse: Sequence[ast.AST], choice: Choice) -> Iterator[object]:
    """What the branch of a test does that is taken; both, and for what, where that is not known and they differ."""
    verdict = _verdict(test, choice)
    if verdict is not None:
        yield from _block(body if verdict else orelse, choice)
        return
    one, other = tuple(_block(body, choice)), tuple(_block(orelse, choice))
    if one == other:
        yield from one
    else:
        yield ("if", choice.is_tensor, _shape(test, choice), one, other)


def _does_nothing(statement: ast.AST, choice: Choice) -> bool:
    """`pass`, or `v = v.item()`, which gives the value itself."""
    if isinstance(statement, ast.Assign):
        sides = [*statement.targets, statement.value]
        return all(_shape(side, choice) == VALUE for side in sides)
    return isinstance(statement, ast.Pass)


def _shape(node: object, choice: Choice) -> object:
    """What a piece of code does: the value itself where it is converted."""
    if isinstance(node, list):
        is_block = bool(node) and isinstance(node[0], ast.stmt)
        return tuple(_block(node, choice)) if is_block else tuple(_shape(each, choice) for each in node)
    if not isinstance(node, ast.AST):
        return (type(node).__name__, node)
    if isinstance(node, ast.expr) and _is_value(node, choice.asked):
        return VALUE
    if _asks(node, choice.asked):
        return ("asked", choice.is_tensor)
    if isinstance(node, ast.IfExp) and _tests(node.test, choice.asked):
        found = tuple(_chosen(node.test, [node.body], [node.orelse], choice))
        return found[0] if len(found) == 1 else found
    return (type(node).__name__, *(_shape(value, choice) for _, value in ast.iter_fields(node)))


def _is_value(node: ast.expr, asked: str) -> bool:
    """Whether it is the value, or makes its number of it."""
    while True:
        if spelled(node) == asked:
            return True
        if isinstance(node, ast.Attribute) and node.attr == "data":
            node = node.value
        elif not isinstance(node, ast.Call):
            return False
        elif isinstance(node.func, ast.Attribute) and _keeps(node, node.func.attr):
            node = node.func.value
        elif last_word(node.func) in MAKING and len(node.args) == 1 and _are_devices(node.keywords):
            node = node.args[0]
        else:
            return False


def _keeps(call: ast.Call, method: str) -> bool:
    """Whether a method is called that keeps the number, as `.to` does with nothing but a device."""
    if method == "to":
        return _are_devices(call.keywords) and all(
            (isinstance(a, ast.Constant) and isinstance(a.value, str)) or last_word(a) == "device" for a in call.args
        )
    return method in KEEPING and not call.args and not call.keywords


def _are_devices(keywords: Iterable[ast.keyword]) -> bool:
    return all(keyword.arg == "device" for keyword in keywords)


def _asks(node: ast.AST, asked: str) -> bool:
    """Whether it is a call that asks for the type of the value."""
    if not isinstance(node, ast.Call) or not node.args or last_word(node.func) not in ASKING:
        return False
    return spelled(node.args[0]) == asked


def _tests(test: ast.expr, asked: str) -> bool:
    return any(_asks(n, asked) for n in ast.walk(test))


def _verdict(test: ast.expr, choice: Choice) -> bool | None:
    """What a test comes to, None where that is not known."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _verdict(test.operand, choice)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        verdicts = [_verdict(value, choice) for value in test.values]
        decisive = isinstance(test.op, ast.Or)
        if decisive in verdicts:
            return decisive
        return None if None in verdicts else not decisive
    if not isinstance(test, ast.Call) or not _asks(test, choice.asked):
        return None
    name = last_word(test.func)
    if name == "is_tensor":
        return choice.is_tensor
    if name == "hasattr" and len(test.args) == 2:
        return _has(test.args[1], choice)
    if name == "isinstance" and len(test.args) == 2:
        classes = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]
        found = [_is_of(last_word(cls), choice) for cls in classes]
        return True if True in found else None if None in found else False
    return None


def _is_of(cls: str, choice: Choice) -> bool | None:
    if cls in TENSORS:
        return choice.is_tensor
    if cls in OF_NUMBERS:
        return not choice.is_tensor
    return False if cls in OF_NEITHER or (cls == "int" and choice.is_tensor) else None


def _has(name: ast.expr, choice: Choice) -> bool | None:
    known = name.value if isinstance(name, ast.Constant) else None
    if isinstance(known, str) and known in TENSOR_ATTRIBUTES:
        return choice.is_tensor or hasattr(1.0, known)
    return None
