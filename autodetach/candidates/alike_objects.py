"""Whether objects that are made of the same are alike, and stay so: then one may be made anew in place of another."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.mentioned import is_changed
from autodetach.machine.spelling import last_word
from autodetach.view.program import Program
from autodetach.view.side_effects import CONSTRUCTORS

Method = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


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
            if _change_what_is_begun(program, methods) or any(map(_hands_on, constructors)):
                return True
            pending += constructors
    return False


def _classes(program: Program) -> dict[str, list[ast.ClassDef]]:
    found: dict[str, list[ast.ClassDef]] = {}
    for tree in program.analysis.trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(node)
    return found


def _methods(cls: ast.ClassDef, classes: dict[str, list[ast.ClassDef]]) -> list[Method]:
    """The methods of a class, and of those above it."""
    line, pending = [cls], [cls]
    while pending:
        above = [c for base in pending.pop().bases for c in classes.get(last_word(base), ()) if c not in line]
        line += above
        pending += above
    return [f for c in line for f in c.body if isinstance(f, FUNCTIONS)]


def _change_what_is_begun(program: Program, methods: list[Method]) -> bool:
    begun = {n.attr for f in methods if f.name in CONSTRUCTORS for n in _own(f) if _is_stored(n)}
    later = (n for f in methods if f.name not in CONSTRUCTORS for n in _own(f))
    return any(n.attr in begun and (_is_stored(n) or is_changed(program, n)) for n in later)


def _own(method: Method) -> Iterator[ast.Attribute]:
    """What a method mentions of its object."""
    this = method.args.args[0].arg if method.args.args else ""
    named = (n for n in ast.walk(method) if isinstance(n, ast.Attribute))
    return (n for n in named if isinstance(n.value, ast.Name) and n.value.id == this)


def _is_stored(mention: ast.Attribute) -> bool:
    return not isinstance(mention.ctx, ast.Load)


def _hands_on(constructor: Method) -> bool:
    """Whether a constructor gives its object to something that it calls, as `registry.append(self)`."""
    this = constructor.args.args[0].arg if constructor.args.args else ""
    calls = (n for n in ast.walk(constructor) if isinstance(n, ast.Call) and last_word(n.func) != "super")
    given = (a for call in calls for a in (*call.args, *(k.value for k in call.keywords)))
    return any(isinstance(a, ast.Name) and a.id == this for a in given)
