"""What is computed once more rests on a network out of view, which an optimizer out of view may have stepped."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.called_again import called_again
from autodetach.machine.graph import Differentiation, Node
from autodetach.machine.operands import expression_of
from autodetach.machine.run import Run
from autodetach.machine.values import Opaque
from autodetach.suspect import Candidate
from autodetach.view.program import Program, handed


def made_by_stepped(run: Run, by: Differentiation) -> list[ast.expr]:
    """The expressions by which a differentiation comes to what may be outdated although nothing shows it.

    All parameters that the last step before it is seen to change are those of another optimizer; so the optimizer that
    steps there, of which nobody knows what it has, is that of what is not in view, as far as that is a network.
    """
    steps = [s for s in run.machine.steps if s.clock < by.number and s.consumed and s.what == "step"]
    if not steps or not steps[-1].guessed:
        return []
    known = {leaf for s in run.machine.steps if s.what == "step" and not s.guessed for leaf, _ in s.consumed}
    if not all(leaf in known for leaf, _ in steps[-1].consumed):
        return []
    found: dict[ast.expr, None] = {}
    for node in by.walked:
        for operand in node.operands:
            made = operand.node if isinstance(operand, Opaque) and not node.weak else None
            if made is not None and made.weak and not made.leaf and made.number < steps[-1].clock:
                expressions = [expression_of(node, operand), *handed(node.chain, operand)]
                found.update((e, None) for e in expressions[-1:] if e is not None)
    return list(found)


def judged_again(program: Program, run: Run, by: Differentiation, given: list[ast.expr]) -> Iterator[Candidate]:
    """What the loss shares with others is computed once more, from what is `given`, but detached."""
    stepped = {leaf for s in run.machine.steps if s.clock > by.number for leaf, ds in s.consumed if by in ds}
    useful: set[Node] = set()
    for node in sorted(by.walked, key=lambda n: n.number):
        if node in stepped or any(parent in useful for parent in node.parents):
            useful.add(node)
    made = [n for n in useful if not n.leaf]
    shared = [n for n in made if n.walked_by != [by]]
    if shared:
        yield from called_again(program, by, shared, [n for n in made if n not in shared], given)
