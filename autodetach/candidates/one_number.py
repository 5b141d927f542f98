"""Whether a call gives one number, as what is differentiated without a `gradient` has to be."""

from __future__ import annotations

import ast

from autodetach.machine.loss_options import is_reduced, options_of_call
from autodetach.machine.program_values import Frame, Instance
from autodetach.machine.torch_facts import Shape
from autodetach.machine.torch_modules import MODULES
from autodetach.machine.torch_operations import OPS
from autodetach.view.kept import is_of
from autodetach.view.meant import object_of
from autodetach.view.program import Program


def gives_one_number(program: Program, call: ast.Call, op: str, frame: object) -> bool:
    """Whether a call gives one, as far as the name of the operation and its options say.

    So does a loss, but not with `reduction="none"`, and a sum or a mean, but not over some dimensions alone.
    """
    facts = MODULES[op].op if op in MODULES else OPS.get(op)
    if facts is None:
        return False
    if facts.shape is Shape.LOSS:
        return is_reduced(_options(call, op, frame))
    if facts.shape is Shape.REDUCE:
        given = len(call.args) + (0 if is_of(program, call, ("torch",)) else 1)
        return given <= facts.dim_at and not any(k.arg in ("dim", "axis", None) for k in call.keywords)
    return facts.shape is Shape.SCALAR


def _options(call: ast.Call, op: str, frame: object) -> dict[str, object]:
    """What a loss is given, or its module was made with; what is no constant stands for something unknown."""
    if op not in MODULES:
        return _written(op, call)
    if isinstance(call.func, ast.Call):
        return _written(op, call.func)
    this = object_of(call.func, frame) if isinstance(frame, Frame) else None
    return dict(this.attrs) if isinstance(this, Instance) else {}


def _written(name: str, call: ast.Call) -> dict[str, object]:
    args = [a.value if isinstance(a, ast.Constant) else a for a in call.args]
    kwargs = {k.arg or "**": k.value.value if isinstance(k.value, ast.Constant) else k.value for k in call.keywords}
    return options_of_call(name, args, kwargs)
