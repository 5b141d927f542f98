"""What the arguments of a call hold, and where they are written."""

from __future__ import annotations

import ast

from autodetach.machine.graph import Site
from autodetach.machine.marks import is_mark
from autodetach.machine.program_values import Class, Instance, Iterable
from autodetach.machine.told_of_values import is_constant, is_number, is_truth
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor, Value


def parameter_names(spec: ast.arguments) -> frozenset[str]:
    """The names of the parameters that each take one argument."""
    return frozenset(a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs))


def all_parameter_names(spec: ast.arguments) -> frozenset[str]:
    """The names of all parameters, those for the rest of the arguments (`*args`, `**kwargs`) included."""
    return parameter_names(spec).union(a.arg for a in (spec.vararg, spec.kwarg) if a is not None)


def flatten(values: list[Value], depth: int = 3) -> list[Value]:
    """Tensors and numbers of the arguments; those in lists, tuples and dicts too."""
    flat: list[Value] = []
    for value in values:
        if isinstance(value, Sequence) and depth:
            flat.extend(flatten(value.items[:64], depth - 1))
        elif isinstance(value, (Tensor, Opaque)) or is_number(value):
            flat.append(value)
        elif isinstance(value, Instance) and isinstance(value.cls, Class) and value.cls.frozen and depth:
            flat.extend(flatten([v for k, v in value.attrs.items() if not is_mark(k)], depth - 1))
        elif isinstance(value, Iterable) and depth:
            flat.extend(flatten([v for _, v in zip(range(8), value.start(False), strict=False)], depth - 1))
        elif hasattr(value, "items") and isinstance(value.items, dict) and depth:
            flat.extend(flatten([v for _, v in value.items.values()], depth - 1))
    return flat


def constant(value: Value) -> object:
    """A value as it stands in a table: numbers, texts and tuples of numbers."""
    if isinstance(value, Sequence) and value.exact and all(isinstance(v, int) for v in value.items):
        return tuple(value.items)
    return value if is_constant(value) else None


def is_certain_number(value: Value) -> bool:
    """A Python number, or a list of nothing but these: what `torch.stack` and its like refuse."""
    if isinstance(value, Sequence):
        return bool(value.items) and all(is_certain_number(v) for v in value.items)
    return is_truth(value) or (is_number(value) and not (is_constant(value) and isinstance(value, bool)))


def has_no_tensor(values: Value) -> bool:
    """Whether a list of operands has a Python number among them, or a list."""
    return isinstance(values, Sequence) and any(
        is_certain_number(v) or (isinstance(v, Sequence) and v.kind in ("list", "tuple") and not v.attrs)
        for v in values.items
    )


def written_at(site: Site, index: int) -> ast.expr | None:
    """The expression of a positional argument of a call, or None."""
    node = site.node
    if isinstance(node, ast.Call) and index < len(node.args) and not isinstance(node.args[index], ast.Starred):
        return node.args[index]
    return None


def written_by_name(site: Site, name: Value) -> ast.expr | None:
    """The expression of a keyword argument of a call, or None."""
    keywords = site.node.keywords if isinstance(site.node, ast.Call) else []
    return next((keyword.value for keyword in keywords if keyword.arg is not None and keyword.arg == name), None)


def written_in_dict(source: ast.expr | None, held: Mapping) -> list[tuple[Value, Value, ast.expr | None]]:
    """What a dict holds, each with its expression; if `source` writes none of them out, it stands for all."""
    pairs = list(held.items.values())
    made = source.value if isinstance(source, ast.DictComp) else source
    written: list[ast.expr | None] = [made] * len(pairs)
    if isinstance(source, ast.Dict) and None not in source.keys and len(source.values) == len(pairs):
        written = [*source.values]
    return [(key, value, element) for (key, value), element in zip(pairs, written, strict=True)]


def are_all_known(args: list[Value], site: Site) -> bool:
    """Whether a call is given `args` and no more: what it spreads (`Sequential(*layers)`) is known to the last."""
    node = site.node
    spread = [a.value for a in node.args if isinstance(a, ast.Starred)] if isinstance(node, ast.Call) else []
    return all(_is_within(value, len(args)) for e, value in site.operands if any(e is s for s in spread))


def spreads_unknown(site: Site) -> bool:
    """Whether nobody knows how many arguments a call is given: `torch.zeros(*sizes)`."""
    node = site.node
    spread = [a.value for a in node.args if isinstance(a, ast.Starred)] if isinstance(node, ast.Call) else []
    given = [value for e, value in site.operands if any(e is s for s in spread)] if spread else []
    return not all(isinstance(value, Sequence) and value.exact for value in given)


def _is_within(value: object, most: int) -> bool:
    if isinstance(value, (Sequence, Mapping)):
        return value.exact and len(value.items) <= most
    if isinstance(value, Iterable):
        return value.whole or (value.length is not None and value.length <= most)
    return not isinstance(value, Opaque)
