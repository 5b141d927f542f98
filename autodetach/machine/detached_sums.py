"""A running sum that is detached once it is done is a tensor, and as likely as not it has history.

Of what an unknown callable gives beside a loss, nobody knows whether it is one: an accuracy may be a number. No number
has a `detach()`, and of a tensor without history nobody wants it.
"""

from __future__ import annotations

from autodetach.machine.graph import Node

MAX_TERMS = 64


def note_detached(node: Node) -> None:
    """A sum is detached: terms of it that stood beside what was differentiated have history, too."""
    pending, sums = [node], dict.fromkeys([node])
    while pending and len(sums) < MAX_TERMS:
        for parent in pending.pop().parents:
            if parent.op == "add" and parent not in sums:
                sums[parent] = None
                pending.append(parent)
    terms = [n for s in sums for n in s.parents if n.op == "part" and any(p.walked_by for p in n.parents)]
    if terms:
        for n in (*sums, *terms):
            n.weak = False
