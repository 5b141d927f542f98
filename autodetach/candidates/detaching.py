"""How a value is detached: the candidates for an expression that carries graph into a number or a container."""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Collection, Iterator
from typing import TypeGuard

from autodetach.candidates.by_parts import has_parts
from autodetach.kept import kept
from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import walk
from autodetach.machine.held import graph_in
from autodetach.machine.marks import ITEMS, is_mark
from autodetach.machine.program_values import Class, Instance
from autodetach.machine.spelling import spelled
from autodetach.machine.told_of_values import is_scalar
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor, Value
from autodetach.node_types import FUNCTIONS
from autodetach.suspect import Candidate
from autodetach.view.free_names import names_in
from autodetach.view.half_precision import may_be_half
from autodetach.view.none_by_default import may_be_none
from autodetach.view.program import Program

MAX_NAMED = 4
"""Values of a dict that a repair writes out by their names."""
NAMES = ("value", "result", "made")
"""Of which the first that is free names what a call returns that may be no tensor."""
ROUNDED = "what has 16 bits is added up with more as a number, and is rounded in another way"
SHARED = "other programs may hand other values to this file"


def has_graph(value: Value) -> bool:
    return isinstance(value, (Tensor, Opaque)) and value.node is not None and not value.node.weak


def narrowed(expression: ast.expr, operands: tuple[tuple[ast.expr, object], ...]) -> ast.expr:
    """Of `loss * n` and `0.1 * loss`, the operand that carries the graph, if it is the only one.

    Nothing is narrowed where the operand may have another shape than the result: in `row @ w`, in `scale * w` with
    a `scale` that is no number.
    """
    if not (isinstance(expression, ast.BinOp) and isinstance(expression.op, (ast.Mult, ast.Div))):
        return expression
    sides = [(e, v) for e, v in operands if e is expression.left or e is expression.right]
    carrying = [(e, v) for e, v in sides if has_graph(v)]
    if len(carrying) != 1:
        return expression
    inner, value = carrying[0]
    if any(isinstance(v, Tensor) for e, v in sides if e is not inner) and not is_scalar(value):
        return expression
    return narrowed_to(inner, value)


def narrowed_to(expression: ast.expr, value: Value) -> ast.expr:
    """As `narrowed`, for an expression whose operation has made a value."""
    node = getattr(value, "node", None)
    return narrowed(expression, node.site.operands if node is not None and node.site.node is expression else ())


def leaves_of_display(expression: ast.expr, value: Value) -> list[tuple[ast.expr, Value]]:
    """The parts of `(step, loss)`, `{"loss": loss}`, `Record(loss=loss)` that carry graph; or a tensor itself."""
    if has_graph(value):
        return [(expression, value)]
    found: list[tuple[ast.expr, Value]] = []
    if isinstance(expression, (ast.Tuple, ast.List)) and isinstance(value, Sequence):
        for e, v in zip(expression.elts, value.items, strict=False):
            found += leaves_of_display(e, v)
    elif isinstance(expression, ast.Dict) and isinstance(value, Mapping):
        if None in expression.keys:  # of `{**out, "loss": loss}`, what is named
            named = [(k.value, e) for k, e in zip(expression.keys, expression.values, strict=True) if _is_name(k)]
            held = [(e, value.items.get(("c", "str", name))) for name, e in named]
            pairs = [(e, item[1]) for e, item in held if item is not None]
        else:
            pairs = [(e, v) for e, (_, v) in zip(expression.values, value.items.values(), strict=False)]
        for e, v in pairs:
            found += leaves_of_display(e, v)
    elif isinstance(expression, (ast.ListComp, ast.GeneratorExp)) and isinstance(value, Sequence) and value.items:
        carrying = [v for v in value.items if has_graph(v)]
        if carrying:
            found.append((expression.elt, carrying[-1]))
    elif isinstance(expression, ast.DictComp) and isinstance(value, Mapping):
        carrying = [v for _, v in value.items.values() if has_graph(v)]
        if carrying:
            found.append((expression.value, carrying[-1]))
    elif _copies_comprehension(expression):
        found += leaves_of_display(expression.args[0], value)
    elif rows := rows_of(expression, value):
        found += rows
    elif isinstance(expression, ast.Call):
        attrs = getattr(value, "attrs", {})
        for k in expression.keywords:
            if k.arg is not None and k.arg in attrs and has_graph(attrs[k.arg]):
                found.append((k.value, attrs[k.arg]))
            elif k.arg is not None and isinstance(value, Mapping):
                item = value.items.get(("c", "str", k.arg))
                if item is not None and has_graph(item[1]):
                    found.append((k.value, item[1]))
        for a in expression.args:
            matching = [v for v in attrs.values() if has_graph(v)]
            if isinstance(a, (ast.Name, ast.Attribute)) and len(matching) == 1 and len(expression.args) == 1:
                found.append((a, matching[0]))
        if not found and attrs:
            names = [v for n, v in attrs.items() if not is_mark(n)]
            for a, v in zip(expression.args, names, strict=False):
                found += leaves_of_display(a, v)
    return found


