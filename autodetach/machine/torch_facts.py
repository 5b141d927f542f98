"""In which terms the tables speak of PyTorch: what a node saves, what shape its result has."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from functools import cache, lru_cache

from autodetach.named_tuples import NamedTuple


class Saved(enum.Enum):
    """Which tensors the backward node of an operation unpacks.

    A node that unpacks any raises when it is walked again after it was freed, and notices in-place changes of those
    tensors. "Operands" are the tensor arguments in the order of the signature. `unpacked` is the same as code.
    """

    NOTHING = "sizes and numbers only: a second backward does not raise"
    INPUT = "the first operand"
    RESULT = "the result"
    INPUT_RESULT = "the first operand and the result"
    OPERANDS = "every operand"
    OPERANDS_RESULT = "every operand and the result"
    CROSS = "each operand for which another one requires grad"
    QUOTIENT = "the second operand; the first too if the second requires grad"
    MODULO = "both operands if the second requires grad, else nothing"
    OTHER = "masks, indices and class labels, not the operands that could require grad"
    OPAQUE = "buffers of its own: a second backward raises, but no in-place change of operands or result is noticed"

    __hash__ = object.__hash__  # that of `Enum` is Python, and looks the name up


class Shape(enum.Enum):
    """What is known of the shape of the first result."""

    SAME = "that of the first operand"
    BROADCAST = "the operands broadcast against each other"
    SCALAR = "0-dim"
    REDUCE = "0-dim when no dim is given (or None), else unknown"
    LOSS = "0-dim unless reduction='none' (or reduce=False), for inputs with a batch dimension"
    UNKNOWN = "not known"

    __hash__ = object.__hash__


class Op(NamedTuple):
    """One operation.

    `outputs`: 1; another number, for a tuple of that length; "pair", a (values, indices) tuple of which only the values
    have history; "reduce2", such a pair if `dim` is given, else one tensor; "indices", such a pair if
    `return_indices=True`, else one tensor; "each", one result for each operand, with the history of that operand alone
    (for a single operand `torch.atleast_1d` and its like return the tensor itself); "many", a tuple or list of a length
    that depends on the input.
    `view`: the result may share memory with the first operand, or be that very object.
    `differentiable`: False where the result never has history.
    `addends`: operands that are never saved, mostly because they are only added to the rest.
    `number`: what is saved when the last operand is a Python number, not a tensor, where that differs from `saved`.
    `dim_at`: where `dim` stands among the arguments of a REDUCE, the input being 0; a bool there means something else.
    `inplace`: writes to its first operand, which bumps its version, and returns that object.
    """

    saved: Saved
    shape: Shape = Shape.UNKNOWN
    outputs: int | str = 1
    view: bool = False
    differentiable: bool = True
    addends: tuple[int, ...] = ()
    number: Saved | None = None
    dim_at: int = 1
    inplace: bool = False


class Unpacked(NamedTuple):
    """What backward through one executed operation unpacks.

    `raises`: whether a second walk raises. In-place changes of `operands` (by position) and, if `result`, of the result
    are noticed.
    """

    raises: bool
    operands: frozenset[int] = frozenset()
    result: bool = False


def unpacked(
    op: Op,
    requires_grad: Sequence[bool],
    discrete: Sequence[bool] | None = None,
    *,
    indexed: bool = False,
    only_first: bool = False,
) -> Unpacked:
    """What backward through `op` unpacks, given which of its tensor operands require grad (at least one does).

    `discrete` marks the masks, indices and labels among them; without it they are those that do not require grad.
    `indexed`: `op.outputs` is "reduce2" and `dim` was given, so that the indices alone are saved.
    `only_first`: a Python number stands where the last operand could be a tensor (`x ** 2`, `x.lerp(y, 0.1)`); do not
    count it as an operand. A number that stands before a tensor (`2 ** x`) counts as an operand without grad.
    """
    required = tuple(requires_grad)
    masks = tuple(not one for one in required) if discrete is None else tuple(discrete)
    return _unpacked(op, required, masks, indexed, only_first)


@lru_cache(maxsize=4096)
def _unpacked(
    op: Op, requires_grad: tuple[bool, ...], discrete: tuple[bool, ...], indexed: bool, only_first: bool
) -> Unpacked:
    count = len(requires_grad)
    saved = op.number if only_first and op.number is not None else op.saved
    live = {i for i in range(count) if requires_grad[i] and i not in op.addends}
    raises = saved is not Saved.NOTHING
    operands: set[int] = set()
    if saved in (Saved.INPUT, Saved.INPUT_RESULT):
        operands = {0}
    elif saved in (Saved.OPERANDS, Saved.OPERANDS_RESULT):
        operands = set(range(count))
    elif saved is Saved.CROSS:
        raises = bool(live)
        operands = {i for i in range(count) if live - {i}}
    elif saved is Saved.QUOTIENT:
        operands = {0, 1} if 1 in live else {1}
    elif saved is Saved.MODULO:
        raises = 1 in live
        operands = {0, 1} if raises else set()
    elif saved is Saved.OTHER:
        raises = bool(live)
        operands = {i for i in range(count) if discrete[i]} if raises else set()
    if indexed and op.outputs == "reduce2":
        return Unpacked(raises)
    # An in-place operation that needs its old input saves a copy of it.
    hidden = {*op.addends, 0} if op.inplace else set(op.addends)
    noticed = frozenset(i for i in operands if i < count and i not in hidden)
    return Unpacked(raises, noticed, saved in (Saved.RESULT, Saved.INPUT_RESULT, Saved.OPERANDS_RESULT))


DEFAULT = Op(Saved.INPUT)
"""For names that are not in `OPS`: most differentiable functions save their input."""


class Module(NamedTuple):
    """One class of `torch.nn`, built with its defaults and in training mode.

    `params`: it has trainable parameters. `result`: "tensor"; "loss", a tensor too; "rnn", (output, h); "lstm",
    (output, (h, c)); "cell", h; "lstmcell", (h, c); "attention", (output, weights); "output_loss", a named tuple
    (output, loss); "container", whatever its children or its subclass return.
    `saved` speaks of the operands (inputs..., parameters), all parameters together being the last one.
    """

    params: bool
    result: str
    saved: Saved
    shape: Shape = Shape.UNKNOWN
    random: bool = False

    @property
    def op(self) -> Op:
        """The same as an `Op`, for `unpacked`."""
        return _op(self.saved, self.shape)


@cache
def _op(saved: Saved, shape: Shape) -> Op:
    return Op(saved, shape)
