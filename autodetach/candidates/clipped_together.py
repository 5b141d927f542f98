"""Whether a tensor may be among those whose gradient is clipped: its own counts for the norm once it is a leaf."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autodetach.machine.children import children_of, walk
from autodetach.machine.own_changes import bindings, words_bound
from autodetach.machine.spelling import last_word
from autodetach.view.imported import imported_as
from autodetach.view.program import Program

CLIPS = "clip_grad"
"""What is in the names of all that clips."""


def may_be_clipped(program: Program, tensors: Iterable[ast.expr]) -> bool:
    """Whether what is given to a call that clips may be made of what has one of some names, anywhere in the program."""
    own = {word for tensor in tensors for word in words_bound(tensor)}
    words = {word for call in _clipping(program) for word in _given(call)}
    made_of = [bindings(tree) for tree in program.analysis.trees] if words else []
    seen = set[str]()
    while words and own.isdisjoint(words):
        seen |= words
        words = {new for each in made_of for word in words for new in each.get(word, ())} - seen
    return bool(words)


def _clipping(program: Program) -> Iterator[ast.Call]:
    for tree in program.analysis.trees:
        for node in walk(tree):
            if isinstance(node, ast.Call) and (CLIPS in last_word(node.func) or CLIPS in imported_as(program, node)):
                yield node


def _given(call: ast.Call) -> Iterator[str]:
    """The words in what is clipped, but for networks whose parameters are: what is computed is none of these."""
    pending: list[ast.AST] = [*call.args[:1], *(k.value for k in call.keywords if k.arg in (None, "parameters"))]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield from words_bound(node)
        if not isinstance(node, ast.Attribute) or node.attr != "parameters":
            pending += children_of(node)
