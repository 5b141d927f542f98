"""Whether a test of a value's type only chooses how it is made a number: `v.item() if torch.is_tensor(v) else v`.

What is run for a tensor and what is run for a number are then the same, but for what makes a number of the tensor.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Sequence

from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.torch_semantics import TENSOR_ATTRIBUTES
from autodetach.named_tuples import NamedTuple

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
OF_FORM = frozenset("dim element_size get_device is_available len nelement numel size".split())
"""What is called to ask for the form of a tensor, or for the machine, and changes nothing."""
FORMS = frozenset("dim ndim nelement numel shape size".split())
"""What of a tensor tells how many axes and numbers it has."""
COUNTING = frozenset({"numel", "nelement"})
COMPARISONS: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
MAX_TESTS = 6
"""More tests of one value's type than this are not told apart."""
VALUE = ("the value",)
TENSOR, NUMBER, OTHER = "tensor", "number", "other"
"""What stands for the value: a tensor, a number, or something else that was made of one of them."""
Shape = tuple[object, ...]
"""What a piece of code does, as something to compare."""


class Choice(NamedTuple):
    """A value by its text, and what stands for it: at first, and after the conversions that it has gone through.

    It is followed to a number or a tensor only where its name is bound to nothing else.
    """

    asked: str
    first: str
    is_followed: bool
    kind: str

    def after(self, kind: str) -> Choice:
        return self._replace(kind=kind) if self.is_followed or kind == OTHER else self

    @property
    def told(self) -> object:
        """What is the same for two of them only where the same stands for both."""
        return (self.kind, self.first) if self.kind == OTHER else self.kind


def only_converts(block: Sequence[ast.stmt], statement: ast.AST, function: ast.AST | None, test: ast.AST) -> bool:
    """Whether what follows from a test of a value's type, in a statement of a block, only converts the value."""
    if not isinstance(test, ast.Call) or not test.args or last_word(test.func) not in ASKING:
        return False
    asked = spelled(test.args[0])
    whole = function.body if isinstance(function, ast.Lambda) and test in ast.walk(function.body) else statement
    choices = [n for n in ast.walk(whole) if isinstance(n, ast.IfExp) and test in ast.walk(n)]
    choices = [n for n in choices if _tests(n.test, asked)]
    if choices:
        return _is_alike(choices[:1], asked, _is_only_converted(choices[:1], asked))
    if not isinstance(statement, ast.If) or test not in ast.walk(statement.test):
        return False
    code = _from_first(statement, block, asked) or [statement]
    tests = [each for each in code if isinstance(each, ast.If) and _tests(each.test, asked)]
    return _is_alike(code if any(map(_ends, tests)) else tests, asked, _is_only_converted(code, asked))


def _is_alike(code: Sequence[ast.AST], asked: str, is_followed: bool = False) -> bool:
    """Whether some code does the same for a tensor and for a number."""
    if sum(_asks(n, asked) for each in code for n in ast.walk(each)) > MAX_TESTS:
        return False
    one, other = (_block(code, Choice(asked, kind, is_followed, kind))[0] for kind in (TENSOR, NUMBER))
    return one == other


def _is_only_converted(code: Sequence[ast.AST], asked: str) -> bool:
    """Whether a name is bound in some code to nothing but what is made of its own value."""
    if not asked.isidentifier():
        return False
    nodes = [n for each in code for n in ast.walk(each)]
    made = {
        target
        for n in nodes
        if isinstance(n, ast.Assign) and _are_conversions(n.value, asked)
        for target in n.targets
        if isinstance(target, ast.Name)
    }
    return not any(_binds(n, asked) and n not in made for n in nodes)


def _are_conversions(value: ast.expr, asked: str) -> bool:
    if isinstance(value, ast.IfExp):
        return _are_conversions(value.body, asked) and _are_conversions(value.orelse, asked)
    return _is_value(value, asked)


def _binds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return name in node.names
    return any(getattr(node, field, None) == name for field in ("arg", "name", "asname", "rest"))


