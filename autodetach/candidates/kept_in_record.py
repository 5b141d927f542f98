"""An object keeps the leaf instead of what was computed of it, which is computed where the object is asked for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.mentioned import BY_NAME, is_changed, mentions, methods_called
from autodetach.machine.children import walk
from autodetach.machine.graph import Node, ancestors
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word, spelled
from autodetach.node_types import FUNCTIONS
from autodetach.suspect import Candidate
from autodetach.view.changed_between import doubt_of_changes
from autodetach.view.program import Program, handed, line, text, without_retain
from autodetach.view.side_effects import draws_random_numbers, keeps_state

AS_A_WHOLE = frozenset("__dict__ __post_init__ __slots__ asdict astuple fields getattr replace vars".split())
"""By what an attribute is read, or made, without being named."""


def kept_in_record(program: Program, run: Run, outer: list[Node], doubt: str | None) -> Iterator[Candidate]:
    """`Scene(scale=F.relu(weight))`, and a loop elsewhere: the scene keeps `weight`, the loop takes the `relu`."""
    from autodetach.codemods.keep_part import KeepPart

    statements = {program.statement(node.site.node) for node in outer}
    statement = statements.pop() if len(statements) == 1 else None
    part = _leaf(program, statement, outer) if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or part is None:
        return
    held = _held(program, statement)
    if held is None or draws_random_numbers(run, [statement]) or keeps_state(program, run, [statement]):
        return
    cls, name = held
    reads = reads_of(run, set(outer), name)
    if reads != {m for m in mentions(program, cls, name) if isinstance(m.ctx, ast.Load)} or not reads:
        return
    if not all(_may_compute(program, statement, part, read) for read in reads):
        return
    doubt = doubt or doubt_of_changes(program, run, [statement], outer)
    keep, flags = KeepPart(statement.value, part, tuple(sorted(reads, key=line))), without_retain(outer)
    methods = list(methods_called(statement.value, part))
    words = tuple((spelled(read) + was[len(part.id) :], was) for was in methods for read in reads)
    message = f"keep `{part.id}` in `{name}`, and compute `{text(statement.value)}` where it is read"
    if flags:
        yield Candidate(f"{message}, and retain no graph", (keep, *flags), doubt, respelled=words)
    yield Candidate(message, (keep,), doubt, respelled=words)


def _leaf(program: Program, statement: ast.Assign, outer: list[Node]) -> ast.Name | None:
    """The one local name in what is assigned, if it is a leaf of which alone all of it is computed."""
    scope = program.scope(statement)
    if not isinstance(scope, FUNCTIONS):
        return None
    local = _bound_in(scope)
    names = [n for n in ast.walk(statement.value) if isinstance(n, ast.Name) and n.id in local]
    leaves = [n for n in ancestors(outer) if n.leaf]
    if len(names) != 1 or len(leaves) != 1 or names[0] is statement.value:
        return None
    given = [value for node in outer for e, value in node.site.operands if e is names[0]]
    return names[0] if any(getattr(value, "node", None) is leaves[0] for value in given) else None


def _held(program: Program, statement: ast.Assign) -> tuple[ast.ClassDef, str] | None:
    """The class of the object, and its attribute, that what is assigned is handed to, if it is read nowhere else."""
    target, scope = statement.targets[0], program.scope(statement)
    if len(statement.targets) != 1 or not isinstance(target, ast.Name):
        return None
    named = [n for n in walk(scope) if isinstance(n, ast.Name) and n.id == target.id and n is not target]
    if len(named) != 1 or not isinstance(named[0].ctx, ast.Load):
        return None
    around = program.parents.get(named[0])
    call = program.parents.get(around) if isinstance(around, ast.keyword) else around
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id in _bound_in(scope):
        return None
    tree = program.file_of(statement)
    found = [s for s in walk(tree) if isinstance(s, ast.ClassDef) and s.name == call.func.id]
    if len(found) != 1 or found[0].bases or not is_made_once(program, found[0]) or is_read_as_a_whole(program):
        return None
    at = around.arg if isinstance(around, ast.keyword) else place_of(call, named[0])
    name = None if at is None else attribute_of(program, found[0], at)
    return (found[0], name) if name is not None and not is_set(program, found[0], name) else None


def is_made_once(program: Program, cls: ast.ClassDef) -> bool:
    """Whether one call makes all objects of a class: others may be given what is to be read as it is."""
    nodes = [n for tree in program.analysis.trees for n in walk(tree)]
    made = [n for n in nodes if isinstance(n, ast.Call) and last_word(n.func) in (cls.name, "__new__")]
    derived = [n for n in nodes if isinstance(n, ast.ClassDef) and cls.name in map(last_word, n.bases)]
    own = [d for s in cls.body for d in getattr(s, "decorator_list", ()) if last_word(d) == "classmethod"]
    return len(made) == 1 and not derived and not own


def place_of(call: ast.Call, argument: ast.expr) -> int | None:
    before = call.args[: call.args.index(argument)]
    return None if any(isinstance(a, ast.Starred) for a in before) else len(before)


def attribute_of(program: Program, cls: ast.ClassDef, at: int | str) -> str | None:
    """Under which name an object keeps an argument of its constructor, by its place or its name, as it is given."""
    if any(last_word(d.func if isinstance(d, ast.Call) else d) == "dataclass" for d in cls.decorator_list):
        fields = [s.target.id for s in cls.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
        if isinstance(at, int):
            plain = all(not isinstance(s, ast.AnnAssign) or s.value is None for s in cls.body[: at + 1])
            return fields[at] if plain and at < len(fields) else None
        return at if at in fields else None
    made = next((s for s in cls.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"), None)
    if made is None or cls.decorator_list or made.args.vararg is not None:
        return None
    given = [a.arg for a in (*made.args.posonlyargs, *made.args.args)][1:]
    argument = at if isinstance(at, str) else given[at] if at < len(given) else None
    said = [n for n in ast.walk(made) if isinstance(n, ast.Name) and n.id == argument]
    setting = program.statement(said[0]) if len(said) == 1 else None
    if not isinstance(setting, ast.Assign) or setting.value is not said[0] or setting not in made.body:
        return None
    target = setting.targets[0]
    own = made.args.args[0].arg if made.args.args else ""
    is_own = len(setting.targets) == 1 and isinstance(target, ast.Attribute) and spelled(target.value) == own
    return target.attr if is_own and isinstance(target, ast.Attribute) else None


def is_set(program: Program, cls: ast.ClassDef, name: str) -> bool:
    """Whether an attribute may be set, or changed, by anything but the constructor."""
    said = list(mentions(program, cls, name))
    stored = [m for m in said if not isinstance(m.ctx, ast.Load)]
    made = {s for s in cls.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"}
    if any(program.scope(m) not in made for m in stored):
        return True
    return any(is_changed(program, m) for m in said if m not in stored)


def is_read_as_a_whole(program: Program) -> bool:
    """Whether the program may read attributes without naming them, or set them by a text."""
    unseen = AS_A_WHOLE | BY_NAME
    for tree in program.analysis.trees:
        for node in walk(tree):
            if isinstance(node, ast.Name) and node.id in unseen:
                return True
            if isinstance(node, ast.FunctionDef) and node.name in unseen:
                return True
            if isinstance(node, ast.Attribute) and node.attr in unseen and node.attr != "replace":
                return True
    return False


def reads_of(run: Run, made: set[Node], name: str) -> set[ast.Attribute]:
    """Where what was made is read under a name: by who computes with it, or hands it to who does."""
    found: set[ast.Attribute] = set()
    for node in run.machine.nodes:
        if made.isdisjoint(node.parents) or node in made:
            continue
        for expression, value in node.site.operands:
            if getattr(value, "node", None) in made:
                said = [expression, *handed(node.chain, value)]
                found.update(e for e in said if isinstance(e, ast.Attribute) and e.attr == name)
    return found


def _may_compute(program: Program, statement: ast.Assign, part: ast.Name, read: ast.Attribute) -> bool:
    """Whether what is computed means the same where it is read."""
    names = {n.id for n in ast.walk(statement.value) if isinstance(n, ast.Name) and n is not part}
    around = [at for at in program.enclosing(read) if isinstance(at, (*FUNCTIONS, ast.Lambda))]
    if program.file_of(read) is not program.file_of(statement):
        return False
    return all(names.isdisjoint(_bound_in(at)) for at in around)


def _bound_in(scope: ast.AST) -> set[str]:
    """The names that a function binds, or is given."""
    given = {a.arg for a in walk(scope) if isinstance(a, ast.arg)}
    return given | {n.id for n in walk(scope) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
