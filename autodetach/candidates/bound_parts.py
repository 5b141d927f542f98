"""A loop that does no more than detach what it runs through is written as assignments that bind all of it anew.

`for h in self.hidden + (self.feed,): h.detach()` becomes a line for `self.hidden` and one for `self.feed`; so it does
where a property puts them in a row.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.reads import PLACES, Repair
from autodetach.machine.children import walk
from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.values import Tensor
from autodetach.node_types import DEFINITIONS, FUNCTIONS, YIELDS
from autodetach.view.program import Program, listed
from autodetach.view.substituted import substituted

ONE, TUPLE, LIST = ("tensor",), ("tuple",), ("list",)
ROW = "select"
"""The operation by which a loop gets the rows of a tensor."""
Part = tuple[ast.expr, tuple[str, ...]]
"""What is bound, and what it may be: one tensor, or a tuple or list of them; the likelier one first."""


def detaching_loop(program: Program, statement: ast.Expr) -> tuple[ast.For, ast.expr | None] | None:
    """The loop that does nothing but run a statement, and the test that it asks before, if there is one."""
    test = None
    around = program.parents.get(statement)
    if isinstance(around, ast.If) and len(around.body) == 1 and not around.orelse:
        test = around.test
        around = program.parents.get(around)
    if not isinstance(around, ast.For) or not isinstance(around.target, ast.Name):
        return None
    return (around, test) if len(around.body) == 1 and not around.orelse else None


def bound_parts(program: Program, loop: ast.For, test: ast.expr | None) -> Iterator[Repair]:
    """Bind all that a loop runs through to detached tensors, but for what its test leaves out."""
    from autodetach.codemods.replace_statement import ReplaceStatement

    name = spelled(loop.target)
    if test is not None and not _asks_only_for(program, test, name):
        return
    whole = _of_property(program, loop.iter) or loop.iter
    parts = list(_parts(program, whole, ()))
    names = {spelled(e) for e, _ in parts if isinstance(e, PLACES)}
    if not parts or len(names) < len(parts):
        return
    shown = listed(e for e, _ in parts)
    for choice in range(max(len(kinds) for _, kinds in parts)):
        lines = [_bound(loop, test, n, e, kinds[min(choice, len(kinds) - 1)]) for n, (e, kinds) in enumerate(parts)]
        repair = ReplaceStatement(loop, "\n".join(lines), tuple(e for e, _ in parts))
        yield f"rebind {shown} to detached tensors", (repair,)


def _bound(loop: ast.For, test: ast.expr | None, number: int, expression: ast.expr, kind: str) -> str:
    """The statement that binds one part anew; its `number` stands for it in the text of the new statements."""
    name, part = spelled(loop.target), f"{{{number}}}"
    if kind == "tensor":
        new = f"{part} = {part}.detach()"
        if test is None:
            return new
        step = loop.body[0].col_offset - loop.col_offset
        indent = "\t" if step == 1 else " " * step
        return f"if {substituted(test, {name: spelled(expression)})}:\n{indent}{new}"
    kept = "" if test is None else f" if {spelled(test)} else {name}"
    inner = f"{name}.detach(){kept} for {name} in {part}"
    return f"{part} = [{inner}]" if kind == "list" else f"{part} = tuple({inner})"


def _parts(program: Program, whole: ast.expr, kinds: tuple[str, ...]) -> Iterator[Part]:
    """The parts of what a loop runs through; `kinds` is what is known of it."""
    kinds = kinds or _shown_kind(whole)
    if isinstance(whole, ast.BinOp) and isinstance(whole.op, ast.Add) and kinds:
        yield from _parts(program, whole.left, kinds)
        yield from _parts(program, whole.right, kinds)
    elif isinstance(whole, (ast.Tuple, ast.List)):
        for element in whole.elts:
            if isinstance(element, ast.Starred):
                yield from _parts(program, element.value, ())
            else:
                yield element, ONE
    elif _is_tensor(program, whole):
        yield whole, ONE
    else:
        yield whole, kinds or (LIST + TUPLE if _is_list(program, whole) else TUPLE + LIST)


def _is_tensor(program: Program, whole: ast.expr) -> bool:
    """Whether a loop has taken the rows of one tensor."""
    made = (n for run in program.runs for n in run.machine.nodes if n.site.node is whole and n.op == ROW)
    return any(isinstance(value, Tensor) for node in made for value in node.operands)


def _shown_kind(whole: ast.expr) -> tuple[str, ...]:
    """The kind of a tuple or list that is written out: only its like is added to it."""
    if isinstance(whole, ast.BinOp):
        return _shown_kind(whole.left) or _shown_kind(whole.right)
    return TUPLE if isinstance(whole, ast.Tuple) else LIST if isinstance(whole, ast.List) else ()


def _is_list(program: Program, name: ast.expr) -> bool:
    """Whether the name is bound to a list somewhere in the file."""
    shown = spelled(name)
    return any(
        isinstance(n, ast.Assign)
        and isinstance(n.value, (ast.List, ast.ListComp))
        and any(spelled(t) == shown for t in n.targets)
        for n in walk(program.file_of(name))
    )


def _of_property(program: Program, read: ast.expr) -> ast.expr | None:
    """What a property that a method reads of its own object returns, if it does no more and no other class has it."""
    method = program.scope(read)
    if not isinstance(read, ast.Attribute) or not isinstance(method, FUNCTIONS):
        return None
    found = [n for tree in program.analysis.trees for n in walk(tree) if _names(n, read.attr)]
    home = found[0] if len(found) == 1 else None
    if not isinstance(home, ast.FunctionDef) or program.file_of(home) is not program.file_of(read):
        return None
    *notes, last = home.body
    is_property = [last_word(d) for d in home.decorator_list] == ["property"]
    if not is_property or not isinstance(last, ast.Return) or not all(_is_note(s) for s in notes):
        return None
    this = {m.args.args[0].arg for m in (method, home) if m.args.args} | {spelled(read.value)}
    return last.value if len(this) == 1 else None


def _names(node: ast.AST, name: str) -> bool:
    """Whether something of this name is defined, or set as an attribute or in a class."""
    if isinstance(node, DEFINITIONS):
        return node.name == name
    bound = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None
    return bound == name and not isinstance(getattr(node, "ctx", None), ast.Load)


def _is_note(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _asks_only_for(program: Program, test: ast.expr, name: str) -> bool:
    """Whether a test asks for one variable, and binds nothing: it can be asked for each part in its place."""
    binds = any(isinstance(n, (ast.NamedExpr, ast.Await, *YIELDS)) for n in ast.walk(test))
    return name in program.names_read(test) and not binds
