"""An object with a memo, made just before the loop that asks it: each pass makes one of its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator

from autodetach.candidates.alike_objects import changed_later
from autodetach.candidates.anew import places_of, times_asked
from autodetach.candidates.cache_guards import guards
from autodetach.machine.activations import Activation
from autodetach.machine.children import walk
from autodetach.machine.graph import calls_of
from autodetach.machine.held import contents
from autodetach.machine.program_values import Class, Frame, Instance
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.values import Mapping, Sequence, Value
from autodetach.named_tuples import NamedTuple
from autodetach.suspect import Candidate
from autodetach.view.crossings import Crossed
from autodetach.view.free_names import names_in
from autodetach.view.holders import Holder
from autodetach.view.meant import method_of
from autodetach.view.program import Program

BEGINS = "all that the object keeps then begins anew in every pass: what is meant to last, only its author knows"


def made_in_pass(
    program: Program, run: Run, activation: Activation, crossed: list[Crossed], held: Collection[Holder]
) -> Iterator[Candidate]:
    """`evaluator = Evaluator(model, batch)` becomes the first statement of the loop; calls in its arguments stay.

    `activation` is the loop as it was run again, to see what is `held`.
    """
    from autodetach.codemods.insert_statement import InsertStatement
    from autodetach.codemods.replace_statement import ReplaceStatement

    loop, owners = activation.node, {h.owner for h in held}
    owner = owners.pop() if owners else None
    if owners or owner is None or not isinstance(loop, (ast.For, ast.While)):
        return
    if not all(any(guards(program, places_of(program, maker))) for _, _, maker in crossed):
        return
    if not _is_asked_again(program, crossed):
        return
    made = _making(program, activation.frame, loop, held)
    if made is None or _does_more(run, made.call) or not _is_only_memo(program, owner, held):
        return
    given, kept = _without_calls(program, made.call, owner)
    if given is None or not _may_move(program, made, loop, given):
        return
    lines = (f"{k} = {{{place}}}" for place, k in enumerate(kept))
    stays = ReplaceStatement(made.statement, "\n".join(lines), tuple(kept.values()))
    inside = InsertStatement(loop.body[0], f"{made.name} = {spelled(given)}", "before")
    yield Candidate(f"make `{made.name}` anew in every pass", (stays, inside), BEGINS)


def _is_asked_again(program: Program, crossed: list[Crossed]) -> bool:
    """Whether a pass asks for more than one value: of one that it asks for once, nothing is to be kept."""
    if len({maker.site.node for _, _, maker in crossed}) > 1:
        return True
    makers, readers = [maker for _, _, maker in crossed], [reader for reader, _, _ in crossed]
    return times_asked(program, makers, readers) > 1


class _Made(NamedTuple):
    """`name = call`."""

    statement: ast.Assign
    name: str
    call: ast.Call


def _making(program: Program, frame: object, loop: ast.stmt, held: Collection[Holder]) -> _Made | None:
    """The statement before a loop that makes the object and binds it to a name.

    A module may have bound another one to that name by the time that it has been run.
    """
    block, owner = program.block(loop), next(h.owner for h in held)
    if not isinstance(frame, Frame) or owner is None:
        return None
    for statement in reversed(block[: block.index(loop)] if loop in block else []):
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call) and len(statement.targets) == 1:
            target, call = statement.targets[0], statement.value
            if isinstance(target, ast.Name) and last_word(call.func) == owner.cls.name:
                is_held = all(h.frame is frame and h.text == target.id + h.rest for h in held)
                is_it = is_held or frame.names.get(target.id) is owner
                return _Made(statement, target.id, call) if is_it else None
    return None


def _is_only_memo(program: Program, owner: Instance, held: Iterable[Holder]) -> bool:
    """Whether the object makes no other objects for itself, and its methods change nothing but what is held."""
    if not isinstance(owner.cls, Class) or any(isinstance(v, Instance) and v.born >= owner.born for v in _parts(owner)):
        return False
    memos = {found[1] for h in held if (found := re.fullmatch(r"\.(\w+)(\[.*\])?", h.rest))}
    return changed_later(program, owner.cls.node) <= memos


def _parts(owner: Instance) -> Iterator[Value]:
    for value in owner.attrs.values():
        yield value
        yield from contents(value) if isinstance(value, (Sequence, Mapping)) else ()


def _does_more(run: Run, call: ast.Call) -> bool:
    """Whether a constructor draws random numbers, or makes what is trained."""
    made = [(node.site, node.chain) for node in run.machine.nodes if node.leaf]
    return any(
        any(at.node is call for at in (site, *calls_of(chain))) for site, chain in (*made, *run.machine.random_nodes)
    )


def _without_calls(program: Program, call: ast.Call, owner: Instance) -> tuple[ast.Call | None, dict[str, ast.expr]]:
    """The call with names in the place of arguments that call something, and what these names mean.

    They are called as the constructor calls them; None where the function has such names already.
    """
    constructor = method_of(owner, "__init__")
    node = constructor.node if constructor is not None else None
    places = [a.arg for a in node.args.args[1:]] if isinstance(node, ast.FunctionDef) else []
    scope = program.scope(call)
    taken = set(names_in(scope))
    kept: dict[str, ast.expr] = {}

    def named(value: ast.expr, name: str | None) -> ast.expr | None:
        if not any(isinstance(n, (ast.Call, ast.Await, ast.GeneratorExp, ast.NamedExpr)) for n in ast.walk(value)):
            return value
        if name is None or name in taken or name in kept or isinstance(value, ast.Starred):
            return None
        kept[name] = value
        return ast.Name(name, ast.Load())

    args = [named(a, places[i] if i < len(places) else None) for i, a in enumerate(call.args)]
    keywords = [(k.arg, named(k.value, k.arg)) for k in call.keywords]
    if any(a is None for a in args) or any(v is None for _, v in keywords):
        return None, {}
    new = ast.Call(call.func, [a for a in args if a], [ast.keyword(k, v) for k, v in keywords if v])
    return ast.copy_location(new, call), kept


def _may_move(program: Program, made: _Made, loop: ast.For | ast.While, call: ast.Call) -> bool:
    """Whether only the body of a loop mentions what a statement binds, and nothing binds what `call` reads since."""
    block = program.block(loop)
    between = block[block.index(made.statement) + 1 : block.index(loop)]
    name, inside = made.name, {n for s in loop.body for n in ast.walk(s)}
    for node in walk(program.scope(loop)):
        is_other = isinstance(node, ast.Name) and node.id == name and node is not made.statement.targets[0]
        if is_other and (node not in inside or not isinstance(getattr(node, "ctx", None), ast.Load)):
            return False
        if isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names:
            return False
    read = {spelled(n) for n in ast.walk(call) if isinstance(n, (ast.Name, ast.Attribute))}
    named = (n for s in (*between, loop) for n in ast.walk(s) if isinstance(n, (ast.Name, ast.Attribute)))
    return not any(spelled(n) in read for n in named if not isinstance(n.ctx, ast.Load))
