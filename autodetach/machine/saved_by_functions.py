"""What a `torch.autograd.Function` of the program saves for its `backward`, which then must not be changed in place.

Measured on PyTorch 2.13: what `ctx.save_for_backward` is given is noted with its version when `forward` is over;
`ctx.saved_tensors` raises if any of it has another version by then, whether it requires grad or not. Only arguments and
results that are given by their names are followed, where both calls are made on every way.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.kept import kept
from autodetach.machine.graph import Storage
from autodetach.machine.values import Tensor, Value

COMPOUND = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.AsyncWith, ast.Match)
READS = frozenset({"saved_tensors", "saved_variables"})
RESULT = -1
"""In the place of the number of an argument: what `forward` returns."""


def saved_by(cls: ast.ClassDef, args: list[Value], result: Tensor) -> tuple[tuple[Storage, int], ...]:
    """The memory that an application of the function saves, each with its version."""
    given = {number: args[number] for number in _saved(cls) if number < len(args)}
    tensors = [result if number == RESULT else value for number, value in given.items()]
    return tuple((t.storage, t.storage.version) for t in tensors if isinstance(t, Tensor))


@kept
def _saved(cls: ast.ClassDef) -> frozenset[int]:
    """The arguments that are saved, by their number."""
    methods = {s.name: s for s in cls.body if isinstance(s, ast.FunctionDef)}
    forward, backward, setup = (methods.get(name) for name in ("forward", "backward", "setup_context"))
    if forward is None or backward is None or not any(_reads(s) for s in _on_every_way(backward)):
        return frozenset()
    saving = setup or forward
    calls = [n for n in ast.walk(saving) if isinstance(n, ast.Call) and _attribute(n.func) == "save_for_backward"]
    always = [s.value for s in _on_every_way(saving) if isinstance(s, ast.Expr)]
    is_dirty = any(_attribute(n) == "mark_dirty" for n in ast.walk(cls))
    if len(calls) != 1 or calls[0] not in always or is_dirty:
        return frozenset()
    names = _named(forward) if setup is None else _named_in_setup(setup)
    return frozenset(names[a.id] for a in calls[0].args if isinstance(a, ast.Name) and a.id in names)


def _on_every_way(method: ast.FunctionDef) -> Iterator[ast.stmt]:
    """The simple statements that run whatever is decided before them."""
    pending = method.body[::-1]
    while pending:
        statement = pending.pop()
        if isinstance(statement, ast.With):
            pending += statement.body[::-1]
            continue
        if not isinstance(statement, COMPOUND):
            yield statement
        if any(isinstance(n, ast.Return) for n in ast.walk(statement)):
            return


def _reads(statement: ast.stmt) -> bool:
    """Whether a statement asks for what was saved, and not only if something else is so."""
    if any(isinstance(n, (ast.IfExp, ast.BoolOp, ast.Lambda)) for n in ast.walk(statement)):
        return False
    return any(_attribute(n) in READS for n in ast.walk(statement))


def _named(forward: ast.FunctionDef) -> dict[str, int]:
    """The arguments behind the context, and what is returned, by the names that mean nothing else."""
    spec = forward.args
    names = {a.arg: number for number, a in enumerate([*spec.posonlyargs, *spec.args][1:])}
    bound = _bound(forward)
    returned = [n.value for n in ast.walk(forward) if isinstance(n, ast.Return)]
    found = {name: number for name, number in names.items() if bound.count(name) == 0}
    if len(returned) == 1 and isinstance(returned[0], ast.Name) and bound.count(returned[0].id) == 1:
        found.setdefault(returned[0].id, RESULT)
    return found


def _named_in_setup(setup: ast.FunctionDef) -> dict[str, int]:
    """The same of `setup_context(ctx, inputs, output)`, which takes its inputs apart by `x, y = inputs`."""
    spec = [a.arg for a in setup.args.args]
    bound = _bound(setup)
    if len(spec) != 3 or not set(spec).isdisjoint(bound):
        return {}
    _, inputs, output = spec
    found = {output: RESULT}
    for statement in _on_every_way(setup):
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name) and statement.value.id == inputs:
            for target in statement.targets:
                elements = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
                if not any(isinstance(e, ast.Starred) for e in elements):
                    names = {e.id: number for number, e in enumerate(elements) if isinstance(e, ast.Name)}
                    found.update({name: number for name, number in names.items() if bound.count(name) == 1})
    return found


def _bound(method: ast.FunctionDef) -> list[str]:
    return [n.id for n in ast.walk(method) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]


def _attribute(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ""
