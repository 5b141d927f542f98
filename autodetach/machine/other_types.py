"""Where a number is the value of a tensor whose type is not the default one: what is made of the number has another.

A tensor without dimensions has its type in a sum with integers, or with another one without dimensions, and gives it to
what is made by `torch.tensor`; a number has the default one there.
https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch-dtype
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from autodetach.kept import kept
from autodetach.machine.core import Core, tags_in
from autodetach.machine.dtypes import OTHER_FLOATS
from autodetach.machine.graph import Site
from autodetach.machine.number_readers import FRACTION, wanted
from autodetach.machine.told_of_values import may_be_no_tensor
from autodetach.machine.values import Opaque, Sym, Tensor, Value

TELLING = OTHER_FLOATS | {"set_default_dtype", "set_default_tensor_type"}
"""By what a program may come to tensors of floating point that have not the type of all others."""
OF_ARRAYS = frozenset({"from_numpy"})
"""By what it comes to the type of arrays, unless it makes that the default one."""
USUAL = frozenset({"float", "float32", "FloatTensor"})


def meets(m: Core, left: Value, right: Value, site: Site) -> None:
    """An operator is applied to a number that was read from a tensor, and to what may give the result its type."""
    number, other = (left, right) if type(left) is Sym else (right, left)
    if not (type(number) is Sym and FRACTION in number.tags):
        return
    if isinstance(other, Tensor):
        keeps_type = other.is_float is True and bool(other.shape)
    else:
        keeps_type = not isinstance(other, Opaque) or may_be_no_tensor(other)
    if not keeps_type and _has_other_types(m):
        wanted(m, [number], site, "dtype")


def made_of(m: Core, values: Iterable[Value], site: Site) -> None:
    """A tensor is made of some values, among them perhaps such numbers, by what they are."""
    numbers = [value for value in values if FRACTION in tags_in(value)]
    if numbers and _has_other_types(m):
        wanted(m, numbers, site, "dtype")


def _has_other_types(m: Core) -> bool:
    """Whether the program mentions another type of floating point, or what brings one along."""
    if m.project is None:
        return False
    words = [_words(statement) for module in m.project.modules for statement in module.tree.body]
    if not all(map(TELLING.isdisjoint, words)):
        return True
    return not all(map(OF_ARRAYS.isdisjoint, words)) and all(map(USUAL.isdisjoint, words))


@kept
def _words(statement: ast.stmt) -> frozenset[str]:
    """What of these words a statement mentions."""
    return (TELLING | OF_ARRAYS | USUAL).intersection(map(_word, ast.walk(statement)))


def _word(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return "" if node.id == "float" else node.id  # that makes a number
    if isinstance(node, ast.alias):
        return node.name
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.rpartition(".")[2]
    return ""
