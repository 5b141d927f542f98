"""An object that computes of trained leaves when it is made, and was made once, is made anew where it is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.alike_objects import is_alike, make_alike
from autodetach.candidates.as_property import computed_as_property
from autodetach.candidates.movable import is_set_elsewhere
from autodetach.candidates.moved_inside import moved_to, only_method
from autodetach.machine.children import targets_of, walk
from autodetach.machine.graph import Node, calls_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.suspect import Candidate
from autodetach.view.changed_between import CHANGED
from autodetach.view.program import Program
from autodetach.view.side_effects import CONSTRUCTORS, makes_leaves


def made_where_read(program: Program, run: Run, outer: list[Node], doubt: str | None) -> list[Candidate]:
    """`self.light = Light(self.direction)` of a trainer's constructor, in the one method that reads `self.light`."""
    for making in _objects(program, run, outer):
        body = only_method(program, making, {spelled(t) for s in making for t in targets_of(s)})
        reason = CHANGED if is_set_elsewhere(program, making) else None
        moved = moved_to(program, run, body, "function", outer, doubt or reason) if body else []
        if moved:
            return moved
    return []


def made_by_property(program: Program, run: Run, outer: list[Node], doubt: str | None) -> Iterator[Candidate]:
    """The same where several read `self.light`, which is a property then; not what the constructor hands on itself."""
    for making in _objects(program, run, outer):
        home, made = program.scope(making[0]), {spelled(t) for s in making for t in targets_of(s)}
        is_read = any(_is_read(n) and spelled(n) in made for n in walk(home))
        if isinstance(home, ast.FunctionDef) and not is_read and not is_set_elsewhere(program, making):
            yield from computed_as_property(program, run, outer, doubt, home)


def _objects(program: Program, run: Run, outer: list[Node]) -> Iterator[list[ast.stmt]]:
    """The statements of a constructor that make the objects in whose constructors the nodes are made, innermost first.

    Only if nothing tells such an object from another one that is made of the same.
    """
    found: list[dict[ast.AST, ast.stmt]] = []
    classes: set[ast.ClassDef] = set()
    for node in outer:
        inner = program.scope(node.site.node)
        making: dict[ast.AST, ast.stmt] = {}
        for site in calls_of(node.chain):
            home, statement = program.scope(site.node), program.statement(site.node)
            cls = program.parents.get(inner)
            if isinstance(cls, ast.ClassDef) and getattr(inner, "name", "") in CONSTRUCTORS:
                classes.add(cls)
                if statement is not None and getattr(home, "name", "") == "__init__" and _sets(statement, site.node):
                    making[home] = statement
            inner = home
        found.append(making)
    for home in found[0] if found else ():
        statements = list(dict.fromkeys(making[home] for making in found if home in making))
        if all(home in making for making in found) and not makes_leaves(program, run, statements, outer):
            made = {c for c in classes if c is not program.parents.get(home)}
            calls = [n for s in statements for n in ast.walk(s) if isinstance(n, ast.Call)]
            if all(is_alike(program, c, set()) for c in made) and make_alike(program, calls, set()):
                yield statements


def _sets(statement: ast.stmt, call: ast.AST) -> bool:
    """`self.light = Light(...)`."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    return isinstance(target, ast.Attribute) and isinstance(statement, ast.Assign) and statement.value is call


def _is_read(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
