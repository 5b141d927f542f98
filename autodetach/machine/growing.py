"""Which bindings hold more graph with every pass, although no path of the program differentiates it later."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from autodetach.machine.activations import pass_of
from autodetach.machine.begun_unseen import BegunUnseen
from autodetach.machine.called_by_python import trains_unseen
from autodetach.machine.events import GraphRead, HistoryLost, Stored
from autodetach.machine.gathered_alike import waits_in_another_call
from autodetach.machine.graph import ARRAY, COPIED, DETACHED, GATHERED, Node, Site, ancestors
from autodetach.machine.growing_chains import awaited_places, growing_chains
from autodetach.machine.growing_stores import first_stored, growing_store, stored_alike
from autodetach.machine.growth import Growth, is_returned, is_whole, proven, saved_in_pass
from autodetach.machine.module_tree import is_module
from autodetach.machine.program_values import Frame
from autodetach.machine.reached_otherwise import may_be_reached_otherwise
from autodetach.machine.restraints import GraphLent
from autodetach.machine.run import Analysis, Run
from autodetach.machine.trained_elsewhere import is_only_shown, may_be_trained_out_of_view
from autodetach.machine.trials import imported_home, is_tried_only
from autodetach.machine.unseen import Unseen
from autodetach.machine.untrained import trains_nothing
from autodetach.machine.walked_stores import Walks, is_differentiated_later

Place: TypeAlias = tuple[str, ast.AST | None, ast.AST | None]


def growths(analysis: Analysis) -> list[Growth]:
    """The growths of all paths, one for each place; none that any path differentiates later."""
    legitimate: set[Place] = set()
    awaited: set[Place] = set()
    given: set[Place] = set()
    found: dict[Place, Growth] = {}
    unseen = Unseen(analysis.trees, analysis.distinct)
    for run in analysis.distinct:
        crossings = run.machine.crossings
        legitimate.update(("chain", c.child.site.node, c.activation.node) for c in crossings if c.child.walked_by)
        awaited.update(("chain", *place) for place in awaited_places(run))
        growing = [*growing_chains(run)]
        walks = Walks()
        groups = list(stored_alike(run))
        later = [is_differentiated_later(run, events, walks) for events in groups]
        read = [event for events, is_later in zip(groups, later, strict=True) if is_later for event in events]
        legitimate.update(("store", first_stored(run, event).element, None) for event in read)
        elements = {event.element for event in read if event.element is not None}
        left = [events for events, is_later in zip(groups, later, strict=True) if not is_later]
        growing += _stores(run, left, walks, elements)
        alike = _Alike(run)
        for growth in growing:
            key = _key(growth)
            if not (run.whole or growth.dead):
                continue  # what comes later may differentiate it
            if growth.ends and (_is_returned(growth) or _is_lent(run, growth, alike)):
                given.add(key)
            # What is freed already nobody can differentiate behind the loop.
            loop = growth.activation.node if growth.dead else None
            is_given = is_whole(growth.freeing) and (
                _escapes(run, growth, alike)
                or _is_missed(run, growth, alike)
                or _is_returned_anyway(run, growth)
                or _is_read_by_nodes(run, growth, alike)
            )
            is_used = growth.used or is_given
            if is_used or unseen.uses(_place_of(growth).node, loop):
                legitimate.add(key)
            elif key not in found or (growth.dead and not found[key].dead):
                found[key] = growth
    kept = [g for k, g in found.items() if k not in legitimate and (g.dead or k not in awaited)]
    kept = [g for g in kept if not g.ends or _key(g) not in given]
    begun = BegunUnseen(analysis)
    kept = [g for g in kept if not is_tried_only(analysis, g) and not begun.may_begin_anew(g)]
    # What ends with a call is repaired together with what else grows there: it is told where it is alone.
    lasting = {g.activation.node for g in kept if not g.ends}
    kept = [g for g in kept if not g.ends or (g.activation.node not in lasting and _is_seen(analysis, g))]
    if not all(g.dead for g in kept) and trains_unseen(analysis):
        kept = [g for g in kept if g.dead]
    return [g for g in kept if g.dead or not any(is_so(analysis, g) for is_so in NEEDED_ELSEWHERE)]


def _stores(run: Run, groups: list[list[Stored]], walks: Walks, read: set[ast.expr]) -> Iterator[Growth]:
    """What grows by what is stored; `read` are the expressions whose values are differentiated from there.

    What a function gathers for its callers, and one of these stores, is told where that one stores it.
    """
    growing = [(events, growing_store(run, events, walks, read)) for events in groups]
    used = {g.stored.element for _, g in growing if g is not None and g.used and g.stored is not None}
    for events, growth in growing:
        if growth is not None and not growth.used and growth.stored is not None and growth.stored.element in used:
            growth = growing_store(run, events, walks, read.union(e for e in used if e is not None))
        if growth is not None:
            yield growth


def _key(growth: Growth) -> Place:
    """Where something grows, and of a chain the loop: a cell may be called in one that is differentiated, too."""
    if growth.stored is not None:
        return growth.kind, growth.stored.element, None
    return growth.kind, (growth.link or growth.node).site.node, growth.activation.node


def _may_train_callers(analysis: Analysis, growth: Growth) -> bool:
    """Whether a function makes what it returns of a loop that is not long, for others than this program to train with.

    A program that differentiates nothing only tries it: a loss over the steps of a sequence. And what a method of a
    network returns is there for any program, as what a function makes of the parts of what it is given, and, in an
    imported file, of a sequence that it goes on with until it finds its end.
    """
    from autodetach.machine.scans import is_scan

    frame, run = growth.activation.frame, growth.run
    if not isinstance(frame, Frame) or frame.outer is None:
        return False
    if is_scan([growth.node, *(e.node for e in growth.elements)], growth.activation):
        return is_returned(run, growth.node, frame)
    if is_module(frame.this) and frame.top is not run.machine.globals and _is_sequence(growth):
        return is_returned(run, growth.node, frame)
    if not growth.activation.short:
        return False
    if any(other.machine.differentiations for other in analysis.runs) and not is_module(frame.this):
        return False
    if frame.top is run.machine.globals and _is_evaluated(analysis, growth):
        return False
    return is_returned(run, growth.node, frame)


def _is_sequence(growth: Growth) -> bool:
    """Whether a `while` loop makes each element from what it has made before: a sentence, word by word, to its end."""
    loop = growth.activation
    if not isinstance(loop.node, ast.While):
        return False
    for node in ancestors(e.node for e in growth.elements):
        made = pass_of(node.loops, loop)
        for parent in node.parents if made is not None else ():
            before = pass_of(parent.loops, loop)
            if before is not None and before is not made:
                return True
    return False


def _is_evaluated(analysis: Analysis, growth: Growth) -> bool:
    """Whether a script, which nothing can import without running it, computes it with models in `eval()` mode."""
    chain = growth.node.chain
    while chain is not None and chain[2] is not None:
        chain = chain[2]
    leaves = {n for n in ancestors([growth.node, *(e.node for e in growth.elements)]) if n.leaf}
    if chain is None or chain[0].scope != "<module>" or not leaves or not leaves <= growth.run.machine.evaluated:
        return False
    return not any(isinstance(n, ast.Constant) and n.value == "__main__" for n in ast.walk(analysis.tree))


def _is_returned(growth: Growth) -> bool:
    """Whether the function that has the loop gives something that is made of what grows."""
    frame = growth.activation.frame
    return isinstance(frame, Frame) and is_returned(growth.run, growth.node, frame)


def _is_seen(analysis: Analysis, growth: Growth) -> bool:
    """Whether all of the function that has the loop was run, whatever it is asked for, and keeps nothing in an object.

    So it gives its callers nothing that is made of the state: of a text that is sampled, each word is an index.
    """
    frame = growth.activation.frame
    function = frame.function if isinstance(frame, Frame) else None
    if function is None or isinstance(function.node, ast.Lambda):
        return False
    nodes = [n for statement in function.node.body for n in ast.walk(statement)]
    if any(isinstance(n, ast.IfExp) or (isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)) for n in nodes):
        return False
    executed = [run.machine.executed for run in analysis.distinct]
    return all(any(n in one for one in executed) for n in nodes if isinstance(n, ast.stmt))


def _is_lent(run: Run, growth: Growth, alike: _Alike) -> bool:
    """Whether code out of view is given what is made of a state: it may keep that, whatever its name tells.

    So a simulator steps with each action, and has a loss of all of them once the function has ended.
    """
    lent = [fact for fact in run.machine.restraints if isinstance(fact, GraphLent)]
    return bool(lent) and any(fact.reaches(alike.of(growth)) for fact in lent)


def _place_of(growth: Growth) -> Site:
    return growth.stored.site if growth.stored is not None else growth.node.site


def _trains_elsewhere(analysis: Analysis, growth: Growth) -> bool:
    """Whether it grows in an imported file that differentiates where this program does not come by.

    Such a file is a program of its own: what this one only looks at, that one may differentiate.
    """
    home = imported_home(analysis, _place_of(growth))
    if home is None:
        return False
    calls = {
        n for n in ast.walk(home)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "backward"
    }  # fmt: skip
    return not calls <= {d.call for run in analysis.runs for d in run.machine.differentiations}


class _Alike:
    """All that a run has put where something grows, or computed at that place."""

    def __init__(self, run: Run) -> None:
        self._machine = run.machine
        self._found: dict[object, set[Node]] = {}

    def of(self, growth: Growth) -> set[Node]:
        targets = self._stored(growth.stored) if growth.stored is not None else self._computed(growth.node.site.node)
        own = {growth.node, *(e.node for e in growth.elements)}
        return targets if own <= targets else targets | own

    def _stored(self, stored: Stored) -> set[Node]:
        key = stored.container, stored.element
        if key not in self._found:
            nodes = {e.node for e in self._machine.stored if e.container is stored.container}
            self._found[key] = nodes.union(e.node for e in self._machine.filled if e.element is stored.element)
        return self._found[key]

    def _computed(self, place: ast.AST) -> set[Node]:
        if place not in self._found:
            self._found[place] = {n for n in self._machine.nodes if n.site.node is place}
        return self._found[place]


def _escapes(run: Run, growth: Growth, alike: _Alike) -> bool:
    """Whether what grows is handed to code that is not in view, which may differentiate it.

    Where a function only evaluates, metrics get what each pass makes; they count if they get that of several passes.
    What these give, and the function returns, may have history, and is not differentiated as a rule.
    """
    from autodetach.machine.evaluations import only_evaluates

    if not run.machine.escapes:
        return False
    targets = alike.of(growth)
    escapes = [escape for escape in run.machine.escapes if escape.reaches(targets)]
    if not escapes or not only_evaluates(growth.activation):
        return bool(escapes)
    graphs = [ancestors(n for n in escape.nodes if proven(n)) for escape in escapes]
    return any(len({pass_of(n.loops, growth.activation) for n in graph if n in targets}) > 1 for graph in graphs)


def _is_read_by_nodes(run: Run, growth: Growth, alike: _Alike) -> bool:
    """Whether its nodes are read by way of `.grad_fn`: who has them can call them, as a differentiation does."""
    reads = [fact for fact in run.machine.facts if isinstance(fact, GraphRead)]
    return bool(reads) and any(fact.reaches(alike.of(growth)) for fact in reads)


def _is_missed(run: Run, growth: Growth, alike: _Alike) -> bool:
    """Whether a differentiation raises, or trains nothing, since it is given the mere values of what grows.

    So does `torch.tensor(losses).mean().backward()`: meant to be differentiated, what grows has to keep its graph.
    """
    faults = run.machine.type_faults
    lost = [one.node for fault in faults for one in fault.lost if one.how in (ARRAY, COPIED, DETACHED, GATHERED)]
    facts = (fact for fact in run.machine.facts if isinstance(fact, HistoryLost) and not (fact.raises or fact.asked))
    lost += [one.node for fact in facts for one in trains_nothing(run, fact)]
    return bool(lost) and not alike.of(growth).isdisjoint(ancestors(lost))


def _is_returned_anyway(run: Run, growth: Growth) -> bool:
    """Whether a method of a network gives most of what a pass saves to callers out of view, and keeps nothing of it.

    So a search for the best sentence has scores beside the states that it returns. Who calls it for these either
    differentiates them, or has no gradients on.
    """
    stored, frame = growth.stored, growth.activation.frame
    if stored is None or growth.dead or not isinstance(frame, Frame) or not is_module(frame.this):
        return False
    within_pass = pass_of(growth.node.loops, growth.activation)
    if within_pass is None or stored.container.born < frame.started:
        return False
    saving = set(saved_in_pass([growth.node], within_pass))
    returned = [escape for escape in run.machine.escapes if escape.how == "return" and escape.clock > stored.clock]
    return any(2 * len(saving.intersection(ancestors(escape.nodes))) > len(saving) for escape in returned)


def _is_ended_on_a_path(analysis: Analysis, growth: Growth) -> bool:
    """Whether a sum is differentiated on a path of the program where it is begun anew each time, so that it is short.

    Two methods may begin and end it, by tests of one counter: it only grows where neither is found.
    """
    if growth.kind != "chain" or not growth.linear or not growth.elements:
        return False
    place = growth.node.site.node
    runs = (run for run in analysis.distinct if run.machine.differentiations)
    return any(n.site.node is place and n.walked_by for run in runs for n in run.machine.nodes)


NEEDED_ELSEWHERE = (
    _is_ended_on_a_path,
    _trains_elsewhere, _may_train_callers, waits_in_another_call, may_be_trained_out_of_view, is_only_shown,
    may_be_reached_otherwise,
)  # fmt: skip
"""What of a growth tells that another program, or another call, may need its graph."""
