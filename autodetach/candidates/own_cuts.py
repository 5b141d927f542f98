"""What a program has for cutting its states and does not call there: `model.detach_states()`, `detach_net(net)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.reads import Repair
from autodetach.machine.activations import Activation
from autodetach.machine.classes import linear_order
from autodetach.machine.program_values import Class, Frame, Function, Instance
from autodetach.machine.values import Value
from autodetach.view.crossings import Crossed
from autodetach.view.holders import Replay
from autodetach.view.moments import Moment, behind_step, placed
from autodetach.view.program import Program


def own_cuts(
    program: Program, again: Replay, d: Moment, activation: Activation, crossed: list[Crossed]
) -> Iterator[Repair]:
    """Call what detaches the states of an object on the one that holds them all, behind the step."""
    from autodetach.codemods.insert_statement import InsertStatement

    held = [{(h.frame, h.name) for h in again.of(operand)} for _, operand, _ in crossed]
    for frame, name in sorted(set.intersection(*held), key=lambda pair: pair[1]) if held else ():
        statement = placed(program, d, frame, activation.node)
        this = frame.names.get(name)
        if statement is None or not isinstance(this, Instance):
            continue
        for call in dict.fromkeys(_calls(frame, name, this)):
            anchor = behind_step(program, again.machine, d, statement, frame)
            yield f"call `{call}` at the end of the pass", (InsertStatement(anchor, call),)


def _calls(frame: Frame, name: str, this: Instance) -> Iterator[str]:
    """The calls by which this object may be told to detach what it holds."""
    for cls in linear_order(this.cls) if isinstance(this.cls, Class) else ():
        methods = cls.names.items() if isinstance(cls, Class) else ()
        yield from (f"{name}.{method}()" for method, value in methods if _cuts(value, method))
    functions = frame.top.names.items()
    yield from (f"{function}({name})" for function, value in functions if _cuts(value, function))


def _cuts(value: Value, name: str) -> bool:
    """Whether a function takes one object, and does nothing with it but to detach what it holds."""
    if not isinstance(value, Function) or not isinstance(value.node, ast.FunctionDef) or value.name != name:
        return False
    node, spec = value.node, value.node.args
    needed = [*spec.posonlyargs, *spec.args][: len(spec.posonlyargs) + len(spec.args) - len(spec.defaults)]
    if len(needed) != 1 or any(d is None for d in spec.kw_defaults) or node.decorator_list:
        return False
    return _has_detach(node) and all(_only_cuts(statement) for statement in node.body)


def _only_cuts(statement: ast.stmt) -> bool:
    """Whether a statement is about nothing else: it may have another effect, which is not meant in every pass."""
    if isinstance(statement, (ast.For, ast.If)):
        return all(_only_cuts(inner) for inner in (*statement.body, *statement.orelse))
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant) or _has_detach(statement)
    return isinstance(statement, ast.Pass) or (isinstance(statement, ast.Assign) and _has_detach(statement))


def _has_detach(node: ast.AST) -> bool:
    """`h.detach()`, `layer.detach_states()`."""
    calls = (n.func for n in ast.walk(node) if isinstance(n, ast.Call))
    return any(isinstance(f, ast.Attribute) and f.attr.startswith("detach") for f in calls)
