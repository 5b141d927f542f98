"""`functional_call(module, params, inputs)`: a module is called with other parameters than its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.arguments import flatten, written_at, written_by_name
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.module_tree import parameters_of
from autodetach.machine.number_readers import wanted
from autodetach.machine.program_values import Instance
from autodetach.machine.spelling import spelled
from autodetach.machine.torch_semantics import Op, Saved
from autodetach.machine.values import Mapping, Sequence, Tensor, Value

GIVEN = ("parameter_and_buffer_dicts", "parameters_and_buffers")
"""What `torch.func` and `torch.nn.utils.stateless` call what the parameters are given in."""


def functional_call(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """Call a module in view with the tensors that are given for its parameters; of any other, one node.

    See https://docs.pytorch.org/docs/stable/generated/torch.func.functional_call.html
    """
    wanted(m, [*args, *kwargs.values()], site, "functional_call")
    params = args[1] if len(args) > 1 else next((kwargs[name] for name in GIVEN if name in kwargs), None)
    given = args[2] if len(args) > 2 else kwargs.get("args")
    values: list[Value] = list(given.items) if isinstance(given, Sequence) else [] if given is None else [given]
    by_name = args[3] if len(args) > 3 else kwargs.get("kwargs")
    named = _named(by_name)
    module = args[0] if args else kwargs.get("module")
    weights = flatten([params])
    _name(m, params, site)
    if isinstance(module, Instance) and named is not None:
        pairs = list(zip(parameters_of(module), weights, strict=False))
        replaced = [(p, w) for p, w in pairs if isinstance(w, Tensor)]
        if replaced and len(replaced) == len(pairs):
            return _with_parameters(m, module, replaced, (values, named), site)
    return m.derive("functional_call", Op(Saved.OPERANDS), flatten([*values, by_name, *weights]), site)


def _named(given: Value) -> dict[str, Value] | None:
    """The named arguments of the module; None where they are not all known."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not given.exact:
        return None
    named = {key: value for key, value in given.items.values() if isinstance(key, str)}
    return named if len(named) == len(given.items) else None


def _with_parameters(
    m: Core,
    module: Instance,
    replaced: list[tuple[Tensor, Tensor]],
    arguments: tuple[list[Value], dict[str, Value]],
    site: Site,
) -> Value:
    kept = [(p, p.node, p.storage) for p, _ in replaced]
    given = {id(p): w for p, w in replaced}
    for p, w in replaced:
        p.node, p.storage = w.node, w.storage
    begun = len(m.nodes)
    try:
        return m.call(module, *arguments, site)
    finally:
        for p, node, storage in kept:
            p.node, p.storage = node, storage
        for made in m.nodes[begun:]:  # the parameters have their own graph again: it was made of what was given
            if not given.keys().isdisjoint(map(id, made.operands)):
                made.operands = tuple(given.get(id(o), o) for o in made.operands)


def _name(m: Core, params: Value, site: Site) -> None:
    """Parameters have the name of what gives them: those that the module reads by names of its own, too."""
    written = written_at(site, 1) or next(filter(None, (written_by_name(site, name) for name in GIVEN)), None)
    for part, value in _parts(written, params):
        for weight in flatten([value]):
            if isinstance(weight, Tensor):
                m.state_names.setdefault(weight, spelled(part))


def _parts(written: ast.expr | None, params: Value) -> Iterator[tuple[ast.expr, Value]]:
    """Parameters and buffers may be given in several dicts: `(params, buffers)`."""
    if isinstance(written, ast.Tuple) and isinstance(params, Sequence) and len(written.elts) == len(params.items):
        yield from zip(written.elts, params.items, strict=True)
    elif written is not None:
        yield written, params