def rows_of(expression: ast.expr, value: Value) -> list[tuple[ast.expr, Value]]:
    """Of `list(tail)`, the tensor whose rows it holds."""
    if not isinstance(expression, ast.Call) or not isinstance(value, Sequence):
        return []
    made = [v.node for v in value.items if isinstance(v, Tensor) and v.node is not None]
    operands = made[-1].site.operands if made and made[-1].site.node is expression else ()
    return [(e, v) for e, v in operands if e in expression.args and isinstance(v, Tensor) and has_graph(v)]


def _copies_comprehension(expression: ast.expr) -> TypeGuard[ast.Call]:
    """`tuple(s.clone() for s in state)`, which holds what the comprehension makes."""
    if not isinstance(expression, ast.Call) or spelled(expression.func) not in ("tuple", "list", "set", "dict"):
        return False
    given = expression.args
    return len(given) == 1 and isinstance(given[0], (ast.ListComp, ast.GeneratorExp, ast.DictComp))


def _is_name(key: ast.expr | None) -> TypeGuard[ast.Constant]:
    return isinstance(key, ast.Constant) and isinstance(key.value, str)


def structural(template: str, value: Value) -> str | None:
    """Text that detaches every tensor in a value; `template` is the text of the value. None if it has no such text."""
    if isinstance(value, (Tensor, Opaque)):
        return None if isinstance(value, Opaque) and has_parts(value) else f"{template}.detach()"
    if isinstance(value, Sequence) and value.items and value.kind in ("tuple", "list"):
        name = element_name(template)
        if all(isinstance(v, (Tensor, Opaque)) for v in value.items):
            inner = f"{name}.detach() for {name} in {template}"
            return f"tuple({inner})" if value.kind == "tuple" else f"[{inner}]"
        first, *others = (structural(name, v) for v in value.items)
        if first is None or any(part != first for part in others):
            return None
        inner = f"{first} for {name} in {template}"
        return f"tuple({inner})" if value.kind == "tuple" else f"[{inner}]"
    if isinstance(value, Instance) and isinstance(value.cls, Class) and value.cls.frozen:
        return _record(template, value)
    if isinstance(value, Mapping) and value.items:
        first, *others = (structural("v", held) for _, held in value.items.values())
        is_plain = first == "v.detach()" or not any(isinstance(key, str) for key, _ in value.items.values())
        if first is not None and is_plain and all(part == first for part in others):
            return f"{{k: {first} for k, v in {template}.items()}}"
        return _dictionary(template, value)
    return None


def _record(template: str, value: Instance) -> str | None:
    """A named tuple or frozen dataclass with detached fields."""
    fields = {k: v for k, v in value.attrs.items() if not is_mark(k)}
    carrying = {k: structural(f"{template}.{k}", v) for k, v in fields.items() if any(graph_in(v))}
    if None in carrying.values():
        return None
    if ITEMS in value.attrs:
        if len(carrying) == len(fields) and all(isinstance(v, (Tensor, Opaque)) for v in fields.values()):
            return f"{value.cls.name}(*(s.detach() for s in {template}))"
        return f"{template}._replace({', '.join(f'{k}={new}' for k, new in carrying.items())})"
    rest = ", ".join(f"{k}={carrying.get(k, f'{template}.{k}')}" for k in fields)
    return f"{value.cls.name}({rest})"


def _dictionary(template: str, value: Mapping) -> str | None:
    """A dict of which only some values carry graph, each of them detached by its name."""
    carrying = {key: held for key, held in value.items.values() if any(graph_in(held))}
    if not value.exact or not carrying or len(carrying) > MAX_NAMED or not all(isinstance(k, str) for k in carrying):
        return None
    parts = {key: structural(f"{template}[{json.dumps(key)}]", held) for key, held in carrying.items()}
    if None in parts.values():
        return None
    return f"{{**{template}, {', '.join(f'{json.dumps(key)}: {new}' for key, new in parts.items())}}}"


def element_name(template: str) -> str:
    """A name for the elements of a state: `s`, or `t` inside of `s`, `state` of `states`."""
    last = template.rpartition(".")[2].strip("_")
    if last.isidentifier() and last.endswith("ies") and len(last) > 5:
        return last[:-3] + "y"
    if last.isidentifier() and last.endswith("s") and len(last) > 3 and last[:-1] not in ("s", template):
        return last[:-1]
    return "t" if template == "s" else "s"


