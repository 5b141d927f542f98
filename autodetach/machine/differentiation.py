"""Differentiation: what a call of `backward` asks for, and the walk of the engine, which raises on what is freed."""

from __future__ import annotations

import ast

from autodetach.machine.alike_calls import note_differentiated
from autodetach.machine.core import Core
from autodetach.machine.events import HistoryLost, RenamedKeyword, SecondWalk, StaleSaved
from autodetach.machine.graph import Differentiation, Node, Site, Storage, ancestors, take_turns
from autodetach.machine.held import graph_in
from autodetach.machine.picks import perhaps_others, surely_stale
from autodetach.machine.sampled import meet_by_sample
from autodetach.machine.shown_history import hand_on, is_known, know_as_scalar, strengthen, strengthen_alone
from autodetach.machine.spelling import is_none
from autodetach.machine.state import STRIDE, Raised
from autodetach.machine.steering import taken, trained
from autodetach.machine.swallowing import expects_fault, is_swallowed
from autodetach.machine.told_by_parts import note_part
from autodetach.machine.told_of_values import GIVEN
from autodetach.machine.values import Opaque, Tensor, Value
from autodetach.machine.walked_instead import note_untrained
from autodetach.machine.windows import of_another_turn

PLACE_OF_GRADIENT = {"backward": 0, "grad": 2}
"""Where the gradient of the root stands among the arguments of a differentiation, by its kind; else second."""


def creates_graph(m: Core, flag: Value, call: ast.Call, site: Site) -> bool:
    """Whether a differentiation is asked to `create_graph`: told by the flag as written, whatever else is asked."""
    written = next((k.value for k in call.keywords if k.arg == "create_graph"), call)
    return flag is not None and m.truth(flag, Site(written, site.scope), default=False)


def differentiate_call(
    m: Core,
    roots: list[Value],
    rest: list[Value],
    kwargs: dict[str, Value],
    call: ast.Call,
    site: Site,
    root: ast.expr | None,
    kind: str = "backward",
) -> None:
    """A `backward` in any of its dresses; `rest` are the positional arguments from `retain_graph` on."""
    written: ast.keyword | ast.expr | None = next((k for k in call.keywords if k.arg == "retain_graph"), None)
    create = kwargs.get("create_graph", rest[1] if len(rest) > 1 else False)
    create_graph = creates_graph(m, create, call, site)
    renamed = next((k for k in call.keywords if k.arg == "retain_variables"), None)
    if renamed is not None and kind != "wrapper":
        on_tensor = all(isinstance(root, Tensor) for root in roots)
        m.facts.append(RenamedKeyword(site, call, renamed, on_tensor, is_swallowed(m, "TypeError")))
    value = kwargs.get("retain_graph", kwargs.get("retain_variables", rest[0] if rest else None))
    if value is None and "**" in kwargs:
        value = m.fresh("bool")
    # A flag that is not known is taken for right: it is set where the graph is needed again.
    retain = create_graph if value is None else bool(value) if isinstance(value, (bool, int)) else True
    inputs = kwargs.get("inputs")
    differentiate(
        m,
        roots,
        call,
        site,
        retain=retain,
        retain_written=written,
        create_graph=create_graph,
        inputs=list(graph_in(inputs)) if inputs is not None else None,
        kind=kind,
        root_expression=root,
    )


def takes_gradient(call: ast.Call, kind: str) -> bool:
    """Whether a differentiation is told the gradient of its root, which may be of any shape then."""
    place = PLACE_OF_GRADIENT.get(kind, 1)
    given = call.args[place : place + 1]
    given += (k.value for k in call.keywords if k.arg is not None and k.arg.startswith("grad"))
    return any(not is_none(value) for value in given)


