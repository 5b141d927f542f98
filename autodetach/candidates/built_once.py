"""What a method that is called once keeps for another one is computed there instead, where it is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.anew import KEPT, places_of
from autodetach.candidates.built_with_locals import built_by
from autodetach.candidates.cache_guards import guards
from autodetach.candidates.movable import is_set_elsewhere
from autodetach.candidates.moved_inside import body_of_reader, moved_with_locals, only_method
from autodetach.machine.children import targets_of
from autodetach.machine.graph import Node, ancestors, calls_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.suspect import Candidate
from autodetach.view.changed_between import CHANGED
from autodetach.view.crossings import Crossed
from autodetach.view.program import Block, Program


def computed_where_read(program: Program, run: Run, crossed: list[Crossed]) -> Iterator[Candidate]:
    """`self.places` of `build()`, which a base class calls with the first input, is computed in `forward()`."""
    outer = sorted({n for n in ancestors(maker for _, _, maker in crossed) if not n.leaf}, key=lambda n: n.number)
    home = _home(program, outer)
    cls = program.parents.get(home) if home is not None else None
    if home is None or not isinstance(cls, ast.ClassDef) or _asks_itself(program, outer, cls):
        return
    names = {spelled(t) for s in home.body for t in targets_of(s)}
    bodies = {body[0]: body for reader, _, _ in crossed if (body := body_of_reader(program, reader, names))}
    if len(bodies) == 1:
        yield from moved_with_locals(program, run, next(iter(bodies.values())), outer, KEPT, home)


def computed_by_reader_of_method(
    program: Program, run: Run, readers: list[Node], outer: list[Node], doubt: str | None
) -> Iterator[Candidate]:
    """`self.start` of `configure(data)`, which the program calls once before a loop, is computed in `forward()`.

    Else in the one method that hands it to those who read it, as a property does.
    """
    for home in _methods(program, outer):
        cls = program.parents[home]
        names = {spelled(t) for s in home.body for t in targets_of(s) if isinstance(t, ast.Attribute)}
        bodies = {body[0]: body for reader in readers if (body := body_of_reader(program, reader, names))}
        if is_set_elsewhere(program, home.body) or _asks_itself(program, outer, cls):
            continue
        for body in (next(iter(bodies.values())) if len(bodies) == 1 else [], _only_reader(program, outer, home)):
            found = list(moved_with_locals(program, run, body, outer, doubt or CHANGED, home))
            if found:
                yield from found
                return


def _only_reader(program: Program, outer: list[Node], home: ast.FunctionDef) -> Block:
    """The body of the one other method that reads what `home` has made of the nodes."""
    built = built_by(program, outer, home)
    moved = list(built.moved) if built is not None else []
    return only_method(program, moved, {spelled(t) for s in moved for t in targets_of(s)})


def _methods(program: Program, outer: list[Node]) -> list[ast.FunctionDef]:
    """The methods, but for constructors, in which or in what they call all of the nodes were made, innermost first."""
    found: list[list[ast.FunctionDef]] = []
    for node in outer:
        scopes = [program.scope(place) for place in (node.site.node, *(site.node for site in calls_of(node.chain)))]
        methods = [s for s in scopes if isinstance(s, ast.FunctionDef) and s.name != "__init__" and s.args.args]
        found.append([s for s in methods if isinstance(program.parents.get(s), ast.ClassDef)])
    return [home for home in found[0] if all(home in other for other in found)] if found else []


def _home(program: Program, outer: list[Node]) -> ast.FunctionDef | None:
    """The one function in which all of the nodes are made."""
    homes = {program.scope(node.site.node) for node in outer}
    home = homes.pop() if len(homes) == 1 else None
    return home if isinstance(home, ast.FunctionDef) else None


def _asks_itself(program: Program, outer: list[Node], cls: ast.AST) -> bool:
    """Whether a class itself tells if the value is kept already: then it is better computed without that test."""
    return any(cls in program.enclosing(guard) for node in outer for guard in guards(program, places_of(program, node)))
