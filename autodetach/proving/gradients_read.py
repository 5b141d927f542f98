"""Whether an edit takes away gradient that a program reads, shows or records, though no step may need it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain

from autodetach.machine.events import Step
from autodetach.machine.graph import Differentiation
from autodetach.machine.restraints import GradientWatched, RetainedRead
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word
from autodetach.proving.leaf_names import leaf_names
from autodetach.view.program import parents_in, place_text, stable

GONE = "gradient that the program reads, or is told by a hook, is not there any more"
HOOK = ""
"""Stands for the place where a hook is told."""
ABOUT = frozenset("device dtype is_sparse layout ndim shape".split())
CLIPPING = frozenset({"clip_grad_value_"})

OTHER = ""
"""Stands for all calls that only one of both programs has."""
ANY = ("", 0)
"""What is read of a tensor that no leaf stands for, and of any other at its place."""

Told = dict[tuple[str, object], set[str]]
"""By the place that is told of the gradient of something: of which differentiations it is."""


def loses_gradients(before: Run, after: Run, was: Mapping[str, str], trees: Iterable[ast.Module]) -> bool:
    """Whether a place that reads gradient of leaves finds less there, or a hook is told of less.

    A place has the text that it `was`. What only clears gradient, asks whether there is any, or changes it does not
    read it.
    """
    known = _calls(before) & _calls(after)
    old = _told(before, {}, known)
    new = _told(after, was, known) if old else {}
    lost = {key for key, by in old.items() if by - new.get(key, set())}
    if not lost:
        return False
    parents = dict(chain.from_iterable(parents_in(s).items() for tree in trees for s in tree.body))
    reads: list[Step | RetainedRead] = [f for f in before.machine.restraints if isinstance(f, RetainedRead)]
    readers = {one.site.node for one in (*reads, *_reads(before))}
    places = {place_text(node) for node in readers if not _is_idle(node, parents)}
    return any(place == HOOK or place in places for place, _ in lost)


def _reads(run: Run) -> Iterable[Step]:
    """Where gradient that a backward call gave is read: what `torch.autograd.grad` gives has no other way."""
    for step in run.machine.steps:
        if step.what == "grad" and not any(d.kind == "grad" for _, ds in step.consumed for d in ds):
            yield step


def _told(run: Run, was: Mapping[str, str], known: set[str]) -> Told:
    found: Told = {}
    leaves = leaf_names(run)
    watched: Counter[str] = Counter()
    for step in _reads(run):
        place = place_text(step.site.node)
        for leaf, ds in step.consumed:
            for name in (ANY, leaves.get(leaf, ANY)):
                found.setdefault((was.get(place, place), name), set()).update(_named(ds, known))
    for fact in run.machine.restraints:
        if not isinstance(fact, (GradientWatched, RetainedRead)):
            continue
        place = place_text(fact.site.node)
        if isinstance(fact, RetainedRead):
            found.setdefault((was.get(place, place), ANY), set()).update(_named(fact.given_by, known))
            continue
        for node in fact.nodes:
            watched[place] += 1
            later = [d for d in run.machine.differentiations if d.number > fact.clock and node in d.walked]
            found.setdefault((HOOK, (was.get(place, place), watched[place])), set()).update(_named(later, known))
    return found


def _named(ds: Iterable[Differentiation], known: set[str]) -> set[str]:
    """The calls that differentiate, as far as they can be told from others in both programs."""
    calls = {stable(d.call) for d in ds}
    return {call if call in known else OTHER for call in calls}


def _calls(run: Run) -> set[str]:
    return {stable(d.call) for d in run.machine.differentiations}


def _is_idle(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Whether nothing becomes of the values of a gradient where it is read."""
    if isinstance(node, ast.Call) and last_word(node.func) in CLIPPING:
        return True
    at, around = node, parents.get(node)
    while isinstance(around, ast.Attribute) or (isinstance(around, ast.Call) and around.func is at):
        if isinstance(around, ast.Attribute) and around.attr in ABOUT:
            return True
        at, around = around, parents.get(around)
    if isinstance(around, ast.Compare):
        return isinstance(around.comparators[0], ast.Constant) and around.comparators[0].value is None
    if isinstance(around, ast.Expr) and isinstance(at, ast.Call):
        return at is not node and last_word(at.func).endswith("_")
    return isinstance(around, (ast.If, ast.IfExp)) and around.test is node
