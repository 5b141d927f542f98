"""Containers that are made of others, or take in what others hold."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import chain

from autodetach.machine.activations import Activation
from autodetach.machine.arguments import written_at, written_in_dict
from autodetach.machine.core import Core
from autodetach.machine.elements import set_item
from autodetach.machine.graph import Site
from autodetach.machine.implicit_calls import hash_all
from autodetach.machine.passes import MAX_PASSES
from autodetach.machine.program_values import Frame, Iterable
from autodetach.machine.state import MISSING
from autodetach.machine.tallies import added, is_tally
from autodetach.machine.texts import filled_by_percent
from autodetach.machine.told_of_values import is_constant, is_number
from autodetach.machine.values import Mapping, Opaque, Sequence, Sym, Value

MAX_GATHERED = 64
"""Iterators of so few elements are asked for all of them by what takes all."""
MAX_WHOLE = 8
"""So many are asked for of a generator that was not cut off so far."""
MAPS = frozenset({"map", "starmap"})


def put(
    m: Core, this: Sequence, value: Value, element: ast.expr | None, site: Site, how: str, at: int | None = None
) -> None:
    this.filled = None
    if at is None:
        this.items.append(value)
    else:
        this.items.insert(at, value)
    if m.truncated_since(this.born):
        this.exact = False
    if isinstance(this.maxlen, int) and len(this.items) > this.maxlen:
        this.items.pop(-1 if at == 0 else 0)
    m.store(this, value, element, site, how)


def extend(m: Core, this: Sequence, value: Value, element: ast.expr | None, site: Site, at: int | None = None) -> None:
    items, exact = m.collect(value, site)
    elements = element.elts if isinstance(element, (ast.List, ast.Tuple, ast.Set)) else []
    inner = elements if len(elements) == len(items) else None
    if this.kind == "set":
        hash_all(m, items, site)
    for i, item in enumerate(items):
        if this.kind == "set" and item in this.items:
            continue
        source, how = (element, "extend") if inner is None else (inner[i], "append")
        put(m, this, item, source, site, how, at)
    if not exact:
        this.exact = False


def united(m: Core, this: Sequence, others: list[Value], sources: list[ast.expr | None], site: Site) -> Sequence:
    """`this | other`, `this.union(*others)`."""
    made = copy_of(m, this, "set")
    _go_on_with(m, this, made, site)
    for other, source in zip(others, sources, strict=True):
        extend(m, made, other, source, site)
    return made


def copy_of(m: Core, this: Sequence, kind: str) -> Sequence:
    """`list(this)`, `this.copy()`."""
    made = Sequence(kind, list(this.items), m.clock, this.exact)
    made.copied = this
    return made


def gathered(m: Core, items: Iterable, kind: str, site: Site) -> Sequence:
    """`list(steps(data))`, `list(map(step, data))`: each element is made when it is asked for, as in a loop."""
    made = Sequence(kind, [], m.clock, False)
    exact = items.length is not None and items.length <= MAX_GATHERED
    frame = m.trail[-1][1] if m.trail else None
    if not isinstance(frame, Frame):
        made.items, made.exact = m.collect(items, site, MAX_GATHERED)
        return made
    activation = m.activate_over(items, site.node, frame, exact)
    outer = m.loops
    try:
        steps, usual = items.start(exact), None
        for item in steps:
            if not exact and activation.passes >= (MAX_WHOLE if items.whole else MAX_PASSES):
                made.items += m.others_at_end(items, chain((item,), steps), usual, activation.passes)
                break
            m.enter_pass_with(item, activation, outer)
            made.items.append(item)
            if not (exact or activation.short):
                m.store(made, item, written_at(site, 0), site, "extend")
            m.loops, usual = outer, item
        else:
            made.exact = activation.exact = exact or items.whole
    finally:
        m.loops = outer
        m.finish(activation)
    return made


def is_added_one_by_one(items: Value) -> bool:
    """Whether what is added up is made of many things, by `map` or a generator, each when it is asked for."""
    if not isinstance(items, Iterable) or items.brief or (items.name not in MAPS and items.frame is None):
        return False
    return items.length is None or items.length > MAX_GATHERED


def summed(m: Core, items: Iterable, total: Value, frame: Frame, site: Site) -> Value:
    """`sum(map(step, data))`, `sum(losses(data))`, as a loop that adds each element."""
    total = added_up(m, items, total, lambda total, item: m.binary("Add", total, item, site), frame, site)
    return m.fresh("number") if is_constant(total) else total


def added_up(
    m: Core, items: Iterable, total: Value, add: Callable[[Value, Value], Value], frame: Frame, site: Site
) -> Value:
    """What a loop makes of all elements, each made in a pass of its own; MISSING where there are none, nor a begin."""
    begun = len(m.activations) + 1
    activation, outer = m.activate_over(items, site.node, frame, False), m.loops
    try:
        steps, usual = items.start(False), None
        for item in steps:
            if activation.passes >= (MAX_WHOLE if items.whole else MAX_PASSES):
                for other in m.others_at_end(items, chain((item,), steps), usual, activation.passes):
                    m.enter_pass_with(other, activation, outer)
                    total = add(total, other)
                    m.loops = outer
                break
            m.enter_pass_with(item, activation, outer)
            total = item if total is MISSING else add(total, item)
            m.loops, usual = outer, item
        else:
            activation.exact = items.whole
    finally:
        m.loops = outer
        if items.frame is not None:
            _as_its_loops(activation, [a for a in m.activations[begun:] if a.frame is items.frame])
        m.finish(activation)
    return total


def _as_its_loops(activation: Activation, inside: list[Activation]) -> None:
    """Going over a generator is as long as its own loops are, and goes over what these go over."""
    activation.short = activation.short or all(a.short or a.exact for a in inside)
    activation.over_modules = activation.over_modules or any(a.over_modules for a in inside)
    activation.over_parameters = activation.over_parameters or any(a.over_parameters for a in inside)


def adopt(m: Core, old: Sequence | Mapping, new: Sequence | Mapping) -> None:
    """`new` holds what `old` held (`xs = xs + [x]`): what was stored there is stored here, and it is as old."""
    olds = (old,) if old.copied is None else (old, old.copied)
    new.born = min(new.born, *(each.born for each in olds))
    new.read = max(new.read, *(each.read for each in olds))
    if isinstance(new, Sequence) and m.truncated_since(new.born):
        new.exact = False  # passes that are not executed add to it, too
    for each in olds:
        events = m.stored_in.pop(each, [])
        for event in events:
            event.container = new
        m.stored_in.setdefault(new, []).extend(events)


def binary(m: Core, op: str, left: Value, right: Value, site: Site) -> Value:
    """`+`, `*` and `|` of containers, by the name of the class of the operator in `ast`; else MISSING."""
    m.note_read(left)
    m.note_read(right)
    if op == "Add" and isinstance(left, Sequence) and isinstance(right, Sequence):
        result = Sequence(left.kind, [*left.items, *right.items], right.born, left.exact and right.exact)
        _go_on_with(m, left, result, site)
        if isinstance(site.node, (ast.BinOp, ast.AugAssign)):
            source = site.node.right if isinstance(site.node, ast.BinOp) else site.node.value
            _store_all(m, result, right, source, site)
        return result
    if op == "Add" and isinstance(left, Sequence) and isinstance(right, (Opaque, Iterable, Sym)):
        return Sequence(left.kind, list(left.items), left.born, False)
    if op == "Mult" and isinstance(left, Sequence) and isinstance(right, int):
        if 0 <= right * len(left.items) <= 64:
            return Sequence(left.kind, left.items * right, m.clock, left.exact)
        return _repeated(m, left)
    if op == "Mult" and isinstance(left, Sequence):
        return _repeated(m, left)
    if op == "Mult" and isinstance(right, Sequence):
        return binary(m, op, right, left, site)
    if op == "BitOr" and isinstance(left, Mapping) and isinstance(right, Mapping):
        merged = Mapping(m.clock, left.exact and right.exact)
        merged.items.update(left.items)
        _go_on_with(m, left, merged, site)
        _set_all(m, merged, right, site)
        return merged
    if op in ("Add", "Sub") and is_tally(left) and is_tally(right):
        summed = Mapping(m.clock, left.exact)
        summed.default = left.default
        summed.items.update(left.items)
        summed.items.update((m.key(k), (k, v)) for k, v in added(m, summed, op, [right], {}, site))
        return summed
    if op == "BitOr" and isinstance(left, Sequence) and left.kind == "set" and isinstance(right, Sequence):
        return united(m, left, [right], [_right_of(site)], site)
    if isinstance(left, Sequence) and left.kind == "set":
        return Sequence("set", list(left.items), m.clock, False)
    if isinstance(left, str) and op == "Mod":
        return filled_by_percent(m, left, right) if isinstance(right, Sequence) else m.fresh("str")
    if isinstance(left, Sequence) and (right is None or is_number(right)) and op in ("Add", "Sub", "Div"):
        m.refuse(site, "adds a number to a list", "TypeError")
    return MISSING


def _repeated(m: Core, this: Sequence) -> Sequence:
    """`this * n`, where that is long, or nobody knows how long."""
    made = Sequence(this.kind, list(this.items), m.clock, False)
    made.room = all(is_constant(item) for item in this.items)
    made.again = not made.room
    return made


def augmented(m: Core, op: str, old: Value, right: Value, site: Site) -> Value:
    source = site.node.value if isinstance(site.node, ast.AugAssign) else None
    if op == "Add" and isinstance(old, Sequence) and old.kind in ("list", "deque"):
        extend(m, old, right, source, site)
        return old
    if op == "BitOr" and isinstance(old, Sequence) and old.kind == "set":
        extend(m, old, right, source, site)
        return old
    if op in ("Add", "Sub") and is_tally(old) and is_tally(right):
        for k, v in added(m, old, op, [right], {}, site):
            set_item(m, old, k, v, source, site)
        return old
    if op == "BitOr" and isinstance(old, Mapping) and isinstance(right, Mapping):
        _set_all(m, old, right, site)
        old.exact = old.exact and right.exact
        return old
    return MISSING


def _go_on_with(m: Core, old: Sequence | Mapping, new: Sequence | Mapping, site: Site) -> None:
    """`new` goes on with what `old` held, unless it only stands among the arguments of a call (`sum(xs + [x])`)."""
    statement = m.trail[-1][0] if m.trail else None
    value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)) else None
    if value is not None and any(n is site.node for n in _outside_of_calls(value)):
        adopt(m, old, new)


def _outside_of_calls(value: ast.expr) -> Iterator[ast.AST]:
    """The expressions in another one that are no argument of a call, nor a part of one."""
    stack: list[ast.AST] = [value]
    while stack:
        node = stack.pop()
        yield node
        stack.extend([node.func] if isinstance(node, ast.Call) else ast.iter_child_nodes(node))


def _right_of(site: Site) -> ast.expr | None:
    """The right operand of an operator."""
    node = site.node
    return node.right if isinstance(node, ast.BinOp) else node.value if isinstance(node, ast.AugAssign) else None


def _set_all(m: Core, result: Mapping, added: Mapping, site: Site) -> None:
    """`|` and `|=` of dicts."""
    for key, value, element in written_in_dict(_right_of(site), added):
        set_item(m, result, key, value, element, site)


def _store_all(m: Core, result: Sequence, added: Sequence, source: ast.expr, site: Site) -> None:
    nodes = source.elts if isinstance(source, (ast.List, ast.Tuple)) and len(source.elts) == len(added.items) else None
    for i, item in enumerate(added.items):
        m.store(
            result, item, nodes[i] if nodes is not None else source, site, "append" if nodes is not None else "extend"
        )
