"""What a method builds with the help of local names: all the statements that another one would need for it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from autodetach.candidates.called_inside import first_statement, is_of_another_class
from autodetach.candidates.mentioned import is_changed, mentions
from autodetach.machine.children import walk
from autodetach.machine.graph import Node, calls_of
from autodetach.machine.spelling import last_word, spelled
from autodetach.view.assigned import assigned
from autodetach.view.program import Block, Program

ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)


@dataclass(frozen=True, slots=True)
class Built:
    """Statements that move, those that the method needs too, and names with the attributes that have their value.

    Of the `lacking` ones no attribute has the value: one of the same name would need it. `is_trained`: that of one is a
    parameter made of it. What the method needs too calls nothing, so that it may be computed again.
    """

    moved: tuple[ast.stmt, ...]
    copied: tuple[ast.stmt, ...]
    given: tuple[tuple[ast.Name, str], ...]
    lacking: tuple[str, ...]
    is_trained: bool


def built_with_locals(
    program: Program, outer: list[Node], body: Block, home: ast.FunctionDef | None = None
) -> Built | None:
    """What makes the nodes in the constructor, or the method `home`, of the class of the method with this body."""
    goal = program.scope(first_statement(body))
    cls = program.parents.get(goal)
    functions = cls.body if isinstance(cls, ast.ClassDef) else []
    methods = (f for f in functions if isinstance(f, ast.FunctionDef))
    home = next((f for f in methods if f is home or (home is None and f.name == "__init__")), None)
    if home is None or home is goal or not isinstance(goal, ast.FunctionDef) or not _same_self(home, goal):
        return None
    built = built_by(program, outer, home)
    if built is None or built.lacking or built.is_trained:
        return None
    if _clash(program, goal, [*built.copied, *built.moved], {name.id for name, _ in built.given}):
        return None
    return built


def built_by(program: Program, outer: list[Node], home: ast.FunctionDef) -> Built | None:
    """What makes the nodes in a constructor, or another method."""
    needed = _needed(program, outer, home)
    if needed is None:
        return None
    bound = {name for s in needed for name in program.names_bound(s)}
    rest = [s for s in home.body if s not in needed]
    if is_set_anew(needed, home.body):
        return None
    left = {name for s in rest for name in program.names_read(s)} & bound
    copied = [s for s in needed if program.names_bound(s) & left]
    moved = [s for s in needed if s not in copied]
    own = {name for s in moved for name in program.names_bound(s)}
    if not moved or any(isinstance(n, ast.Call) or _is_name(n, own) for s in copied for n in ast.walk(s)):
        return None
    this, *others = (a.arg for a in ast.walk(home.args) if isinstance(a, ast.arg))
    read = [n for s in needed for n in ast.walk(s) if isinstance(n, ast.Name) and n.id in others]
    if any(name.id in bound for name in read):
        return None
    kept, trained = _kept(program, home, _itself), _kept(program, home, _of_parameter)
    kept = {**_registered(program, home), **kept}
    given = tuple((name, f"{this}.{kept.get(name.id) or trained.get(name.id, name.id)}") for name in read)
    others = list(dict.fromkeys(name.id for name in read if name.id not in kept))
    lacking = tuple(name for name in others if name not in trained)
    return Built(tuple(moved), tuple(copied), given, lacking, len(lacking) < len(others))


def is_set_anew(needed: Collection[ast.stmt], home: Iterable[ast.stmt]) -> bool:
    """Whether what stands behind statements sets an attribute that they read: they were meant with what it was."""
    rest = [s for s in home if s not in needed]
    reads = [n for s in needed for n in ast.walk(s) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)]
    stores = [n for s in rest for n in ast.walk(s) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)]
    return any(n.lineno > read.lineno and spelled(n) == spelled(read) for n in stores for read in reads)


def _same_self(home: ast.FunctionDef, goal: ast.FunctionDef) -> bool:
    return [a.arg for a in home.args.args[:1]] == [a.arg for a in goal.args.args[:1]] != []


def _needed(program: Program, outer: list[Node], home: ast.FunctionDef) -> Block | None:
    """The statements of the method that make the nodes or pass them on by local names.

    With them, all that have a part in the local names that these read.
    """
    found: set[ast.stmt] = set()
    for node in outer:
        places = [node.site.node, *(site.node for site in calls_of(node.chain))]
        found |= {s for p in places if (s := program.statement(p)) is not None and program.scope(s) is home}
    carrying = {name for s in found for name in program.names_bound(s)}
    for statement in home.body:
        if isinstance(statement, ASSIGNMENTS) and program.names_read(statement) & carrying:
            found.add(statement)
            carrying |= program.names_bound(statement)
    local = {a.arg for a in ast.walk(home.args) if isinstance(a, ast.arg)} - {home.args.args[0].arg}
    local |= {name for s in home.body for name in program.names_bound(s)}
    size = 0
    while size < len(found):
        size = len(found)
        read = {name for s in found for name in program.names_read(s)}
        found |= {s for s in home.body if _touched(program, s) & read & local}
    is_plain = all(isinstance(s, ASSIGNMENTS) and s in home.body for s in found)
    return [s for s in home.body if s in found] if found and is_plain else None


def _touched(program: Program, statement: ast.stmt) -> frozenset[str]:
    """The names that a statement binds, or whose elements it sets, or of which it calls a method and nothing else."""
    touched = program.names_bound(statement)
    inside = [n for n in ast.walk(statement) if isinstance(n, (ast.Subscript, ast.Attribute))]
    changed = [n.value for n in inside if not isinstance(n.ctx, ast.Load)]
    if isinstance(statement, ast.Expr):
        changed += [n.value for n in inside]
    return touched | {at.id for at in changed if isinstance(at, ast.Name)}


def _is_name(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _kept(program: Program, home: ast.FunctionDef, given: Callable[[ast.expr], ast.expr]) -> dict[str, str]:
    """The parameters that are `given` to attributes of the object, each with one that nothing else sets."""
    this = home.args.args[0].arg
    kept: dict[str, str] = {}
    for statement in home.body:
        for target, value in assigned(statement):
            name = given(value)
            if isinstance(name, ast.Name) and isinstance(target, ast.Attribute) and spelled(target.value) == this:
                kept[name.id] = target.attr
    stores = (n for n in walk(program.file_of(home)) if isinstance(n, ast.Attribute))
    stored = [
        n.attr for n in stores if isinstance(n.ctx, ast.Store) and not is_of_another_class(program, n, home.body[0])
    ]
    return {name: attribute for name, attribute in kept.items() if stored.count(attribute) == 1}


def _registered(program: Program, home: ast.FunctionDef) -> dict[str, str]:
    """The parameters that are registered as buffers, each with one that nothing sets or changes."""
    this, cls = home.args.args[0].arg, program.parents.get(home)
    calls = [n for n in walk(program.file_of(home)) if isinstance(n, ast.Call)]
    known = [call for call in calls if last_word(call.func) == "register_buffer" and len(call.args) > 1]
    names = [call.args[0].value if isinstance(call.args[0], ast.Constant) else None for call in known]
    found: dict[str, str] = {}
    for call, name in zip(known, names, strict=True):
        value, statement = call.args[1], program.parents.get(call)
        if statement not in home.body or spelled(call.func) != f"{this}.register_buffer" or names.count(name) != 1:
            continue
        if isinstance(value, ast.Name) and isinstance(name, str) and isinstance(cls, ast.ClassDef):
            read = list(mentions(program, cls, name))
            if all(isinstance(n.ctx, ast.Load) and not is_changed(program, n) for n in read):
                found[value.id] = name
    return found


def kept_by(program: Program, home: ast.FunctionDef) -> dict[str, str]:
    """The parameters of a constructor that attributes of the object have as they are, each with one such."""
    return _kept(program, home, _itself)


def _itself(value: ast.expr) -> ast.expr:
    return value


def _of_parameter(value: ast.expr) -> ast.expr:
    """`a` of `nn.Parameter(a)`, which shares its storage."""
    if isinstance(value, ast.Call) and last_word(value.func) == "Parameter" and len(value.args) == 1:
        return value.args[0]
    return value


def _clash(program: Program, goal: ast.FunctionDef, needed: Block, given: set[str]) -> bool:
    """Whether a name would mean another thing: in the statements, or behind them in the method."""
    bound = {name for s in needed for name in program.names_bound(s)}
    free = {name for s in needed for name in program.names_read(s)} - bound - given
    this, *others = (a.arg for a in ast.walk(goal.args) if isinstance(a, ast.arg))
    own = {name for s in goal.body for name in program.names_bound(s)}
    read = {name for s in goal.body for name in program.names_read(s)}
    return bool((bound | free) & {*others} or free & own or bound & (read - own) or this in bound)
