"""Graphs of two programs, compared node by node."""

from __future__ import annotations

import ast

from autodetach.machine.graph import Node, Site
from autodetach.machine.likeness import Likeness

SITE = Site(ast.Pass(), "<module>")


def node(op: str, *parents: Node) -> Node:
    return Node(1 + max((p.number for p in parents), default=0), op, SITE, (), parents)


def likeness() -> Likeness:
    return Likeness(lambda n: n.op, lambda n: n.op)


def test_the_same_graph_is_alike() -> None:
    one, other = (node("add", node("mul", w), node("exp", w)) for w in (node("leaf"), node("leaf")))
    assert likeness().alike((one,), (other,))


def test_another_operation_is_not() -> None:
    w, v = node("leaf"), node("leaf")
    assert not likeness().alike((node("mul", w),), (node("exp", v),))


def test_what_is_computed_twice_is_not_what_is_shared() -> None:
    w, v = node("leaf"), node("leaf")
    shared = node("mul", w)
    assert not likeness().alike((node("add", shared, shared),), (node("add", node("mul", v), node("mul", v)),))
    assert not likeness().alike((node("add", node("mul", v), node("mul", v)),), (node("add", shared, shared),))


def test_roots_found_alike_one_by_one_share_alike() -> None:
    w, v = node("leaf"), node("leaf")
    trunk = node("mul", w)
    same = likeness()
    assert same.alike((node("exp", trunk),), (node("exp", node("mul", v)),))
    assert not same.alike((node("log", trunk),), (node("log", node("mul", v)),))


def test_a_failure_relates_nothing() -> None:
    w, v = node("leaf"), node("leaf")
    trunk, first, second = node("mul", w), node("mul", v), node("mul", v)
    same = likeness()
    assert not same.alike((node("add", trunk, node("exp", w)),), (node("add", first, node("log", v)),))
    assert same.alike((trunk,), (second,))
