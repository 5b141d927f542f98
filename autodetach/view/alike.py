"""Whether an update gives a tensor of the shape and type of what it updates, so that it may as well be in place.

In place a tensor keeps its shape, its type and its memory: `w -= rates[:, None] * w.grad` raises where `w - ...` has
more dimensions than `w`, and gives another result where it has another type.
"""

from __future__ import annotations

import ast
import enum
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import walk
from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.told_of_values import is_number
from autodetach.machine.values import Tensor, Value
from autodetach.node_types import CALLABLES
from autodetach.view.kept import is_of
from autodetach.view.program import Program

BY_ELEMENTS = frozenset(
    """
    abs add addcdiv addcmul atan ceil clamp clamp_max clamp_min clip clone contiguous cos detach div divide erf exp
    floor fmod lerp log log1p maximum minimum mul multiply nan_to_num neg negative normalize pow reciprocal relu renorm
    round rsqrt sgn sigmoid sign sin sqrt square sub subtract tanh true_divide trunc
    """.split()
)
"""Operations whose result has the shape and the type of what they are given."""
LIKE_ANOTHER = frozenset("empty_like full_like ones_like rand_like randn_like zeros_like".split())
OF_ALL_ELEMENTS = frozenset("amax amin max mean median min norm prod std sum var vector_norm".split())
"""Operations that give a tensor without dimensions, unless they are told of some."""
OF_SIZES = frozenset("empty ones rand randn zeros".split())
"""What makes a tensor of the default type, of the sizes that it is given."""
SPREADING = frozenset("as_strided broadcast_tensors broadcast_to expand expand_as unfold".split())
"""What gives several elements one place in memory."""
DEFAULTS = frozenset({"set_default_dtype", "set_default_tensor_type"})
OTHERWISE = frozenset({None, "device", "dtype", "out"})
"""Keywords that ask for another type or place."""
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
BINDING = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)
INPUTS = 1
"""The place of `inputs` among the arguments of `torch.autograd.grad`."""
PLACES = (ast.Name, ast.Attribute, ast.Subscript)


class Kind(enum.IntEnum):
    """What is known of an operand: what is computed of several has the last of their kinds."""

    NUMBER = 0
    SCALAR = 1
    """A tensor of no dimension, of the type of what is updated."""
    LIKE = 2
    """A tensor of the shape and type of what is updated."""


def is_alike(program: Program, updates: Iterable[ast.Assign]) -> bool:
    """Whether each `w = w - change` gives what `w -= change` does, as far as shape, type and memory go."""
    values = _operands(program)
    return all(_Update(program, update, values).is_alike() for update in updates)


def _operands(program: Program) -> Mapping[ast.AST, list[Value]]:
    """What the operands of operators were where one of them came from a gradient."""
    found: dict[ast.AST, list[Value]] = defaultdict(list)
    for run in program.runs:
        for site in run.machine.of_gradient:
            for expression, value in site.operands:
                found[expression].append(value)
    return found


