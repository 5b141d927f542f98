"""A state that a layer keeps begins anew with each sequence, as the states do that are taken through it beside it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from autodetach.candidates.cache_guards import guards, without_guard
from autodetach.candidates.set_back_too import attribute_of
from autodetach.machine.children import targets_of, walk
from autodetach.machine.graph import Node, trail_of
from autodetach.machine.spelling import called_name, is_none, names_called, spelled
from autodetach.node_types import LOOPS
from autodetach.suspect import Candidate
from autodetach.view.assigned import assigned
from autodetach.view.holders import Holder
from autodetach.view.meant import classes_of
from autodetach.view.program import Program, text

BESIDE = "it begins anew with each sequence, as states beside it do: only its author knows how long it is meant to live"
ZEROS = frozenset("zeros new_zeros zeros_like".split())


def begun_with_states(program: Program, readers: list[Node], held: Collection[Holder]) -> Iterator[Candidate]:
    """Without `if self.weights is None or ...` before they are begun, where `h = zeros(...)` stands before the loop.

    That loop must give `h` to what reads them, and hand it on from step to step.
    """
    owners = {h.owner: None for h in held}
    attributes = {attribute_of(h) for h in held}
    owner = next(iter(owners), None)
    inside = [_inside_of_sequence(program, reader) for reader in readers]
    if owner is None or len(owners) != 1 or "" in attributes or None in inside or not inside:
        return
    running = {scope for part in inside for scope in part or ()}
    called = {name for scope in running for name in names_called(scope)}
    methods = [f for cls in classes_of(owner) for f in getattr(cls.node, "body", ()) if isinstance(f, ast.FunctionDef)]
    for guard in _guards(program, methods, attributes):
        home = program.scope(guard)
        if home not in running and getattr(home, "name", "") not in {*called, "__init__"}:
            shown = ", ".join(f"`{h.text}`" for h in held)
            yield Candidate(f"begin {shown} anew without `if {text(guard.test)}`", (without_guard(guard),), BESIDE)


def _inside_of_sequence(program: Program, reader: Node) -> list[ast.AST] | None:
    """The loop that takes another state to a reader, from zeros to the end of a sequence, and all that it calls there.

    None where no loop does.
    """
    trail = [statement for statement, _ in trail_of(reader)]
    for at, statement in enumerate(trail):
        for loop in program.enclosing(statement):
            if isinstance(loop, ast.For) and _carried(program, loop) & program.names_read(statement):
                return [loop, *(program.scope(inner) for inner in trail[at + 1 :])]
            if not isinstance(loop, (*LOOPS, ast.If, ast.With)):
                break
    return None


def _carried(program: Program, loop: ast.For) -> set[str]:
    """The names that are zeros before a loop, or None, and which each of its passes gives to what makes them anew."""
    block = program.block(loop)
    before = [pair for s in block[: block.index(loop)] for pair in assigned(s)]
    begun = {spelled(target) for target, value in before if called_name(value) in ZEROS or is_none(value)}
    inner = [s for s in walk(loop) if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call)]
    return {name for s in inner for name in program.names_bound(s) & program.names_read(s.value) & begun}


def _guards(program: Program, methods: list[ast.FunctionDef], attributes: set[str]) -> Iterator[ast.If]:
    """What decides whether a method gives the attributes a value, around that or around the call of the method."""
    for method in methods:
        this = method.args.args[0].arg if method.args.args else ""
        setting = [s for s in walk(method) if isinstance(s, ast.stmt) and any(_own(t, this) for t in targets_of(s))]
        if not attributes <= {_own(t, this) for s in setting for t in targets_of(s)}:
            continue
        within = [setting[-1], *_up_to(program, setting[-1], method)]
        yield from guards(program, within)
        for other in methods:
            for n in ast.walk(other):
                if isinstance(n, ast.Expr) and called_name(n.value) == method.name and other is not method:
                    yield from guards(program, [method, n, *_up_to(program, n, other)])


def _up_to(program: Program, statement: ast.stmt, method: ast.FunctionDef) -> Iterator[ast.AST]:
    for around in program.enclosing(statement):
        if around is method:
            return
        yield around


def _own(target: ast.expr, this: str) -> str:
    is_own = isinstance(target, ast.Attribute) and spelled(target.value) == this
    return target.attr if is_own and isinstance(target, ast.Attribute) else ""