def _ends(statement: ast.stmt) -> bool:
    """Whether what stands behind it is not run after each of its branches."""
    return any(isinstance(n, (ast.Return, ast.Raise, ast.Continue, ast.Break)) for n in ast.walk(statement))


def _from_first(statement: ast.stmt, block: Sequence[ast.stmt], asked: str) -> list[ast.stmt]:
    """What is run from the first test of the type on that a statement goes on with; nothing if it is not there."""
    for i, each in enumerate(block):
        is_chained = isinstance(each, ast.If) and len(each.orelse) == 1 and isinstance(each.orelse[0], ast.If)
        if each is statement or (is_chained and _from_first(statement, getattr(each, "orelse", []), asked)):
            earlier = [j for j, at in enumerate(block[:i]) if isinstance(at, ast.If) and _tests(at.test, asked)]
            first = earlier[0] if earlier else i
            return list(block[first:])
        for part in ("body", "orelse", "finalbody"):
            inner = _from_first(statement, getattr(each, part, []), asked)
            if inner:
                return [*inner, *block[i + 1 :]] if isinstance(each, ast.If) else inner
    return []


def _block(code: Sequence[ast.AST], choice: Choice) -> tuple[Shape, Choice]:
    """What statements do one after the other, up to one that leaves them, and what then stands for the value."""
    done: list[object] = []
    for i, each in enumerate(code):
        if isinstance(each, ast.If) and (_tests(each.test, choice.asked) or _verdict(each.test, choice) is not None):
            rest = code[i + 1 :] if _ends(each) else ()
            found, choice = _chosen(each.test, [*each.body, *rest], [*each.orelse, *rest], choice)
            done.extend(found)
            if rest:
                break
        elif isinstance(each, ast.If):
            one, other = (_block(branch, choice) for branch in (each.body, each.orelse))
            if one[0] or other[0] or not _only_asks(each.test):
                done.append(("If", _shape(each.test, choice), one[0], other[0]))
            choice = _joined(one[1], other[1], choice)
        elif not _does_nothing(each, choice):
            done.append(_shape(each, choice))
        elif isinstance(each, ast.Assign):
            choice = choice.after(_made(each.value, choice))
        if isinstance(each, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
            break
    return tuple(done), choice


def _chosen(test: ast.expr, body: Sequence[ast.AST], orelse: Sequence[ast.AST], choice: Choice) -> tuple[Shape, Choice]:
    """What the branch of a test does that is taken; both, and for what, where that is not known and they differ."""
    verdict = _verdict(test, choice)
    if verdict is not None:
        return _block(body if verdict else orelse, choice)
    one, other = _block(body, choice), _block(orelse, choice)
    after = _joined(one[1], other[1], choice)
    if one[0] == other[0]:
        return one[0], after
    return (("if", choice.told, _shape(test, choice), one[0], other[0]),), after


def _joined(one: Choice, other: Choice, before: Choice) -> Choice:
    """What stands for the value after one of two branches: what it was at first, where they differ."""
    return one if one == other else before.after(before.first)


def _made(value: ast.expr, choice: Choice) -> str:
    """What a conversion makes of what stands for the value."""
    if isinstance(value, ast.IfExp):
        verdict = _verdict(value.test, choice)
        one, other = _made(value.body, choice), _made(value.orelse, choice)
        if verdict is not None:
            return one if verdict else other
        return one if one == other else choice.first
    if spelled(value) == choice.asked:
        return choice.kind
    if isinstance(value, ast.Attribute):
        return _made(value.value, choice)
    if not isinstance(value, ast.Call):
        return OTHER
    name = last_word(value.func)
    if isinstance(value.func, ast.Attribute) and _keeps(value, name):
        before = _made(value.func.value, choice)
        return NUMBER if name == "item" else OTHER if name in ("numpy", "tolist") else before
    return NUMBER if name == "float" else TENSOR if name in ("tensor", "as_tensor") else OTHER


def _does_nothing(statement: ast.AST, choice: Choice) -> bool:
    """`pass`, `v = v.item()`, which gives the value itself, or an assertion that holds: that a tensor has no axes."""
    if isinstance(statement, ast.Assign):
        sides = [*statement.targets, statement.value]
        return all(_shape(side, choice) == VALUE for side in sides)
    if isinstance(statement, ast.Assert):
        verdict = _verdict(statement.test, choice)
        is_tensor = choice.is_followed and choice.kind == TENSOR
        return verdict is True or (verdict is None and is_tensor and _is_form(statement.test, choice.asked))
    return isinstance(statement, ast.Pass)


def _only_asks(test: ast.expr) -> bool:
    """Whether a test changes nothing, as it calls nothing but what asks for a form or a place: `v.is_cuda`."""
    return all(
        last_word(n.func) in OF_FORM if isinstance(n, ast.Call) else not isinstance(n, (ast.NamedExpr, ast.Await))
        for n in ast.walk(test)
    )


def _is_form(node: ast.expr, asked: str) -> bool:
    """Whether something depends on nothing but how many axes and numbers the value has: `len(v.shape) == 0`."""
    if isinstance(node, ast.Compare):
        return all(_is_form(each, asked) for each in (node.left, *node.comparators))
    if isinstance(node, ast.BoolOp):
        return all(_is_form(each, asked) for each in node.values)
    if isinstance(node, ast.Call) and not node.keywords:
        if isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1:
            return _is_form(node.args[0], asked)
        return not node.args and isinstance(node.func, ast.Attribute) and _is_form(node.func, asked)
    if isinstance(node, ast.Attribute):
        return node.attr in FORMS and _is_value(node.value, asked)
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(_is_form(each, asked) for each in node.elts)
    return isinstance(node, ast.Constant)


def _shape(node: object, choice: Choice) -> object:
    """What a piece of code does: the value itself where it is converted."""
    if isinstance(node, list):
        is_block = bool(node) and isinstance(node[0], ast.stmt)
        return _block(node, choice)[0] if is_block else tuple(_shape(each, choice) for each in node)
    if not isinstance(node, ast.AST):
        return (type(node).__name__, node)
    if isinstance(node, ast.expr) and _is_value(node, choice.asked):
        return VALUE
    if _asks(node, choice.asked):
        return ("asked", choice.told)
    if isinstance(node, ast.IfExp) and _tests(node.test, choice.asked):
        found, _ = _chosen(node.test, [node.body], [node.orelse], choice)
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
    if isinstance(test, ast.Compare):
        return _has_one(test, choice)
    if not isinstance(test, ast.Call) or not _asks(test, choice.asked) or choice.kind == OTHER:
        return None
    name = last_word(test.func)
    if name == "is_tensor":
        return choice.kind == TENSOR
    if name == "hasattr" and len(test.args) == 2:
        return _has(test.args[1], choice)
    if name == "isinstance" and len(test.args) == 2:
        classes = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]
        found = [_is_of(last_word(cls), choice) for cls in classes]
        return True if True in found else None if None in found else False
    return None


def _has_one(test: ast.Compare, choice: Choice) -> bool | None:
    """What `v.numel() == 1` comes to for a tensor: it has one number, where it can be converted."""
    call, other = test.left, test.comparators[0]
    if not choice.is_followed or choice.kind != TENSOR or len(test.ops) > 1 or not isinstance(call, ast.Call):
        return None
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in COUNTING:
        return None
    if not _is_value(call.func.value, choice.asked):
        return None
    if not isinstance(other, ast.Constant) or not isinstance(other.value, int):
        return None
    compare = COMPARISONS.get(type(test.ops[0]))
    return None if compare is None else compare(1, other.value)


def _is_of(cls: str, choice: Choice) -> bool | None:
    is_tensor = choice.kind == TENSOR
    if cls in TENSORS:
        return is_tensor
    if cls in OF_NUMBERS:
        return not is_tensor
    return False if cls in OF_NEITHER or (cls == "int" and is_tensor) else None


def _has(name: ast.expr, choice: Choice) -> bool | None:
    known = name.value if isinstance(name, ast.Constant) else None
    if isinstance(known, str) and known in TENSOR_ATTRIBUTES:
        return choice.kind == TENSOR or hasattr(1.0, known)
    return None
