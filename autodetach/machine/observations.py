"""What a run has shown of code that is out of view, made into values, edges and events of the machine.

Only what the machine would have to guess is replaced: results of unknown calls, and parts of them.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.machine import parameter_groups
from autodetach.machine.activations import diverge
from autodetach.machine.core import Core
from autodetach.machine.evidence import Evidence, Kept, Kind, Observed, Place, text_of
from autodetach.machine.graph import Node, Site
from autodetach.machine.held import graph_in
from autodetach.machine.marks import HELD, OPTIMIZER, QUIET, WEIGHTS
from autodetach.machine.module_tree import is_module
from autodetach.machine.program_values import External, Frame, Instance
from autodetach.machine.spelling import spelled
from autodetach.machine.state import MISSING, Raised
from autodetach.machine.told_of_values import is_number
from autodetach.machine.torch_semantics import TENSOR_ATTRIBUTES
from autodetach.machine.values import Opaque, Sequence, Sym, Tensor, Value

SEQUENCES = {Kind.TUPLE: "tuple", Kind.LIST: "list"}


@dataclass(frozen=True, eq=False, slots=True)
class Call:
    """A call that is about to be made: its text, the callee (of a method: its object), and what it is given."""

    node: ast.Call
    frame: Frame
    text: str
    place: Place
    callee: Value
    method: str
    args: list[Value]
    kwargs: dict[str, Value]
    site: Site
    escapes: int


def place_in(frame: Frame) -> Place:
    """Where a frame runs, as evidence says it."""
    top = frame.top
    module = top.module
    if frame.qualname == top.qualname:
        name = ""
    else:
        name = frame.qualname.removeprefix(top.qualname + ".")
    return Place("" if module is None else module.path, name)


def begin(
    m: Core,
    node: ast.Call,
    frame: Frame,
    callee: Value,
    method: str,
    args: list[Value],
    kwargs: dict[str, Value],
    site: Site,
) -> Call | None:
    """Note a call of something out of view before it is made; None where the machine knows what it does."""
    if m.evidence is None or not _is_out_of_view(m, callee, method, site):
        return None
    return Call(node, frame, text_of(node), place_in(frame), callee, method, args, kwargs, site, len(m.escapes))


def _is_out_of_view(m: Core, callee: Value, method: str, site: Site) -> bool:
    if isinstance(callee, Opaque):
        is_tensor = callee.node is not None and not callee.node.weak
        return not (is_tensor and method in TENSOR_ATTRIBUTES)
    if isinstance(callee, External):
        return callee.path.startswith("torch.ops.") or not callee.path.startswith(("torch.", "builtins."))
    if isinstance(callee, Instance) and method:
        found = m.lookup(callee, method, site)
        return found is MISSING or isinstance(found, Opaque)
    return isinstance(callee, Sym)


def finish(m: Core, call: Call, result: Value) -> Value:
    """What the call has given back, and kept, by what the run has shown."""
    evidence = m.evidence
    assert evidence is not None
    for kept in evidence.kept:
        if kept.place == call.place and kept.call == call.text:
            _keep(m, call, kept)
    known = call.method in TENSOR_ATTRIBUTES
    if isinstance(result, Opaque) and result.origin is None and not known and not _has_a_part_to_play(result):
        result.origin = call
    seen = evidence.results.get((call.place, call.text))
    if seen is None or known:
        return result
    if not (result is None or isinstance(result, Sym) or _is_guess(result)):
        _compare(m, call.site, call.text, seen, result)
        return result
    return _value(m, seen, result, call, f"`{spelled(call.node)}` returned")


def bound(m: Core, target: ast.expr, value: Value, frame: Frame) -> Value:
    """What a name or an attribute is bound to, by what the run has shown."""
    evidence: Evidence | None = m.evidence
    if evidence is None or not evidence.bindings or not isinstance(target, (ast.Name, ast.Attribute)):
        return value
    name = spelled(target)
    seen = evidence.bindings.get((place_in(frame), name))
    if seen is None:
        return value
    site = Site(target, frame.qualname)
    if not _is_guess(value):
        _compare(m, site, name, seen, value)
        return value
    shown = f"`{name}` was"
    if isinstance(value.origin, Call):
        return _value(m, seen, value, value.origin, shown)
    if seen.kind is Kind.HISTORY and value.node is not None:
        _confirm(value.node, shown)
    elif seen.kind in (Kind.PLAIN, Kind.NUMBER):
        return _plain(m, seen, value)
    return value


def _has_a_part_to_play(value: Opaque) -> bool:
    return any(mark in value.attrs for mark in (WEIGHTS, OPTIMIZER, QUIET))


def _is_guess(value: Value) -> bool:
    """Whether what is known of a value comes from the result of an unknown call."""
    if not isinstance(value, Opaque) or _has_a_part_to_play(value):
        return False
    return value.origin is not None or (value.node is not None and (value.node.assumed or value.node.weak))


def _compare(m: Core, site: Site, name: str, seen: Observed, value: Value) -> None:
    """Note where a run has shown another thing than the machine knows; the machine keeps to what it knows."""
    if isinstance(value, Tensor) and m.grad_enabled:
        known = Kind.PLAIN if value.node is None else Kind.LEAF if value.node.leaf else Kind.HISTORY
        assumed = value.node is not None and (value.node.assumed or value.node.weak)
        if assumed or seen.kind not in (Kind.PLAIN, Kind.LEAF, Kind.HISTORY, Kind.NUMBER):
            return
    elif is_number(value) and seen.kind in (Kind.HISTORY, Kind.LEAF, Kind.PLAIN):
        known = Kind.NUMBER
    else:
        return
    if known is not seen.kind:
        m.contradictions.append((site, f"`{name}` was {seen.kind.value} in the run, and is {known.value} here"))


def _confirm(node: Node, shown: str) -> None:
    """A value that has history only if an unknown call hands it on has shown that it has."""
    at: Node | None = node
    node.observed = f"{shown} {Kind.HISTORY.value}"
    while at is not None and (at.assumed or at.weak):
        at.assumed = at.weak = False
        at = at.parents[0] if len(at.parents) == 1 else None


def _plain(m: Core, seen: Observed, value: Value) -> Value:
    _drop(value)
    if seen.kind is Kind.NUMBER:
        return m.fresh("number")
    made = Tensor(None, () if seen.scalar else None)
    made.born = m.clock
    return made


def _drop(value: Value) -> None:
    """The node that was guessed for a value proves nothing any more."""
    if isinstance(value, Opaque) and value.node is not None and value.node.assumed:
        value.node.weak = True


def _value(
    m: Core, seen: Observed, value: Value, call: Call, shown: str, path: str = "", shared: Tensor | None = None
) -> Value:
    """The value that an unknown call has given, in place of what was guessed; `shared` is what its neighbours share."""
    if seen.kind in (Kind.PLAIN, Kind.NUMBER):
        return _plain(m, seen, value)
    if seen.kind is Kind.HISTORY:
        return _with_history(m, seen, value, call, shown, shared)
    if seen.kind is Kind.LEAF:
        _drop(value)
        return _leaf(m, call, path)
    if seen.kind in SEQUENCES and seen.items is not None:
        items = []
        shared = _shared(m, seen, seen.items, value, call)
        for number, item in enumerate(seen.items):
            part = m.subscript(value, number, call.site) if isinstance(value, Opaque) else m.opaque("item")
            given = f"{shown.removesuffix(' returned')} returned in place {number}"
            items.append(_value(m, item, part, call, given, f"{path}[{number}]", shared))
        return Sequence(SEQUENCES[seen.kind], items, m.clock)
    if seen.kind in (Kind.MODULE, Kind.OPTIMIZER):
        made = value if isinstance(value, Opaque) else m.opaque(call.method)
        _drop(made)
        made.node = None
        if seen.kind is Kind.OPTIMIZER:
            made.attrs[OPTIMIZER] = True
        else:
            made.attrs[WEIGHTS] = _leaf(m, call, path)
            made.attrs[WEIGHTS].parameter = True
        return made
    return value


def _shared(m: Core, seen: Observed, items: tuple[Observed, ...], value: Value, call: Call) -> Tensor | None:
    """The graph that several results of one call have in common: known where it was looked at, else assumed."""
    several = sum(item.kind is Kind.HISTORY for item in items) > 1
    if not several or seen.saves is False or not m.grad_enabled:
        return None
    _drop(value)
    made = Tensor(None, None, True)
    hidden = _leaf(m, call, "")
    parents = () if hidden.node is None else (hidden.node,)
    made.node = m.new_node(call.method or "call", call.site, parents, (hidden,), saves=True, assumed=seen.saves is None)
    if seen.saves:
        made.node.observed = f"the results of `{spelled(call.node)}` share a graph"
    return made


def _with_history(m: Core, seen: Observed, value: Value, call: Call, shown: str, shared: Tensor | None) -> Value:
    if not m.grad_enabled:
        return _plain(m, seen, value)
    _drop(value)
    hidden = _leaf(m, call, "")
    if hidden not in m.hidden:
        m.hidden.append(hidden)
    weights = _weights(m, call)
    given = [call.callee, *call.args, *call.kwargs.values()]
    kept = [v.attrs[HELD] for v in given if isinstance(v, (Opaque, Instance)) and HELD in v.attrs]
    carriers = {id(t): t for v in given for t in graph_in(v) if t.node is not None and not t.node.weak}
    # What it keeps and has freed before, it has let go of, unless the run has shown that it reaches into that.
    alive = (t for v in kept for t in graph_in(v) if t.node is not None and (t.node.freed_by is None or seen.carries))
    carriers.update((id(t), t) for t in alive)
    before = _state(m, seen, call)
    if before is not None:
        carriers[id(before)] = before
    operands = [*carriers.values(), *weights, hidden, *([] if shared is None else [shared])]
    saves = seen.saves is not False
    saved = tuple((leaf.storage, leaf.storage.version) for leaf in (weights or [hidden]) if saves)
    result = Tensor(None, () if seen.scalar else None, True)
    result.born = m.clock
    parents = tuple(dict.fromkeys(o.node for o in operands if o.node is not None))
    name = call.method or getattr(call.callee, "name", "") or "call"
    result.node = m.new_node(name, call.site, parents, tuple(operands), saves=saves, saved=saved)
    result.node.observed = f"{shown} {seen.kind.value}" + (" that reaches into earlier passes" if seen.carries else "")
    if seen.carries:
        _set_state(m, seen, call, result.node)
    return result


def _leaf(m: Core, call: Call, path: str) -> Tensor:
    """The leaf behind what a call gives, out of view: one for each call of the text, since they are its weights."""
    key = (call.place, call.text, path)
    if key not in m.leaf_of_call:
        m.leaf_of_call[key] = m.leaf(call.site)
    return m.leaf_of_call[key]


def _weights(m: Core, call: Call) -> list[Tensor]:
    """The parameters of modules in view with which the callee was made, or which the call is given."""
    made = call.callee.origin if isinstance(call.callee, Opaque) else None
    given = [*call.args, *call.kwargs.values()]
    if isinstance(made, Call):
        given += [*made.args, *made.kwargs.values()]
    if isinstance(call.callee, Opaque) and isinstance(call.callee.attrs.get(HELD), Sequence):
        given += call.callee.attrs[HELD].items
    found: dict[int, Tensor] = {}
    for value in given:
        if isinstance(value, Instance) and is_module(value):
            parameters = m.call_method(value, "parameters", [], {}, call.site)
            found.update((id(t), t) for t in parameter_groups.leaves_of(m, parameters, call.site))
    return list(found.values())


# ---- what a call carries from pass to pass


def _state(m: Core, seen: Observed, call: Call) -> Tensor | None:
    """The tensor of an earlier pass that the callee has kept, unless an argument brings it."""
    given = [t.node for v in (*call.args, *call.kwargs.values()) for t in graph_in(v) if t.node is not None]
    if any(not n.leaf and not n.weak and diverge(n.loops, m.loops) is not None for n in given):
        m.explained.add((call.place, call.text))
    if not seen.carries:
        return None
    owner, name = _owner(m, seen, call)
    state = owner.attrs.get(name) if owner is not None else m.carried.get(m.key(call.callee))
    return state if isinstance(state, Tensor) and state.node is not None else None


def _set_state(m: Core, seen: Observed, call: Call, node: Node) -> None:
    state = Tensor(node, None, True)
    state.born = m.clock
    m.state_names[state] = seen.state
    owner, name = _owner(m, seen, call)
    if owner is None:
        m.carried[m.key(call.callee)] = state
        return
    owner.attrs[name] = state
    if isinstance(owner, Opaque):
        owner.states.add(name)


def _owner(m: Core, seen: Observed, call: Call) -> tuple[Opaque | Instance | None, str]:
    """The object that `state` names, and the attribute."""
    if not seen.state:
        return None, ""
    try:
        target = ast.parse(seen.state, mode="eval").body
    except SyntaxError:
        return None, ""
    if not isinstance(target, ast.Attribute):
        return None, ""
    try:
        owner = m.eval(target.value, call.frame)
    except Raised:
        return None, ""
    return (owner, target.attr) if isinstance(owner, (Opaque, Instance)) else (None, "")


# ---- what a call keeps


def _keep(m: Core, call: Call, kept: Kept) -> None:
    """As if the argument were appended to a list that outlives the pass."""
    element, value = _argument(call, kept.argument)
    if element is None:
        return
    container = _kept_by(m, call)
    container.items.append(value)
    if kept.walked:
        return
    first = len(m.stored)
    m.store(container, value, element, call.site, "append")
    where = f" in `{kept.holder}`" if kept.holder else ""
    told = f"`{spelled(call.node)}` keeps `{spelled(element)}`{where}"
    for event in m.stored[first:]:
        event.observed = told
    if kept.walked is False:  # nobody differentiates what it was given
        m.escapes[call.escapes :] = [e for e in m.escapes[call.escapes :] if e.site is not call.site or e.tags]


def _argument(call: Call, which: int | str) -> tuple[ast.expr | None, Value]:
    if isinstance(which, str):
        expression = next((k.value for k in call.node.keywords if k.arg == which), None)
        return expression, call.kwargs.get(which)
    written = call.node.args
    if which >= len(written) or any(isinstance(a, ast.Starred) for a in written[: which + 1]):
        return None, None
    return written[which], call.args[which]


def _kept_by(m: Core, call: Call) -> Sequence:
    this = call.callee
    if not (call.method and isinstance(this, (Opaque, Instance))):
        return m.kept_by.setdefault(m.key(this), Sequence("list", [], 0))
    held = this.attrs.get(HELD)
    if not (isinstance(held, Sequence) and held.kind == "list"):
        held = this.attrs[HELD] = Sequence("list", list(held.items) if isinstance(held, Sequence) else [], this.born)
    return held


__all__ = ["begin", "bound", "finish", "place_in"]