def differentiate(
    m: Core,
    roots: list[Value],
    call: ast.Call,
    site: Site,
    *,
    retain: bool = False,
    retain_written: ast.keyword | ast.expr | None = None,
    create_graph: bool = False,
    inputs: list[Value] | None = None,
    kind: str = "backward",
    root_expression: ast.expr | None = None,
) -> Differentiation:
    """Walk the graph from `roots` as the engine does: raise on what is freed, free what is not retained."""
    nodes: list[Node] = []
    learned: list[Node] = []
    for root in roots:
        if isinstance(root, Opaque):
            if not takes_gradient(call, kind):
                know_as_scalar(m, root)
                note_part(root)
            root.attrs.pop(GIVEN, None)
            if root.lost and (root.node is None or root.node.weak):
                m.type_fault(site, "differentiates an array", "no-history", root.lost)
            if root.node is None and m.grad_enabled:
                root.node = m.new_node(root.name or "value", site, saves=True, assumed=True)
            if root.node is not None:
                learned += strengthen_alone(root.node)
        if isinstance(root, (Tensor, Opaque)) and root.node is not None:
            learned += strengthen(root.node) if _leads_to(root.node, inputs, kind) else strengthen_alone(root.node)
            nodes.append(root.node)
        elif isinstance(root, Tensor):
            m.type_fault(site, "differentiates a tensor without history", "no-history", root.lost)
            if root.lost and all(one.sure for one in root.lost) and not expects_fault(m):
                m.facts.append(HistoryLost(site, root.lost, tuple(m.trail), not m.grad_enabled))
    hand_on(m, learned)
    d = Differentiation(
        m.tick(),
        site,
        m.loops,
        tuple(dict.fromkeys(nodes)),
        call,
        kind,
        retain=retain,
        retain_written=retain_written,
        create_graph=create_graph,
        root_expression=root_expression,
        operands=tuple(roots),
        trail=tuple(m.trail),
    )
    m.differentiations.append(d)
    trained(m, site)
    taken(m, roots, site)
    _walk(m, d, inputs)
    if (m.begun or m.beside or m.added) and not expects_fault(m):
        note_untrained(m, d, inputs)
    expected = expects_fault(m)
    if m.hooks and not (d.raised and expected):
        m.run_hooks(d, site)
    if d.raised and expected:
        raise Raised("RuntimeError")
    return d


def _leads_to(root: Node, inputs: list[Value] | None, kind: str) -> bool:
    """Whether a way to any of the inputs is known, or none is asked for: else its history comes by one that is not.

    `torch.autograd.grad` always asks for some, perhaps for what nobody knows.
    """
    if inputs is None:
        return kind != "grad"
    wanted = {t.node for v in inputs for t in graph_in(v) if t.node is not None}
    return not wanted.isdisjoint(ancestors([root]))


