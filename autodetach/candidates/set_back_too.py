"""What an object sets back when a pass begins, and what it forgets: `reset()`, which leaves a list that grows."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from autodetach.candidates.cover import cover
from autodetach.candidates.emptied import is_filled, names_in
from autodetach.candidates.emptying import is_empty
from autodetach.candidates.grown_alike import grown_alike, is_list
from autodetach.machine.activations import Activation
from autodetach.machine.children import walk
from autodetach.machine.graph import trail_of
from autodetach.machine.program_values import Frame, Function, Instance
from autodetach.machine.spelling import spelled
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import COMPREHENSIONS, DEFINITIONS, LOOPS
from autodetach.suspect import Candidate
from autodetach.view.assigned import assigned
from autodetach.view.called import with_called
from autodetach.view.crossings import Crossed
from autodetach.view.holders import Holder, Replay
from autodetach.view.meant import classes_of, method_of, object_of
from autodetach.view.moments import Moment, begun_at
from autodetach.view.program import Program

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

FORGOTTEN = "what an object keeps from pass to pass, and what begins anew with each, only its author knows"
WORDS = frozenset("begin clear forget init new prepare reset restart start".split())
"""By one of which a method says that it begins something anew."""
MAX_DEPTH = 3


def set_back_too(
    program: Program,
    again: Replay,
    d: Moment,
    activation: Activation,
    crossed: list[Crossed],
    removals: tuple[Codemod, ...],
) -> Iterator[Candidate]:
    """Give lists that grow from pass to pass what the constructor gives them, where the pass sets their object back.

    A list that each pass begins has all its elements, while of one that is filled by all passes fewer are looked at: it
    may seem to give more, if nothing else sets it back in between. `removals` are such that no graph is retained.
    """
    from autodetach.codemods.insert_statement import InsertStatement

    held = cover(program, again, d, activation, [operand for _, operand, _ in crossed])
    lines: dict[ast.stmt, dict[str, None]] = {}
    named: dict[str, None] = {}
    is_once = True
    for holder in held.values():
        is_grown = is_list(holder.value) and is_filled(again, holder.value)
        found = _forgetting(program, again, d, activation, holder) if is_grown else None
        if found is None:
            return
        is_once = is_once and found.is_once
        beside = (text.rpartition(".")[2] for text in grown_alike(again, holder))
        for attribute in (attribute_of(holder), *(name for name in beside if name not in found.said)):
            begin = begin_of(found.owner, attribute, found.this)
            if begin is None:
                return
            lines.setdefault(found.behind, {})[begin] = None
            named[f"{found.this}.{attribute}"] = None
    if lines:
        shown = ", ".join(f"`{name}`" for name in named)
        where = ", ".join(f"`{name}`" for name in dict.fromkeys(_name_of(program, s) for s in lines))
        codemods = tuple(InsertStatement(behind, "\n".join(texts)) for behind, texts in lines.items())
        message = f"set {shown} back in {where}, too"
        if removals:
            yield Candidate(f"{message}, and no graph is retained", (*codemods, *removals), FORGOTTEN, adds=is_once)
        yield Candidate(message, codemods, FORGOTTEN, adds=is_once)


class _Forgetting(NamedTuple):
    """A method that sets `owner` back, which it calls `this`: `behind` sets back the last of what it does.

    `said` are the attributes of which it says something; `is_once`: nothing else that was run calls it.
    """

    owner: Instance
    this: str
    behind: ast.stmt
    said: Collection[str]
    is_once: bool


def _forgetting(
    program: Program, again: Replay, d: Moment, activation: Activation, holder: Holder
) -> _Forgetting | None:
    """The first method that the pass calls to set back the object of a state, and that says nothing of the state."""
    owner, attribute = holder.owner, attribute_of(holder)
    if owner is None or not attribute:
        return None
    for call in _calls_before(program, d, activation):
        method = _method(owner, call.func.attr) if object_of(call.func.value, call.frame) is owner else None
        found = None if method is None else _setting(owner, method)
        if method is None or found is None or _makes_graph(again, method):
            continue
        this, behind = found
        names = {method.name, _name_of(program, behind)}
        words = {word for name in names for word in name.split("_")}
        is_begin = not WORDS.isdisjoint(words) or _is_as_begun(owner, program.scope(behind), this)
        said = _said(owner, method)
        if is_begin and attribute not in {*said, *names_in(with_called(program, again.machine, call.behind))}:
            is_once = not call.again and not _is_called_elsewhere(program, again, owner, names, call.node)
            return _Forgetting(owner, this, behind, said, is_once)
    return None


def _is_called_elsewhere(program: Program, again: Replay, owner: Instance, names: set[str], call: ast.Call) -> bool:
    """Whether a statement that was run calls methods of these names by another call, but for those of the class."""
    own = {cls.node for cls in classes_of(owner)}
    return any(
        isinstance(n, ast.Call) and n is not call and isinstance(n.func, ast.Attribute) and n.func.attr in names
        for statement in again.machine.executed
        if not isinstance(statement, DEFINITIONS) and own.isdisjoint(program.enclosing(statement))
        for n in ast.walk(statement)
    )


class _Call(NamedTuple):
    """A call of a method in a pass, behind some statements of it; `again`: a loop of the pass may repeat it."""

    node: ast.Call
    func: ast.Attribute
    frame: Frame
    behind: list[ast.stmt]
    again: bool


def _calls_before(program: Program, d: Moment, activation: Activation) -> Iterator[_Call]:
    """Calls in the pass, before the statements that were running at the moment, outermost first."""
    begun = begun_at(program, d, activation.node)
    before: list[ast.stmt] = []
    in_loop = False
    for statement, frame in d.trail if begun is None else d.trail[begun + 1 :]:
        block = program.block(statement)
        for earlier in block[: block.index(statement)] if isinstance(frame, Frame) else ():
            outside = {*program.enclosing(earlier)}
            for node in ast.walk(earlier):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(frame, Frame):
                    around = {*program.enclosing(node)} - outside
                    again = in_loop or any(isinstance(at, (*LOOPS, *COMPREHENSIONS)) for at in around)
                    yield _Call(node, node.func, frame, before.copy(), again)
            before.append(earlier)
        in_loop = in_loop or isinstance(statement, LOOPS)


def _setting(owner: Instance, method: ast.FunctionDef, depth: int = 0) -> tuple[str, ast.stmt] | None:
    """What a method, or the first that it calls, names its object, and the last statement that sets some of it back."""
    this = _this(method)
    set_back = [s for s in method.body if any(_own(target, this) for target, _ in assigned(s))]
    if any(_goes_on(s, this) for s in walk(method)):
        return None
    if set_back:
        return this, set_back[-1]
    inner = (_method(owner, name) for name in _called(method))
    found = (_setting(owner, m, depth + 1) for m in inner if m is not None and depth < MAX_DEPTH)
    return next((f for f in found if f is not None), None)


def _goes_on(statement: ast.AST, this: str) -> bool:
    """Whether what an attribute has becomes something else: `self.step += 1`, `self.rate = 0.9 * self.rate`."""
    if isinstance(statement, ast.AugAssign):
        return _own(statement.target, this) != ""
    read = {_own(n, this) for _, value in assigned(statement) for n in ast.walk(value)}
    return any(_own(target, this) in read - {""} for target, _ in assigned(statement))


def _own(target: ast.AST, this: str) -> str:
    """`state` of `self.state` and `self.state["step"]`."""
    while isinstance(target, ast.Subscript):
        target = target.value
    is_own = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == this
    return target.attr if is_own and isinstance(target, ast.Attribute) else ""


def _is_as_begun(owner: Instance, method: ast.AST, this: str) -> bool:
    """Whether a method gives an attribute what the constructor gives it, or is called by that."""
    constructors = list(_constructors(owner))
    if any(isinstance(method, ast.FunctionDef) and method.name in _called(c) for c in constructors):
        return True
    begun = {(_own(t, _this(c)), spelled(v)) for c in constructors for s in ast.walk(c) for t, v in assigned(s)}
    given = ((_own(t, this), spelled(v)) for s in walk(method) for t, v in assigned(s))
    return any(name and (name, value) in begun for name, value in given)


def begin_of(owner: Instance, attribute: str, this: str) -> str | None:
    """How a method that calls its object `this` gives an attribute what the constructor gives it, if that is empty."""
    given = [
        (value, constructor)
        for constructor in _constructors(owner)
        for statement in walk(constructor)
        for target, value in (*assigned(statement), *_annotated(statement))
        if isinstance(target, ast.Attribute) and _own(target, _this(constructor)) == attribute
    ]
    if len(given) != 1 or not _is_begin(given[0][0]):
        return None
    value, constructor = given[0]
    local = {a.arg for a in ast.walk(constructor.args) if isinstance(a, ast.arg)} | {
        n.id for n in walk(constructor) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    if local.isdisjoint(n.id for n in ast.walk(value) if isinstance(n, ast.Name)):
        return f"{this}.{attribute} = {spelled(value)}"
    return f"{this}.{attribute}.clear()" if is_empty(value) else None


def _annotated(statement: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        yield statement.target, statement.value


def _is_begin(value: ast.expr) -> bool:
    """`[]`, `deque(maxlen=n)`, `{"deaths": []}`: what has nothing in it."""
    return is_empty(value) or (isinstance(value, ast.Dict) and all(is_empty(part) for part in value.values))


def _makes_graph(again: Replay, method: ast.FunctionDef) -> bool:
    """Whether anything is computed with history while a method runs."""
    return any(
        isinstance(frame, Frame) and frame.function is not None and frame.function.node is method
        for node in again.machine.nodes
        for _, frame in trail_of(node)
    )


def _said(owner: Instance, method: ast.FunctionDef) -> set[str]:
    """The attributes that a method mentions, and those of its object that it calls."""
    said: set[str] = set()
    pending, seen = [method], {method}
    for one in pending:
        said |= {n.attr for n in ast.walk(one) if isinstance(n, ast.Attribute)}
        for inner in (_method(owner, name) for name in _called(one)):
            if inner is not None and inner not in seen:
                seen.add(inner)
                pending.append(inner)
    return said


def _called(method: ast.FunctionDef) -> list[str]:
    """The methods of its own object that a method calls, in their order, those of `super()` included."""
    calls = [n.func for n in walk(method) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    return [f.attr for f in calls if isinstance(f, ast.Attribute) and spelled(f.value) in (_this(method), "super()")]


def _method(owner: Instance, name: str) -> ast.FunctionDef | None:
    found = method_of(owner, name)
    node = found.node if found is not None else None
    return node if isinstance(node, ast.FunctionDef) and _this(node) else None


def _constructors(owner: Instance) -> Iterator[ast.FunctionDef]:
    for cls in classes_of(owner):
        found = cls.names.get("__init__")
        if isinstance(found, Function) and isinstance(found.node, ast.FunctionDef):
            yield found.node


def _this(method: ast.FunctionDef) -> str:
    return method.args.args[0].arg if method.args.args else ""


def attribute_of(holder: Holder) -> str:
    """`records` of `task.runner.records["deaths"]`, where that belongs to an object of the program."""
    found = re.fullmatch(r"\.(\w+)(\[.*\])?", holder.rest)
    return "" if found is None else found[1]


def _name_of(program: Program, statement: ast.stmt) -> str:
    return getattr(program.scope(statement), "name", "")
