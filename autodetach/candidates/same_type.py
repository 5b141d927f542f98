"""Whether tensors surely have the type that a copy of their values is given, so that they can take its place.

`torch.tensor` takes the type of the tensors that it is given. `torch.FloatTensor`, a `dtype`, and what is made of
numbers do not: what computes with the result would raise on tensors of double precision, or become such a one.
"""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.children import walk
from autodetach.machine.in_view import is_import_in_view
from autodetach.machine.other_types import OF_ARRAYS, TELLING
from autodetach.machine.spelling import last_word
from autodetach.view.program import Program

OTHERWISE = TELLING | OF_ARRAYS | frozenset("numpy autocast load hub get_default_dtype set_default_device".split())
"""By what a program may come to another type than tensors of floating point have unless it is told."""
CASTS = {
    "BFloat16Tensor": "bfloat16",
    "DoubleTensor": "double",
    "FloatTensor": "float",
    "HalfTensor": "half",
}
"""The method that gives the type of what an old name of a type makes."""
USUAL = frozenset({"FloatTensor", "Tensor"})


def may_change_type(program: Program, call: ast.Call, *, of_numbers: bool) -> bool:
    """Whether the tensors may be of another type than what a call makes of their values, or of numbers read from them.

    A `dtype` that is asked for is known to be the usual one.
    """
    name = last_word(call.func)
    if name in CASTS and name not in USUAL:
        return True
    is_told = name in USUAL or of_numbers or any(k.arg == "dtype" for k in call.keywords)
    return is_told and not all(map(_has_usual_types, program.analysis.trees))


@kept
def _has_usual_types(tree: ast.Module) -> bool:
    return not any(_tells_otherwise(node) for node in walk(tree))


def _tells_otherwise(node: ast.AST) -> bool:
    match node:
        case ast.Name(id="float"):
            return False  # that makes a number
        case ast.Name() | ast.Attribute():
            return last_word(node) in OTHERWISE
        case ast.Constant(value=str(text)):
            return text.rpartition(".")[2] in OTHERWISE
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            told = {part for alias in names for part in alias.name.split(".")}
            return not told.isdisjoint(OTHERWISE) or not is_import_in_view(node)
    return False
