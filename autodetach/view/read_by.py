"""What statements read when they run: names, attributes, and the functions that they call."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from autodetach.kept import kept
from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import walk
from autodetach.machine.classes import linear_order
from autodetach.machine.graph import calls_of, trail_of
from autodetach.machine.program_values import Class, Frame, Instance
from autodetach.machine.run import Run
from autodetach.machine.values import Value
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import FUNCTIONS, FunctionNode
from autodetach.once import once
from autodetach.view.by_name import functions_of
from autodetach.view.program import Program


class Reading(NamedTuple):
    """The names and attributes that are read, and those names that are read as a `whole`, not for an attribute alone.

    `functions` are those of the program that may be called meanwhile, as far as their names tell, or the machine.
    """

    names: set[str]
    whole: set[str]
    attributes: set[str]
    functions: set[FunctionNode]


def read_by(program: Program, run: Run, statements: Sequence[ast.stmt | ast.expr]) -> Reading:
    """What statements, and the functions that they call, directly or not, read."""
    known = functions_by_name(program)
    made = _functions_of_nodes(program, run, statements)
    frame = frame_of(program, run, statements[0]) if statements else None
    reading = Reading(set(), set(), set(), set())
    pending: list[ast.AST] = [*statements, *made]
    reading.functions.update(made)
    while pending:
        at = pending.pop()
        local = local_names(at)
        for node in ast.walk(at):
            words = _read(program, node, local, reading)
            called = {f for word in words for f in known.get(word, ())} | _of_objects(program, node, frame, known)
            new = called - reading.functions
            reading.functions.update(new)
            pending += new
    return reading


@once
def functions_by_name(program: Program) -> dict[str, list[FunctionNode]]:
    """The functions and methods in view by their names; a class stands for its constructor."""
    found: dict[str, list[FunctionNode]] = {}
    for tree in program.analysis.trees:
        for name, functions in _functions_in(tree).items():
            found.setdefault(name, []).extend(functions)
    return found


@kept
def _functions_in(tree: ast.Module) -> dict[str, list[FunctionNode]]:
    found = {name: list(functions) for name, functions in functions_of(tree).items()}
    for cls in (node for node in walk(tree) if isinstance(node, ast.ClassDef)):
        makers = (s for s in cls.body if isinstance(s, FUNCTIONS) and s.name in ("__init__", "__new__"))
        found.setdefault(cls.name, []).extend(makers)
    return found


def _functions_of_nodes(program: Program, run: Run, statements: Iterable[ast.stmt | ast.expr]) -> set[FunctionNode]:
    """The functions in which nodes are made while the statements run."""
    lines = {n for s in statements for n in range(s.lineno, (s.end_lineno or s.lineno) + 1)}
    found: set[ast.AST] = set()
    for node in run.machine.nodes:
        sites = list(calls_of(node.chain))
        outermost = next((i for i, site in enumerate(sites) if site.line in lines), None)
        if outermost is not None:
            found |= {program.scope(place) for place in (node.site.node, *(s.node for s in sites[:outermost]))}
    return {f for f in found if isinstance(f, FUNCTIONS)}


def local_names(function: ast.AST) -> set[str]:
    """The names that a function binds itself."""
    if not isinstance(function, FUNCTIONS):
        return set()
    declared = {name for n in walk(function) if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names}
    bound = {n.id for n in walk(function) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return (bound | all_parameter_names(function.args)) - declared


def _read(program: Program, node: ast.AST, local: set[str], reading: Reading) -> list[str]:
    """Note what one syntax node reads; the words by which it does."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        reading.attributes.add(node.attr)
        return [node.attr]
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load) or node.id in local:
        return []
    reading.names.add(node.id)
    at: ast.AST = node
    around = program.parents.get(at)
    while isinstance(around, ast.Attribute):
        at, around = around, program.parents.get(around)
    if at is node or (isinstance(around, ast.Call) and around.func is at):
        reading.whole.add(node.id)
    return [node.id]


def _of_objects(
    program: Program, node: ast.AST, frame: Frame | None, known: dict[str, list[FunctionNode]]
) -> set[FunctionNode]:
    """The method that an object in view has for a call of it, or for an element."""
    if isinstance(node, ast.Call):
        name, place = "__call__", node.func
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        name, place = "__getitem__", node.value
    else:
        return set()
    this = found(frame, place)
    if not isinstance(this, Instance) or not isinstance(this.cls, Class):
        return set()
    classes = {cls.node for cls in linear_order(this.cls) if isinstance(cls, Class)}
    return {f for f in known.get(name, ()) if program.parents.get(f) in classes}


def frame_of(program: Program, run: Run, statement: ast.stmt | ast.expr) -> Frame | None:
    """The names of the function of a statement, when the machine has last run that."""
    home = program.scope(statement)
    places = (place for node in reversed(run.machine.nodes) for place in trail_of(node))
    return next((f for s, f in places if program.scope(s) is home and isinstance(f, Frame)), None)


def found(frame: Frame | None, place: ast.expr) -> Value:
    """What a name, or an attribute of one, stands for."""
    if isinstance(place, ast.Attribute):
        owner = found(frame, place.value)
        return owner.attrs.get(place.attr) if isinstance(owner, Instance) else None
    at = frame
    while isinstance(place, ast.Name) and at is not None:
        if place.id in at.names:
            return at.names[place.id]
        at = at.outer
    return None


def own_attributes(program: Program) -> set[str]:
    """The attributes that methods in view set on their objects."""
    return {name for tree in program.analysis.trees for name in _set_on_self(tree)}


@kept
def _set_on_self(tree: ast.Module) -> set[str]:
    nodes = (n for n in walk(tree) if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load))
    return {n.attr for n in nodes if isinstance(n.value, ast.Name) and n.value.id == "self"}