def is_handed_over(program: Program, expression: ast.expr) -> bool:
    """Whether an imported file is given this value by its callers, of which others may exist that are not in view."""
    scope = program.scope(expression)
    if not isinstance(scope, FUNCTIONS) or not program.is_imported(expression):
        return False
    given = all_parameter_names(scope.args) - {"self"}
    loops = (loop for loop in walk(scope) if _runs_through(loop, given))
    elements = {name for loop in loops for name in program.names_bound(loop.target)}
    return bool((given | elements) & program.names_read(expression))


def _runs_through(loop: ast.AST, given: Collection[str]) -> TypeGuard[ast.For | ast.AsyncFor]:
    """`for name, value in losses.items()` with `losses` among those given."""
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return False
    at = loop.iter
    while isinstance(at, ast.Call):
        asked = isinstance(at.func, ast.Attribute) and at.func.attr in ("items", "values")
        if not asked and not (at.args and spelled(at.func) in ("enumerate", "reversed", "sorted", "list", "tuple")):
            return False
        at = at.func.value if isinstance(at.func, ast.Attribute) else at.args[0]
    return isinstance(at, ast.Name) and at.id in given


def methods(program: Program) -> tuple[str, str]:
    """What takes the value of a tensor without its graph, as the settings prefer it."""
    return ("item", "detach") if "item" in program.prefer else ("detach", "item")


def methods_in_sums(program: Program) -> tuple[str, str]:
    """As `methods`, of what stays what it is: of numbers of 16 bits, each sum is rounded to these, if of tensors."""
    return ("detach", "item") if may_be_half(program) else methods(program)


def element_candidates(
    program: Program, targets: list[tuple[ast.expr, Value]], *, number: bool, what: str
) -> Iterator[Candidate]:
    """`.item()` where a number will do, `.detach()` where a tensor is needed, guarded for values of mixed type."""
    from autodetach.codemods.append_method import AppendMethod
    from autodetach.codemods.replace_expression import ReplaceExpression

    if not targets:
        return
    shown = " and ".join(dict.fromkeys(f"`{spelled(e)}`" for e, _ in targets))
    doubt = SHARED if any(is_handed_over(program, e) for e, _ in targets) else None
    is_given = not any(may_be_none(program, e) for e, _ in targets)
    for method in methods_in_sums(program):
        if not is_given or (method == "item" and not (number and all(is_scalar(v) for _, v in targets))):
            continue
        kind = "the number" if method == "item" else "the value without its graph"
        yield Candidate(
            f"{what} {kind}: `.{method}()` on {shown}",
            tuple(AppendMethod(e, method) for e, _ in targets),
            doubt or (ROUNDED if method == "item" and may_be_half(program) else None),
            method,
        )
    guards = [(e, guard) for e, _ in targets if (guard := _guarded(program, e)) is not None]
    if program.imports_torch(targets[0][0]) and len(guards) == len(targets):
        yield Candidate(
            f"{what} the value without its graph, if it is a tensor: {shown}",
            tuple(ReplaceExpression(e, guard) for e, guard in guards),
            doubt,
            "detach",
            last_resort=True,
        )


def _guarded(program: Program, expression: ast.expr) -> str | None:
    """Text that detaches what may be no tensor; what a call returns gets a name, so that it is called once."""
    if isinstance(expression, (ast.Name, ast.Attribute, ast.Subscript)):
        return "({}.detach() if torch.is_tensor({}) else {})"
    if not isinstance(expression, ast.Call) or isinstance(program.scope(expression), ast.ClassDef):
        return None
    if any(isinstance(at, ast.comprehension) for at in program.enclosing(expression)):
        return None  # Python lets nothing be bound in what a comprehension runs through
    name = _name_of_guards(program.file_of(expression))
    return None if name is None else f"({name}.detach() if torch.is_tensor({name} := {{}}) else {name})"


@kept
def _name_of_guards(tree: ast.AST) -> str | None:
    """A name that nothing in a file has but other guards like these, each of which binds it before it reads it."""
    taken = Counter(names_in(tree))
    for node in walk(tree):
        if isinstance(node, ast.IfExp) and (name := _named_by_guard(node)) is not None:
            taken[name] -= 3
    return next((name for name in NAMES if taken[name] <= 0), None)


def _named_by_guard(node: ast.IfExp) -> str | None:
    """`value` of `value.detach() if torch.is_tensor(value := step(b)) else value`."""
    asked = node.test.args[0] if isinstance(node.test, ast.Call) and node.test.args else None
    if not isinstance(asked, ast.NamedExpr) or spelled(node.body) != f"{asked.target.id}.detach()":
        return None
    return asked.target.id if spelled(node.orelse) == asked.target.id else None
