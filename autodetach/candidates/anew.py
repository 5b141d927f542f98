"""Repairs for values that are kept although what they are made of is trained: make them anew instead of keeping them.

A detach would cut trained parameters off from the loss, so these are tried where the proof has refused it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autodetach.candidates.cache_guards import guards, without_guard
from autodetach.candidates.cover import cover, innermost
from autodetach.candidates.learned_start import ANEW, begun_with_leaf
from autodetach.machine.activations import Activation
from autodetach.machine.graph import Node, calls_of, trail_of
from autodetach.machine.program_values import Class, Instance
from autodetach.machine.spelling import last_word, spelled
from autodetach.node_types import FUNCTIONS
from autodetach.suspect import Candidate
from autodetach.view.crossings import Crossed
from autodetach.view.holders import Holder, Replay
from autodetach.view.moments import Moment, behind_step, placed
from autodetach.view.program import Program, text

KEPT = "the value is then computed in every pass; a constant may be what was meant"
RESET = "the state then begins anew behind every step; only its author knows how long it is meant to live"
MEMOS = frozenset({"lru_cache", "cache", "cached_property"})


def made_anew(
    program: Program,
    again: Replay,
    d: Moment,
    activation: Activation,
    crossed: list[Crossed],
    there: list[Crossed],
) -> Iterator[Candidate]:
    """What is made of trained parameters is made anew in every pass, if it can be once for all that ask for it."""
    makers = dict.fromkeys(maker for _, _, maker in crossed)
    always = _computed_anew(program, makers)
    once = _begun(program, again, d, activation, there)
    asked = times_asked(program, makers, [reader for reader, _, _ in crossed if reader is not None])
    yield from (*once, *always) if asked > 1 else (*always, *once)


def _begun(
    program: Program, again: Replay, d: Moment, activation: Activation, there: list[Crossed]
) -> Iterator[Candidate]:
    chosen = cover(program, again, d, activation, [operand for _, operand, _ in there])
    if not chosen:
        return
    for names in dict.fromkeys(
        (frozenset(h.text for h in chosen.values()), frozenset(h.name for h in chosen.values()))
    ):
        for message, codemods in begun_with_leaf(program, again.machine, activation, names, there):
            yield Candidate(message, codemods, ANEW)
    frame = innermost(d, chosen.values())
    statement = placed(program, d, frame, activation.node)
    if statement is not None:
        yield from _begun_anew(chosen.values(), behind_step(program, again.machine, d, statement, frame))


def times_asked(program: Program, makers: Iterable[Node], readers: Iterable[Node]) -> int:
    """How many calls in a pass read a value and ask a function for it that has it guarded."""
    guarding = {program.scope(guard) for maker in makers for guard in guards(program, places_of(program, maker))}
    names = {function.name for function in guarding if isinstance(function, ast.FunctionDef)}
    frames = {frame: None for reader in readers for _, frame in trail_of(reader)}
    return sum(
        any(isinstance(n, ast.Call) and last_word(n.func) in names for n in ast.walk(node))
        for frame in frames
        if isinstance(node := getattr(getattr(frame, "function", None), "node", None), ast.FunctionDef)
    )


def _computed_anew(program: Program, makers: Iterable[Node]) -> Iterator[Candidate]:
    """Without the memo decorator, or the guard of the cache, through which all of the values were made."""
    from autodetach.codemods.drop_decorator import DropDecorator
    from autodetach.codemods.replace_expression import ReplaceExpression

    places = [places_of(program, maker) for maker in makers]
    if not places:
        return
    for decorator in _common([[d for p in around for d in _memo(p)] for around in places]):
        assert isinstance(decorator, ast.expr)
        if _name(decorator) == "cached_property":
            yield Candidate(
                "compute the property anew whenever it is read", (ReplaceExpression(decorator, "property"),), KEPT
            )
        else:
            yield Candidate(f"remove `@{text(decorator)}`", (DropDecorator(decorator),), KEPT)
    for guard in _common([list(guards(program, around)) for around in places]):
        assert isinstance(guard, ast.If)
        yield Candidate(f"compute the value without `if {text(guard.test)}`", (without_guard(guard),), KEPT)


def _begun_anew(holders: Iterable[Holder], anchor: ast.stmt) -> Iterator[Candidate]:
    """States that their object's constructor sets to None are set to None again, behind the step."""
    from autodetach.codemods.insert_statement import InsertStatement

    chosen = {h.text: h for h in holders}
    if not chosen or not all(_none_at_first(h) for h in chosen.values()):
        return
    shown = ", ".join(f"`{t}`" for t in chosen)
    body = "\n".join(f"{t} = None" for t in chosen)
    yield Candidate(f"begin anew: set {shown} to None behind the step", (InsertStatement(anchor, body),), RESET)


def places_of(program: Program, maker: Node) -> list[ast.AST]:
    """All that stands around the expression which made a node, and around the calls that led to it; innermost first."""
    found: dict[ast.AST, None] = {}
    for place in (maker.site.node, *[site.node for site in calls_of(maker.chain)]):
        found[place] = None
        for around in program.enclosing(place):
            found[around] = None
            if isinstance(around, FUNCTIONS):
                break
    return list(found)


def _common(lists: list[list[ast.AST]]) -> list[ast.AST]:
    """What all the lists have, in the order of the first."""
    return [item for item in lists[0] if all(item in other for other in lists[1:])]


def _memo(place: ast.AST) -> list[ast.AST]:
    if not isinstance(place, ast.FunctionDef):
        return []
    return [d for d in place.decorator_list if _name(d) in MEMOS]


def _name(decorator: ast.expr) -> str:
    return last_word(decorator.func if isinstance(decorator, ast.Call) else decorator)


def _none_at_first(holder: Holder) -> bool:
    """Whether the constructor of the object says `self.state = None`."""
    owner = holder.owner
    if not isinstance(owner, Instance) or not isinstance(owner.cls, Class) or holder.rest.count(".") != 1:
        return False
    constructor = owner.cls.names.get("__init__")
    node = getattr(constructor, "node", None)
    if not isinstance(node, ast.FunctionDef) or not node.args.args:
        return False
    wanted = node.args.args[0].arg + holder.rest
    return any(
        isinstance(s, ast.Assign)
        and isinstance(s.value, ast.Constant)
        and s.value.value is None
        and any(spelled(t) == wanted for t in s.targets)
        for s in ast.walk(node)
    )
