"""Whether a call may give the very memory that it is given, by what it is asked or by what the machine has seen."""

from __future__ import annotations

import ast

from autodetach.machine.spelling import last_word
from autodetach.machine.torch_semantics import FACTORIES, INPLACE_AT, OPS, lookup
from autodetach.view.entered import computed_in
from autodetach.view.imported import imported_as
from autodetach.view.program import Program

WRAPPING = frozenset("Parameter Variable as_tensor asarray from_numpy".split())
SHARING = WRAPPING | frozenset("data detach numpy real requires_grad_ reshape".split())
"""What gives the same memory, beside the views that PyTorch knows as such."""
HANDING_ON = frozenset("Dropout Dropout1d Dropout2d Dropout3d Flatten Identity Unflatten".split())
"""Modules of PyTorch that may give what they are given, or a view of it."""
OF_AUTOGRAD = frozenset("backward grad hessian hvp jacobian jvp vhp vjp".split())
"""What gives gradients, which are tensors of their own."""
TRAINING_AT = 2
"""Where `training` stands among the arguments of a dropout, which does nothing without it."""


def is_sharing(name: str) -> bool:
    """Whether an attribute or a function of that name gives the same memory."""
    return name in SHARING or lookup(name).view


def hands_on(program: Program, call: ast.Call) -> bool:
    """Whether what a call gives may be what it is given, or a view of that; where that is not known, it may."""
    name = last_word(call.func)
    if is_sharing(name):
        return True
    if is_of_torch(program, call):
        return _asked_to(call, name) or not (name in OPS or name in FACTORIES or name in OF_AUTOGRAD)
    found = computed_in(program, call)
    own = {node.op for node, inner in found if inner.node is call}
    if any("<lambda>" in inner.scope for _, inner in found):
        return True
    return bool(own) and all(op in HANDING_ON or is_sharing(op) or (op in INPLACE_AT and call.args) for op in own)


def source_of(program: Program, call: ast.Call) -> ast.expr | None:
    """What such a call is given: a method its object, a function or a layer its first argument."""
    own = {node.op for node, inner in computed_in(program, call) if inner.node is call}
    is_layer = any(op[:1].isupper() or op in INPLACE_AT for op in own)
    if isinstance(call.func, ast.Attribute) and not is_of_torch(program, call) and not (is_layer and call.args):
        return call.func.value
    return call.args[0] if call.args else None


def _asked_to(call: ast.Call, name: str) -> bool:
    """Whether a function of PyTorch is asked for work in place, to drop nothing, or for no product."""
    named = {k.arg: k.value for k in call.keywords}
    at = INPLACE_AT.get(name, len(call.args))
    in_place = named.get("inplace", call.args[at] if len(call.args) > at else None)
    if None in named or (in_place is not None and not _is(in_place, False)):
        return True
    if name.endswith("dropout") or name[:-2].endswith("dropout"):
        training = named.get("training", call.args[TRAINING_AT] if len(call.args) > TRAINING_AT else None)
        return training is not None and not _is(training, True)
    return name == "einsum" and len(call.args) < 3


def _is(value: ast.expr, what: bool) -> bool:
    return isinstance(value, ast.Constant) and value.value is what


def is_of_torch(program: Program, call: ast.Call) -> bool:
    return imported_as(program, call).partition(".")[0] == "torch"
