"""Sums that an object begins when an epoch starts, and a step uses up now and then, begin anew behind that step."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from autodetach.candidates.begun_sum import is_nothing
from autodetach.candidates.local_sums import ANEW
from autodetach.candidates.mentioned import mentions
from autodetach.candidates.sums_anew import adds
from autodetach.machine.activations import Activation
from autodetach.machine.children import walk
from autodetach.machine.program_values import Frame, Instance
from autodetach.machine.spelling import last_word, spelled
from autodetach.suspect import Candidate
from autodetach.view.holders import Holder, Replay
from autodetach.view.meant import classes_of
from autodetach.view.moments import Moment, behind_step, last_mention, placed
from autodetach.view.program import Program, line

LEAVING = (ast.Return, ast.Continue)


def kept_sums_begun_anew(
    program: Program, again: Replay, d: Moment, activation: Activation, holders: Collection[Holder]
) -> Iterator[Candidate]:
    """`self.pending = {"grade": 0.0}` of `on_epoch_start()`, once more behind a step that not every pass makes."""
    from autodetach.codemods.insert_statement import InsertStatement

    names = list(dict.fromkeys(h.rest.removeprefix(".") for h in holders))
    owners = {h.owner for h in holders}
    owner = owners.pop() if len(owners) == 1 else None
    frame = _reading(d, owner, names)
    if owner is None or frame is None or not all(name.isidentifier() for name in names):
        return
    assert frame.function is not None
    function = frame.function.node
    assert isinstance(function, ast.FunctionDef)
    this = function.args.args[0].arg
    begins = {f"{this}.{name}": _begin(program, owner, name, function) for name in names}
    statement = placed(program, d, frame, activation.node)
    if None in begins.values() or statement is None or not _is_now_and_then(program, statement, function):
        return
    anchor = last_mention(program, behind_step(program, again.machine, d, statement, frame), list(begins))
    if any(line(n) > (anchor.end_lineno or 0) for n in walk(function) if _is_one(n, names)):
        return
    body = "\n".join(f"{name} = {begin}" for name, begin in begins.items())
    shown = ", ".join(f"`{name} = {begin}`" for name, begin in begins.items())
    yield Candidate(f"begin anew: {shown} behind the step", (InsertStatement(anchor, body),), ANEW)


def _reading(d: Moment, owner: Instance | None, names: list[str]) -> Frame | None:
    """The innermost method of an object that was running and speaks of all its sums."""
    for _, frame in reversed(d.trail):
        node = frame.function.node if isinstance(frame, Frame) and frame.function is not None else None
        if not isinstance(frame, Frame) or not isinstance(node, ast.FunctionDef) or not node.args.args:
            continue
        spoken_of = {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
        if owner is not None and frame.names.get(node.args.args[0].arg) is owner and spoken_of.issuperset(names):
            return frame
    return None


def _is_one(node: ast.AST, names: Collection[str]) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in names


def _is_now_and_then(program: Program, statement: ast.stmt, function: ast.FunctionDef) -> bool:
    """Whether a call of the function may leave a statement out: a sum that every pass uses up may be meant to go on."""
    at: ast.AST | None = statement
    while isinstance(at, ast.stmt) and at is not function:
        if isinstance(program.parents.get(at), ast.If):
            return True
        block = program.block(at)
        before = block[: block.index(at)] if at in block else []
        if any(isinstance(s, ast.If) and any(isinstance(n, LEAVING) for n in ast.walk(s)) for s in before):
            return True
        at = program.parents.get(at)
    return False


def _begin(program: Program, owner: Instance, name: str, function: ast.FunctionDef) -> str | None:
    """What other methods begin an attribute with, if the program else only adds to it, and the function reads it."""
    lines = [cls.node for cls in classes_of(owner)]
    own = lines[0] if lines else None
    begins: dict[str, None] = {}
    is_added = False
    for mention in mentions(program, own, name) if own is not None else ():
        statement, scope = program.statement(mention), program.scope(mention)
        if isinstance(statement, ast.Assign) and statement.targets == [mention] and scope is not function:
            begin = _zeros(program, statement, function)
            if begin is None or not set(lines).intersection(program.enclosing(statement)):
                return None
            begins[begin] = None
        elif _is_stored(program, mention):
            if statement is None or not adds(statement):
                return None
            is_added = True
        elif scope is not function and not (statement is not None and adds(statement)):
            return None  # who reads it when the epoch is over may mean all of it
    return next(iter(begins)) if is_added and len(begins) == 1 else None


def _is_stored(program: Program, mention: ast.Attribute) -> bool:
    """Whether it, or an element of it, is bound."""
    at: ast.AST = mention
    while isinstance(around := program.parents.get(at), ast.Subscript) and around.value is at:
        at = around
    return not isinstance(getattr(at, "ctx", None), ast.Load)


def _zeros(program: Program, statement: ast.Assign, function: ast.FunctionDef) -> str | None:
    """How a statement of a method writes a zero, or a dict of zeros, if it means the same in the function."""
    value, home = statement.value, program.scope(statement)
    if not isinstance(home, ast.FunctionDef) or not home.args.args:
        return None
    this = home.args.args[0].arg
    local = {n for scope in (home, function) for n in (*program.names_bound(scope), *_arguments(scope))} - {this}
    if spelled(statement.targets[0]).partition(".")[0] != this or this != function.args.args[0].arg:
        return None
    return spelled(value) if _is_zero(value) and local.isdisjoint(program.names_read(value)) else None


def _arguments(function: ast.FunctionDef) -> Iterator[str]:
    return (a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg))


def _is_zero(value: ast.expr) -> bool:
    """`0.0`, or a dict of such: `{"a": 0.0}`, `{k: 0.0 for k in names}`, `dict.fromkeys(names, 0.0)`."""
    if isinstance(value, ast.Dict):
        return bool(value.values) and all(is_nothing(part) for part in value.values)
    if isinstance(value, ast.DictComp):
        return is_nothing(value.value)
    if isinstance(value, ast.Call) and last_word(value.func) in ("fromkeys", "defaultdict"):
        last = value.args[-1] if value.args and not value.keywords else None
        is_number = isinstance(last, ast.Name) and last.id in ("float", "int") and len(value.args) == 1
        return is_number or (last is not None and len(value.args) == 2 and is_nothing(last))
    return is_nothing(value)