def _walk(m: Core, d: Differentiation, inputs: list[Value] | None) -> None:
    """Give gradient to the leaves, and free the rest, from the youngest node to the oldest: so the engine does."""
    needed = None if inputs is None else _needed_for(d, inputs)
    roots = [r for r in d.roots if needed is None or r in needed or not is_known(r)]
    came = _way_from(roots, needed)
    m.spend(len(came) // 8)
    order = sorted(came, key=lambda n: -n.number)
    expected = expects_fault(m)
    d.perhaps = perhaps_others(m, d)
    stale = surely_stale(m, d)
    d.perhaps |= m.perhaps_renewed
    for node in order:
        if node.leaf:
            if (needed is None or d.kind != "grad") and not node.frozen:
                node.grads.append(d)
            continue
        if not node.weak:
            if not d.raised and (node not in d.perhaps or node in stale):
                _check(m, node, d, came, expected)
            if not d.retain and not _is_freed(m, node):
                node.freed_by = d
        node.walked_by.append(d)
        if node.callee is not None:
            note_differentiated(node)
    d.walked = order


def walk_on(m: Core, d: Differentiation, freed: list[Node]) -> None:
    """Raise behind a hook which has freed nodes that were still to be walked."""
    if freed and not d.raised:
        m.paused = None
        came = _way_from(list(d.roots), set(d.walked))
        for node in (n for n in freed if n in came and not n.weak and not d.raised):
            _check(m, node, d, came, expects_fault(m))


def _needed_for(d: Differentiation, inputs: list[Value]) -> set[Node]:
    """The nodes that lead to `inputs`; what is asked for itself is captured, not executed, unless it is a leaf.

    A program differentiates for what it has used. So where no way to an input is known, it is behind what is not
    known; or anywhere, if it is not known itself.
    """
    wanted = {t.node for v in inputs for t in graph_in(v) if t.node is not None}
    needed = {n for n in wanted if n.leaf}
    below = sorted(ancestors(d.roots), key=lambda n: n.number)
    missing = wanted.difference(below)
    if any(n.assumed for n in missing):
        return needed.union(below)
    if missing:
        needed.update(n for n in below if n.assumed or n.weak)
    for node in below:
        if any(p in needed or p in wanted for p in node.parents):
            needed.add(node)
    return needed


def _way_from(roots: list[Node], needed: set[Node] | None) -> dict[Node, Node | None]:
    """The roots and what they lead to, as far as it is needed; each with the node from which it was reached."""
    came: dict[Node, Node | None] = dict.fromkeys(roots)
    stack = list(roots)
    while stack:
        node = stack.pop()
        for parent in node.parents:
            if parent not in came and (needed is None or parent in needed):
                came[parent] = node
                stack.append(parent)
    return came


def _check(m: Core, node: Node, d: Differentiation, came: dict[Node, Node | None], expected: bool) -> None:
    """Raise if the node needs what was freed, or was changed in place; not where a weak edge leads there."""
    stale = next(((s, v) for s, v in node.saved if s.version != v and _is_changed(m, s) and _is_saved(node, s)), None)
    is_freed = node.saves and _is_freed(m, node) and node not in d.perhaps
    if not is_freed and stale is None:
        return
    path = [node]
    above = came[node]
    while above is not None:
        path.append(above)
        above = came[above]
    path.reverse()
    if any(n.weak for n in path) or take_turns(node, d) or _is_presumed(node):
        return
    if node.walked_by and meet_by_sample(node, node.freed_by or node.walked_by[0], d):
        return
    if m.tasks.all and _is_beside(m, node, d, stale):
        return
    turned = of_another_turn(m, d)
    if node in turned:
        d.perhaps |= turned
        return
    d.raised = True
    if expected:
        return
    if is_freed and node.freed_by is not None:
        m.spend(len(node.walked_by))  # rules compare it with each of them
        m.second_walks.append(SecondWalk(node, node.freed_by, d, tuple(path)))
    elif stale is not None:
        m.stale.append(StaleSaved(node, stale[0], stale[0].changed or d.site, d, tuple(path)))


def _is_beside(m: Core, node: Node, d: Differentiation, stale: tuple[Storage, int] | None) -> bool:
    """Whether what freed a node, or changed what it saved, may come behind this, in a task: then this need not raise.

    If neither of two differentiations keeps the graph, one of them raises in whichever order they come.
    """
    first = node.freed_by
    if node.saves and first is not None:
        if not m.tasks.may_come_later(first.number):
            return False
        m.tasks.unordered.update((first.call, d.call))
        return d.retain
    at = stale and stale[0].changed
    step = next((step for step in reversed(m.steps) if step.site is at), None)
    return step is not None and m.tasks.may_come_later(step.clock)


def _is_freed(m: Core, node: Node) -> bool:
    """Whether a node was freed, by nothing that an error ended later, nor by what a hook has yet to go on with."""
    if node.freed_by is None or (m.paused is not None and m.paused.spares(node)):
        return False
    return not m.cut_short.hold(node.freed_by.number)


def _is_changed(m: Core, storage: Storage) -> bool:
    """Whether memory has changed for certain: of two optimizers of unknown parameters, either may step these."""
    if storage.changed is None or m.cut_short.hold(storage.changed_at):
        return False
    return not (storage.guessed and len(m.open_optimizers) > 1)


def _is_saved(node: Node, storage: Storage) -> bool:
    """Whether a node has saved memory for certain: a factor is saved only if another one requires grad."""
    others = node.saved_for.get(storage)
    return others is None or not all(n.weak for n in others)


def _is_presumed(node: Node) -> bool:
    """Whether a node has history only if a network is trained of which nobody knows whether it is."""
    leaves = [n for n in ancestors([node]) if n.leaf]
    return bool(leaves) and all(n.presumed for n in leaves)


def may_have_reached(m: Core) -> bool:
    """Whether this entry point differentiated something of which nothing is known: any leaf may be behind it.

    So it may once anything in the run has lost its history: that raises, and what follows is written for the gradient.
    """
    return any(type(fact) is HistoryLost and fact.raises for fact in m.facts) or any(
        root.assumed and not root.parents and d.number // STRIDE == m.clock // STRIDE
        for d in m.differentiations
        for root in d.roots
    )
