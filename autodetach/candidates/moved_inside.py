"""What is built before a loop moves into it, or into the function that reads it in every pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from autodetach.candidates.alike_objects import make_what_changes
from autodetach.candidates.behind_train import behind_train
from autodetach.candidates.built_with_locals import built_with_locals, is_set_anew
from autodetach.candidates.called_inside import (
    called_by_reader,
    called_in_loop,
    called_inside,
    first_statement,
    of_the_same_object,
)
from autodetach.candidates.holding import with_holders
from autodetach.candidates.in_closure import computed_in_closure
from autodetach.candidates.in_lambda import computed_in_lambda
from autodetach.candidates.movable import (
    ASSIGNMENTS,
    bound_by,
    is_movable,
    is_set_elsewhere,
    mentioned_by_others,
    read_by_others,
)
from autodetach.candidates.one_element import where_read
from autodetach.candidates.reached import read_behind
from autodetach.candidates.read_before import is_read_before
from autodetach.candidates.returned_itself import returned_itself
from autodetach.machine.activations import Activation
from autodetach.machine.children import targets_of
from autodetach.machine.graph import Node, calls_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.node_types import FUNCTIONS, LOOPS
from autodetach.suspect import Candidate
from autodetach.view.changed_between import CHANGED, doubt_of_changes
from autodetach.view.program import Program, line, listed, without_retain
from autodetach.view.side_effects import draws_random_numbers, keeps_state, makes_leaves, takes_away

if TYPE_CHECKING:
    from autodetach.codemods import Codemod
    from autodetach.codemods.replace_expression import ReplaceExpression

OF_SUMS = (ast.If, ast.For, ast.Continue, ast.Break, ast.Pass)


def moved_inside(
    program: Program, run: Run, activation: Activation, readers: list[Node], outer: list[Node], doubt: str | None
) -> list[Candidate]:
    """Move the statements that make the nodes of `outer` into the loop, else into the one function of the readers."""
    moved = moved_to(program, run, _body(activation), "loop", outer, doubt, activation)
    moved = moved or list(computed_in_lambda(program, run, outer, doubt))
    moved = moved or _in_closure(program, run, activation, outer, doubt)
    if moved:
        return moved
    building = {s: None for node in outer if (s := program.statement(node.site.node)) is not None}
    names = {spelled(t) for statement in building for t in targets_of(statement)}
    kept = names | _kept_on_the_way(program, outer)
    bodies = {body[0]: body for reader in readers if (body := body_of_reader(program, reader, kept))}
    in_loop = list(called_in_loop(program, run, activation, outer, doubt))
    reading = next(iter(bodies.values())) if len(bodies) == 1 else []
    for body in (reading, only_method(program, list(building), names)):
        called = called_inside(program, run, body, outer, doubt) if body else ()
        moved = [*moved_to(program, run, body, "function", outer, doubt), *called]
        moved = moved or list(moved_with_locals(program, run, body, outer, doubt))
        if moved:
            return [*in_loop, *moved]
    return in_loop or list(called_by_reader(program, run, readers, outer, doubt))


def moved_to(
    program: Program,
    run: Run,
    body: list[ast.stmt],
    where: str,
    outer: list[Node],
    doubt: str | None,
    loop: Activation | None = None,
) -> list[Candidate]:
    """Move them to the begin of `body`; into a loop, with what holds their values before it."""
    from autodetach.codemods.move_statements import MoveStatements

    ordered = _to_move(program, run, body, outer)
    if not ordered:
        return []
    anchor, risk = behind_train(program, ordered, body, first_statement(body))
    goal = program.scope(anchor)
    if loop is None and any(program.scope(s) is goal for s in ordered):
        return []  # it would run no more often
    if loop is None and is_set_anew(ordered, getattr(program.scope(ordered[0]), "body", ())):
        return []
    if loop is not None:
        ordered = with_holders(program, ordered, anchor, loop.frame)
    if not is_movable(program, ordered, anchor) or make_what_changes(program, ordered):
        return []
    if loop is not None and is_read_before(program, run, ordered, anchor):
        return []
    doubt = doubt or risk or _doubt_of(program, run, ordered, outer)
    if loop is None and (mentioned_by_others(program, ordered, goal) or is_set_elsewhere(program, ordered)):
        doubt = doubt or CHANGED
    if loop is not None and not loop.length and read_behind(program, ordered, loop.node):
        doubt = doubt or "behind the loop, it is not there if no pass is made"
    names = listed(t for s in ordered for t in bound_by(s))
    alone = list(where_read(program, ordered[0], body, doubt)) if len(ordered) == 1 else []
    alone += returned_itself(program, ordered[0], body, outer, doubt) if len(ordered) == 1 else ()
    move, message = MoveStatements(tuple(ordered), anchor), f"compute {names} inside the {where}"
    flags = without_retain(outer)
    plain = Candidate(message, (move,), doubt)
    return [*alone, *_and_none_retained([plain], flags), plain]


def _in_closure(
    program: Program, run: Run, activation: Activation, outer: list[Node], doubt: str | None
) -> list[Candidate]:
    closure = activation.node
    if not isinstance(closure, ast.FunctionDef):
        return []
    ordered = _to_move(program, run, closure.body, outer)
    if not ordered:
        return []
    doubt = doubt or _doubt_of(program, run, ordered, outer)
    found = list(computed_in_closure(program, ordered, closure, first_statement(closure.body), doubt))
    return [*_and_none_retained(found, without_retain(outer)), *found]


def _and_none_retained(candidates: list[Candidate], flags: tuple[Codemod, ...]) -> list[Candidate]:
    """What is built anew in each pass needs no graph of an earlier one: the same repairs, with `flags` gone."""
    return [
        replace(one, message=f"{one.message}, and no graph is retained", codemods=(*one.codemods, *flags))
        for one in candidates
        if flags
    ]


def _to_move(program: Program, run: Run, body: list[ast.stmt], outer: list[Node]) -> list[ast.stmt]:
    """The statements that make the nodes of `outer`, in order; nothing where they do more than compute."""
    statements: dict[ast.stmt, None] = {}
    for node in outer if body else ():
        statement = _building_statement(program, node, first_statement(body))
        if statement is None:
            return []
        whole = _summed_by_loop(program, statement, first_statement(body))
        statements.update(dict.fromkeys(whole or (_with_branches(program, statement, body),)))
    ordered = sorted(statements, key=line)
    if not all(isinstance(s, ASSIGNMENTS) or _is_sum(s) or _is_choice(s) for s in ordered):
        return []
    return [] if makes_leaves(program, run, ordered, outer) or takes_away(program, run, ordered) else ordered


def _with_branches(program: Program, statement: ast.stmt, body: list[ast.stmt]) -> ast.stmt:
    """The outermost `if` of its function around a statement, but none in which it is to stand."""
    around = {*program.enclosing(body[0])}
    for at in program.enclosing(statement):
        if at in around or not isinstance(at, ast.If):
            break
        statement = at
    return statement


def _is_choice(node: ast.AST) -> bool:
    """Whether it is an `if` that does nothing but assign."""
    inner = (s for s in ast.walk(node) if isinstance(s, ast.stmt))
    return isinstance(node, ast.If) and all(isinstance(s, (*ASSIGNMENTS, ast.If, ast.Pass)) for s in inner)


def moved_with_locals(
    program: Program,
    run: Run,
    body: list[ast.stmt],
    outer: list[Node],
    doubt: str | None,
    home: ast.FunctionDef | None = None,
) -> Iterator[Candidate]:
    """`self.mixing = a - b` of a constructor, or of the method `home`, with what makes `a` and `b`."""
    from autodetach.codemods.copy_statements import CopyStatements
    from autodetach.codemods.move_statements import MoveStatements
    from autodetach.codemods.replace_expression import ReplaceExpression
    from autodetach.codemods.replace_statement import ReplaceStatement

    built = built_with_locals(program, outer, body, home) if body else None
    if built is None or read_by_others(program, list(built.moved), program.scope(first_statement(body))):
        return
    whole = [*built.copied, *built.moved]
    if make_what_changes(program, whole) or takes_away(program, run, whole) or makes_leaves(program, run, whole, outer):
        return
    doubt = doubt or _doubt_of(program, run, whole, outer)
    if mentioned_by_others(program, list(built.moved), program.scope(first_statement(body))):
        doubt = doubt or CHANGED
    renamed = tuple(ReplaceExpression(name, kept) for name, kept in built.given)
    copy = CopyStatements(built.copied, first_statement(body), changes=_within(renamed, built.copied))
    changes = _within(renamed, built.moved)
    move: tuple[Codemod, ...] = (MoveStatements(built.moved, first_statement(body), changes=changes),)
    if set(built.moved) == set(program.block(built.moved[0])):
        emptied = (ReplaceStatement(s, "" if n else "pass") for n, s in enumerate(built.moved))
        move = (CopyStatements(built.moved, first_statement(body), changes=changes), *emptied)
    shown = listed(t for s in built.moved for t in targets_of(s) if isinstance(t, (ast.Name, ast.Attribute)))
    codemods = (*((copy,) if built.copied else ()), *move, *without_retain(outer))
    yield Candidate(f"compute {shown} inside the function", codemods, doubt)


def _within(changes: tuple[ReplaceExpression, ...], statements: tuple[ast.stmt, ...]) -> tuple[ReplaceExpression, ...]:
    inside = {n for s in statements for n in ast.walk(s)}
    return tuple(change for change in changes if change.expression in inside)


def _doubt_of(program: Program, run: Run, statements: list[ast.stmt], outer: list[Node]) -> str | None:
    if draws_random_numbers(run, statements):
        return "a moved statement draws random numbers, which it will do in every pass"
    if keeps_state(program, run, statements):
        return "a moved statement calls what keeps a state, which it will change in every pass"
    return doubt_of_changes(program, run, statements, outer)


def _summed_by_loop(program: Program, statement: ast.stmt, anchor: ast.stmt) -> list[ast.stmt]:
    """The loop before that of `anchor` in which a statement adds up, and where the sum begins; nothing if not so."""
    outer = program.parents.get(anchor)
    beside = program.block(outer) if isinstance(outer, LOOPS) else []
    whole = next((at for at in program.enclosing(statement) if at in beside), None)
    if whole is None or not _is_sum(whole):
        return []
    begun: list[ast.stmt] = []
    for target in (t for s in ast.walk(whole) if isinstance(s, ASSIGNMENTS) for t in targets_of(s)):
        name = target.id if isinstance(target, ast.Name) else ""
        first = [s for s in beside[: beside.index(whole)] if name in program.names_bound(s)]
        if not first or not isinstance(first[-1], ast.Assign) or len(first[-1].targets) != 1:
            return []
        begun.append(first[-1])
    return [*begun, whole]


def _is_sum(node: ast.AST) -> TypeGuard[ast.For]:
    """Whether it is a loop that does nothing but assign."""
    inner = [s for s in ast.walk(node) if isinstance(s, ast.stmt)]
    return isinstance(node, ast.For) and all(isinstance(s, (*ASSIGNMENTS, *OF_SUMS)) for s in inner)


def _kept_on_the_way(program: Program, outer: list[Node]) -> set[str]:
    """The attributes that are set to what the calls on the way to the nodes return: `self.x` of `self.x = self.f()`."""
    calling = {s: None for node in outer for site in calls_of(node.chain) if (s := program.statement(site.node))}
    return {spelled(t) for s in calling for t in targets_of(s) if isinstance(t, ast.Attribute)}


def body_of_reader(program: Program, reader: Node, names: set[str]) -> list[ast.stmt]:
    """The body of the function in which a value from outside is read by one of its `names`, and handed on from there.

    If none mentions them, it is the function that computes with it.
    """
    places = [reader.site.node, *(site.node for site in calls_of(reader.chain))]
    scopes = [program.scope(place) for place in places]
    functions = [scope for scope in scopes if isinstance(scope, FUNCTIONS)]
    mentioning = (f for f in functions if any(_is_read(n) and spelled(n) in names for n in ast.walk(f)))
    function = next(mentioning, functions[0] if functions else None)
    return [] if function is None else function.body


def only_method(program: Program, building: list[ast.stmt], names: set[str]) -> list[ast.stmt]:
    """The body of the one other method that reads attributes which a constructor sets, and hands them on."""
    methods = {program.scope(s) for s in building}
    owners = {program.parents.get(method) for method in methods}
    cls = next(iter(owners)) if len(owners) == 1 else None
    names = {name for name in names if "." in name and "[" not in name}
    if not isinstance(cls, ast.ClassDef):
        return []
    functions = [f for f in cls.body if isinstance(f, ast.FunctionDef) and f not in methods]
    reading = [f for f in functions if any(_is_read(n) and spelled(n) in names for n in ast.walk(f))]
    return reading[0].body if len(reading) == 1 else []


def _is_read(node: ast.AST) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load)


def _body(activation: Activation) -> list[ast.stmt]:
    node = activation.node
    if isinstance(node, (*LOOPS, *FUNCTIONS)):
        return node.body
    function = getattr(activation.frame, "node", None)
    return function.body if isinstance(function, FUNCTIONS) else []


def _building_statement(program: Program, node: Node, anchor: ast.stmt) -> ast.stmt | None:
    """The statement that makes a node, seen from the scope into which it would move."""
    places: list[ast.AST] = [node.site.node, *[site.node for site in calls_of(node.chain)]]
    scopes = {program.scope(anchor), *program.enclosing(anchor)}
    for place in places:
        statement = program.statement(place)
        if statement is None:
            continue
        if program.scope(statement) in scopes:
            return statement
        if of_the_same_object(program, statement, anchor):
            return statement
    return None