class _Update:
    """One statement `w = w - change`, with the values that operands had."""

    def __init__(self, program: Program, statement: ast.Assign, values: Mapping[ast.AST, list[Value]]) -> None:
        self._program = program
        self._values = values
        self._value = statement.value
        self._target = statement.targets[0]
        self._name = spelled(self._target)
        self._scope = program.scope(statement)
        self._file = program.file_of(statement)
        self._pending: set[str] = set()

    def is_alike(self) -> bool:
        whole = self._value
        return isinstance(whole, ast.BinOp) and not self._is_spread(whole.left) and self._kind(whole.right) is not None

    def _is_spread(self, updated: ast.expr) -> bool:
        """Whether several elements of the tensor may lie in one place, as those of `torch.ones(1).expand(3)`."""
        if any(isinstance(v, Tensor) and v.order == "deep" for v in self._values.get(updated, ())):
            return True
        return any(
            isinstance(node, ast.Call) and last_word(node.func) in SPREADING
            for place in self._stores(self._name)
            for node in ast.walk(self._program.statement(place) or place)
        )

    def _kind(self, expression: ast.expr) -> Kind | None:
        """What an operand is for certain; None where it may have other dimensions or another type."""
        seen = self._values.get(expression, ())
        if seen and all(map(is_number, seen)):
            return Kind.NUMBER
        if spelled(expression) == self._name:
            return Kind.LIKE
        match expression:
            case ast.Constant(value):
                return Kind.NUMBER if type(value) in (int, float) else None
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                return self._kind(operand)
            case ast.BinOp(left=left, op=op, right=right):
                return self._of_all((left, right)) if isinstance(op, ARITHMETIC) else None
            case ast.Attribute(value=owner, attr="grad" | "data"):
                return Kind.LIKE if self._kind(owner) is Kind.LIKE else None
            case ast.Call():
                return self._of_call(expression)
            case ast.Subscript():
                return Kind.LIKE if self._is_gradient(expression) else None
            case ast.Name(id=name):
                return self._of_name(name)
        return None

    def _of_all(self, expressions: Iterable[ast.expr]) -> Kind | None:
        kinds = [self._kind(expression) for expression in expressions]
        known = [kind for kind in kinds if kind is not None]
        return max(known) if known and len(known) == len(kinds) else None

    def _of_call(self, call: ast.Call) -> Kind | None:
        name = last_word(call.func)
        if any(keyword.arg in OTHERWISE for keyword in call.keywords):
            return None
        is_function = is_of(self._program, call, ("torch",))
        if name in OF_SIZES:
            return Kind.LIKE if is_function and self._is_made_alike(call) else None
        if is_function:
            given = list(call.args)
        elif isinstance(call.func, ast.Attribute):
            given = [call.func.value, *call.args]
        else:
            given = call.args if name == "abs" else []
        if not given or self._kind(given[0]) is not Kind.LIKE:
            return None
        rest = [*given[1:], *(keyword.value for keyword in call.keywords)]
        if name in BY_ELEMENTS or (name in LIKE_ANOTHER and is_function):
            return None if rest and self._of_all(rest) is None else Kind.LIKE
        return Kind.SCALAR if name in OF_ALL_ELEMENTS and not rest else None

    def _is_made_alike(self, call: ast.Call) -> bool:
        """Whether what is updated was made of the sizes of which this is made."""
        bound = self._bound(self._name)
        made = [value for value in bound or () if value is not self._value]
        return (
            bool(made)
            and all(
                isinstance(other, ast.Call)
                and last_word(other.func) in OF_SIZES
                and is_of(self._program, other, ("torch",))
                and [spelled(size) for size in other.args] == [spelled(size) for size in call.args]
                and all(keyword.arg == "requires_grad" for keyword in (*other.keywords, *call.keywords))
                for other in made
            )
            and all(self._is_steady(size) for size in call.args)
            and not any(self._calls_default(tree) for tree in self._program.analysis.trees)
        )

    def _is_steady(self, size: ast.expr) -> bool:
        """Whether a size is the same wherever it is written."""
        if isinstance(size, ast.Constant):
            return True
        stores = (n for n in walk(self._file) if isinstance(n, ast.Name) and _is_bound(n))
        return isinstance(size, ast.Name) and sum(n.id == size.id for n in stores) <= 1

    @staticmethod
    def _calls_default(tree: ast.Module) -> bool:
        return any(isinstance(node, ast.Call) and last_word(node.func) in DEFAULTS for node in walk(tree))

    def _of_name(self, name: str) -> Kind | None:
        """What a name is by all that it is bound to; meanwhile, it is what its other bindings make of it."""
        if name in self._pending:
            return Kind.NUMBER
        values = self._bound(name)
        if values is None:
            places = self._stores(name)
            return Kind.LIKE if places and all(map(self._is_part_of_gradient, places)) else None
        self._pending.add(name)
        try:
            return self._of_all(values)
        finally:
            self._pending.discard(name)

    def _bound(self, name: str) -> list[ast.expr] | None:
        """The values that a name, or an attribute, is bound to or changed by; None where one of them is not written."""
        found = []
        for place in self._stores(name):
            around = self._program.parents.get(place)
            if isinstance(around, (ast.Tuple, ast.List)):
                whole = self._program.parents.get(around)
                value = whole.value if isinstance(whole, ast.Assign) else None
                if not isinstance(value, (ast.Tuple, ast.List)) or len(value.elts) != len(around.elts):
                    return None
                found.append(value.elts[around.elts.index(place)])
                continue
            if not isinstance(around, BINDING) or around.value is None:
                return None
            if isinstance(around, ast.AugAssign) and not isinstance(around.op, ARITHMETIC):
                return None
            found.append(around.value)
        return None if self._is_given(name) else found

    def _is_given(self, name: str) -> bool:
        """Whether a caller gives it."""
        around = (self._scope, *self._program.enclosing(self._scope))
        return any(isinstance(at, CALLABLES) and name in all_parameter_names(at.args) for at in around)

    def _stores(self, name: str) -> Sequence[ast.expr]:
        """Where a name is bound: in the function where it is read, or else anywhere in the file."""
        everywhere = _stores_in(self._file, name)
        own = _stores_in(self._scope, name) if name.isidentifier() else []
        declared = (s for s in walk(self._file) if isinstance(s, (ast.Global, ast.Nonlocal)))
        return everywhere if not own or any(name in s.names for s in declared) else own

    def _is_part_of_gradient(self, place: ast.expr) -> bool:
        """`gw` of `gw, gb = torch.autograd.grad(loss, (w, b))`, or `(gw,) = torch.autograd.grad(loss, w)`."""
        around = self._program.parents.get(place)
        bound = self._program.parents.get(around) if isinstance(around, (ast.Tuple, ast.List)) else None
        if not isinstance(around, (ast.Tuple, ast.List)) or not isinstance(bound, ast.Assign):
            return False
        return self._is_gradient_at(bound.value, around.elts.index(place))

    def _is_gradient(self, part: ast.Subscript) -> bool:
        """`torch.autograd.grad(loss, w)[0]`; `grads[i]` of the gradients of what has `w` in that place."""
        place = part.slice.value if isinstance(part.slice, ast.Constant) else None
        if not isinstance(part.value, ast.Name):
            return self._is_gradient_at(part.value, place)
        values = self._bound(part.value.id)
        return bool(values) and all(self._is_gradient_at(v, place) or self._has_place(v, part) for v in values or ())

    def _has_place(self, call: ast.expr, part: ast.Subscript) -> bool:
        """Whether `params[i]` is updated by part `[i]` of the gradients of `params`."""
        inputs, target = self._inputs_of(call), self._target
        return (
            isinstance(target, ast.Subscript)
            and inputs is not None
            and spelled(inputs) == spelled(target.value)
            and spelled(part.slice) == spelled(target.slice)
        )

    def _is_gradient_at(self, call: ast.expr, place: object) -> bool:
        inputs = self._inputs_of(call)
        if inputs is None or type(place) is not int:
            return False
        given = inputs.elts if isinstance(inputs, (ast.Tuple, ast.List)) else [inputs]
        return 0 <= place < len(given) and spelled(given[place]) == self._name

    def _inputs_of(self, call: ast.expr) -> ast.expr | None:
        """What `torch.autograd.grad` is asked the gradient of."""
        if (
            not isinstance(call, ast.Call)
            or last_word(call.func) != "grad"
            or not is_of(self._program, call, ("torch",))
        ):
            return None
        return inputs_of(call)


def inputs_of(call: ast.Call) -> ast.expr | None:
    """What a call of `torch.autograd.grad` is asked the gradient of."""
    named = next((keyword.value for keyword in call.keywords if keyword.arg == "inputs"), None)
    return call.args[INPUTS] if named is None and len(call.args) > INPUTS else named


def _stores_in(around: ast.AST, name: str) -> list[ast.expr]:
    nodes = (node for node in walk(around) if isinstance(node, PLACES) and _is_bound(node))
    return [node for node in nodes if spelled(node) == name]


def _is_bound(node: ast.Name | ast.Attribute | ast.Subscript) -> bool:
    return not isinstance(node.ctx, ast.Load)
