"""Whether objects that are made of the same are alike, and stay so: then one may be made anew in place of another."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.mentioned import is_changed, mentions
from autodetach.machine.children import walk
from autodetach.machine.spelling import arguments_of, last_word, spelled
from autodetach.node_types import FUNCTIONS, FunctionNode
from autodetach.view.program import Program
from autodetach.view.side_effects import CONSTRUCTORS

PLAIN = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If, ast.Pass, ast.Raise, ast.Assert)
BARE = frozenset({"object", "ABC"})


def make_what_changes(program: Program, statements: list[ast.stmt]) -> bool:
    """Whether statements make objects that begin with something which their methods change later, as a counter.

    What the constructors of these make is looked at, too, and whether one tells others of the object.
    """
    classes = _classes(program)
    seen: set[ast.ClassDef] = set()
    pending: list[ast.AST] = [*statements]
    while pending:
        made = [last_word(n.func) for n in ast.walk(pending.pop()) if isinstance(n, ast.Call)]
        for cls in (c for name in made for c in classes.get(name, ()) if c not in seen):
            seen.add(cls)
            methods = _methods(cls, classes)
            constructors = [f for f in methods if f.name in CONSTRUCTORS]
            if _changed_later(program, methods) or any(map(_hands_on, constructors)):
                return True
            pending += constructors
    return False


def _classes(program: Program) -> dict[str, list[ast.ClassDef]]:
    found: dict[str, list[ast.ClassDef]] = {}
    for tree in program.analysis.trees:
        for node in walk(tree):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(node)
    return found


def _methods(cls: ast.ClassDef, classes: dict[str, list[ast.ClassDef]]) -> list[FunctionNode]:
    """The methods of a class, and of those above it."""
    line, pending = [cls], [cls]
    while pending:
        above = [c for base in pending.pop().bases for c in classes.get(last_word(base), ()) if c not in line]
        line += above
        pending += above
    return [f for c in line for f in c.body if isinstance(f, FUNCTIONS)]


def changed_later(program: Program, cls: ast.ClassDef) -> set[str]:
    """The attributes with which objects of a class begin, and which their methods change later."""
    return _changed_later(program, _methods(cls, _classes(program)))


def _changed_later(program: Program, methods: list[FunctionNode]) -> set[str]:
    begun = {n.attr for f in methods if f.name in CONSTRUCTORS for n in _own(f) if _is_stored(n)}
    later = (n for f in methods if f.name not in CONSTRUCTORS for n in _own(f))
    return {n.attr for n in later if n.attr in begun and (_is_stored(n) or is_changed(program, n))}


def _own(method: FunctionNode) -> Iterator[ast.Attribute]:
    """What a method mentions of its object."""
    this = method.args.args[0].arg if method.args.args else ""
    named = (n for n in walk(method) if isinstance(n, ast.Attribute))
    return (n for n in named if isinstance(n.value, ast.Name) and n.value.id == this)


def make_alike(program: Program, calls: list[ast.Call], seen: set[ast.AST]) -> bool:
    """Whether all objects that calls make are of known classes, and alike."""
    known = _classes(program)
    names = {last_word(call.func) for call in calls}
    classes = [known.get(name, []) for name in names if name in known or name[:1].isupper()]
    return all(len(found) == 1 and is_alike(program, found[0], seen) for found in classes)


def is_alike(program: Program, cls: ast.ClassDef, seen: set[ast.AST]) -> bool:
    """Whether objects of a class are what their constructor has made of its arguments, and stay so."""
    if cls in seen:
        return True
    seen.add(cls)
    known = {c.name: c for c in walk(program.file_of(cls)) if isinstance(c, ast.ClassDef)}
    bases = [name for name in map(last_word, cls.bases) if name not in BARE]
    if cls.keywords or not all(name in known and is_alike(program, known[name], seen) for name in bases):
        return False
    methods = [f for f in cls.body if isinstance(f, FUNCTIONS)]
    constructors = [f for f in methods if f.name in CONSTRUCTORS]
    if not all(_only_computes(program, f, seen) for f in constructors):
        return False
    names = {n.attr for f in constructors for n in ast.walk(f) if isinstance(n, ast.Attribute) and _is_stored(n)}
    others = [f for f in methods if f not in constructors]
    inside = [n for f in others for n in ast.walk(f) if isinstance(n, ast.Attribute)]
    outside = [n for name in names for n in mentions(program, cls, name) if not _is_constructed(program, n)]
    is_made_otherwise = any(f.name == "__new__" for f in others)
    return not is_made_otherwise and not any(_is_stored(n) or is_changed(program, n) for n in (*inside, *outside))


def _is_stored(mention: ast.Attribute) -> bool:
    return not isinstance(mention.ctx, ast.Load)


def _is_constructed(program: Program, mention: ast.Attribute) -> bool:
    return getattr(program.scope(mention), "name", "") in CONSTRUCTORS


def _only_computes(program: Program, constructor: FunctionNode, seen: set[ast.AST]) -> bool:
    """Whether a constructor does nothing but set its own attributes, and tells nobody of the object."""
    this = constructor.args.args[0].arg if constructor.args.args else ""
    inside = [s for s in walk(constructor) if isinstance(s, ast.stmt) and s is not constructor]
    if not all(isinstance(s, PLAIN) or _is_idle(s) for s in inside):
        return False
    stored = [n for n in walk(constructor) if isinstance(n, (ast.Attribute, ast.Subscript))]
    if any(not isinstance(n.ctx, ast.Load) and spelled(n.value) != this for n in stored):
        return False
    raised = {n for s in inside if isinstance(s, ast.Raise) for n in ast.walk(s)}
    calls = [n for n in walk(constructor) if isinstance(n, ast.Call) and n not in raised]
    return make_alike(program, calls, seen) and not _hands_on(constructor)


def _hands_on(constructor: FunctionNode) -> bool:
    """Whether a constructor gives its object to something that it calls, as `registry.append(self)`."""
    this = constructor.args.args[0].arg if constructor.args.args else ""
    calls = (n for n in walk(constructor) if isinstance(n, ast.Call) and last_word(n.func) != "super")
    given = (a for call in calls for a in arguments_of(call))
    return any(isinstance(a, ast.Name) and a.id == this for a in given)


def _is_idle(statement: ast.stmt) -> bool:
    """A docstring, or `super().__init__(...)`."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        above = value.func.value
        return value.func.attr == "__init__" and isinstance(above, ast.Call) and last_word(above.func) == "super"
    return isinstance(value, ast.Constant)
