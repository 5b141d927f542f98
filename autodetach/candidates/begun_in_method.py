"""Lists that a method fills and reads the last of, as a trellis does with the maps of its levels: it begins them anew.

The constructor made them once, so that they keep what all calls have put there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.emptying import behind_docstring
from autodetach.candidates.looked_into import lists_read
from autodetach.candidates.set_back_too import begin_of
from autodetach.machine.children import walk
from autodetach.machine.classes import linear_order
from autodetach.machine.graph import calls_of
from autodetach.machine.growth import Growth
from autodetach.machine.program_values import Class, Instance
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.node_types import YIELDS, FunctionNode
from autodetach.suspect import Candidate
from autodetach.view.program import Program
from autodetach.view.read_by import frame_of, read_by
from autodetach.view.unread_attributes import holder_of

OTHERS = "other programs may read what earlier calls have stored"
MAX_LISTS = 4


def begun_in_method(program: Program, growth: Growth) -> Iterator[Candidate]:
    """`self.maps = []` where a method begins that puts something there first, and reads but the last: `self.maps[-1]`.

    Nothing else may look into the list. Others of the same object that grow alike are begun anew with it.
    """
    from autodetach.codemods.insert_statement import InsertStatement

    own = _attribute(program, growth)
    method = program.scope(own) if own is not None else None
    if own is None or not isinstance(method, ast.FunctionDef) or not _is_part_of_loss(growth.run, own, method):
        return
    if _may_be_entered_again(program, growth.run, method):
        return
    begins: dict[str, str] = {}
    for other in program.growths:
        attribute = _attribute(program, other) if other.kind == "store" else None
        if attribute is None or program.scope(attribute) is not method or spelled(attribute) in begins:
            continue
        begin = _begin(program, growth.run, attribute, method)
        if begin is not None:
            begins[spelled(attribute)] = begin
    if spelled(own) not in begins or len(begins) > MAX_LISTS:
        return
    doubt = OTHERS if program.is_imported(own) else None
    shown = " and ".join(f"`{begin}`" for begin in begins.values())
    body = InsertStatement(behind_docstring(method)[0], "\n".join(begins.values()), "before")
    yield Candidate(f"begin anew in `{method.name}`: {shown}", (body,), doubt)


def _attribute(program: Program, growth: Growth) -> ast.Attribute | None:
    """`self.maps` of what grows by `self.maps.append(x)` in a method."""
    stored = growth.stored
    if stored is None or stored.how != "append" or stored.inner is not None:
        return None
    holder = holder_of(program, stored)
    method = program.scope(stored.site.node)
    if not isinstance(holder, ast.Attribute) or not isinstance(method, ast.FunctionDef) or not method.args.args:
        return None
    return holder if spelled(holder.value) == method.args.args[0].arg else None


def _begin(program: Program, run: Run, attribute: ast.Attribute, method: ast.FunctionDef) -> str | None:
    """How the constructor begins a list of which a method reads the last, behind what it surely puts there first."""
    reads = _reads(attribute, method)
    lists = lists_read(program, reads) if reads else None
    if lists is None or any(isinstance(n, YIELDS) for n in walk(method)):
        return None
    mentions = [n for n in ast.walk(method) if isinstance(n, ast.Attribute) and spelled(n) == spelled(attribute)]
    first = program.statement(min(mentions, key=lambda n: (n.lineno, n.col_offset)))
    is_first = first in method.body and _is_append(first, attribute)
    if not is_first or any(program.statement(read) is first for read in reads):
        return None
    frame = frame_of(program, run, first) if first is not None else None
    owner = frame.names.get(method.args.args[0].arg) if frame is not None else None
    return begin_of(owner, attribute.attr, method.args.args[0].arg) if isinstance(owner, Instance) else None


def _may_be_entered_again(program: Program, run: Run, method: ast.FunctionDef) -> bool:
    """Whether a call of the method may lead to another one of the same object, which would begin the list of both."""
    frame = frame_of(program, run, method.body[0])
    reading = read_by(program, run, method.body)
    if frame is None or method in reading.functions:
        return True
    owner = frame.names.get(method.args.args[0].arg)
    if any(frame.top.names.get(name) is owner for name in reading.names):
        return True
    own = owner.cls if isinstance(owner, Instance) else None
    classes = [cls.node for cls in linear_order(own) if isinstance(cls, Class)] if isinstance(own, Class) else []
    beside = [f for f in reading.functions if program.parents.get(f) in classes]
    if any(_says_again(function, method.name) for function in (method, *beside)):
        return True
    opened = ([program.scope(site.node) for site in calls_of(node.chain)] for node in run.machine.nodes)
    return any(scopes.count(method) > 1 for scopes in opened)


def _says_again(function: FunctionNode, name: str) -> bool:
    """Whether a method hands on its object as a whole, which may call it, or calls itself or that of a base."""
    this = function.args.args[0].arg if function.args.args else ""
    nodes = list(ast.walk(function))
    bases = {id(n.value) for n in nodes if isinstance(n, ast.Attribute) and n.attr not in (name, "__call__")}
    loads = (n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    supers = (n for n in nodes if isinstance(n, ast.Attribute) and n.attr in (name, "__call__"))
    return any(n.id == this and id(n) not in bases for n in loads) or any(_is_of_super(n) for n in supers)


def _is_of_super(n: ast.Attribute) -> bool:
    return isinstance(n.value, ast.Call) and spelled(n.value.func) == "super"


def _reads(attribute: ast.Attribute, method: ast.FunctionDef) -> list[ast.Subscript]:
    """`self.maps[-1]`, in the method itself, and not in a function inside of it, which may run later."""
    return [
        n
        for n in walk(method)
        if isinstance(n, ast.Subscript)
        and isinstance(n.ctx, ast.Load)
        and spelled(n.value) == spelled(attribute)
        and spelled(n.slice) == "-1"
    ]


def _is_append(statement: ast.stmt | None, attribute: ast.Attribute) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and spelled(call.func) == f"{spelled(attribute)}.append"


def _is_part_of_loss(run: Run, attribute: ast.Attribute, method: ast.FunctionDef) -> bool:
    """Whether something that is differentiated is computed of what is read: that may not lose its graph."""
    reads = set(_reads(attribute, method))
    return any(n.walked_by and any(e in reads for e, _ in n.site.operands) for n in run.machine.nodes)
