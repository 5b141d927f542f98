"""What is computed before a loop, and taken for a constant in it, is computed under `no_grad`.

It is for calls that return several tensors, or lists of them: no `detach` of one expression reaches all of these.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.graph import Activation, Node
from autodetach.suspect import Candidate
from autodetach.view.program import Program, line, statement_in, targets_of, text, without_retain


def computed_without_grad(
    program: Program, activation: Activation, outer: list[Node], doubt: str | None
) -> Iterator[Candidate]:
    """Put the assignments before the loop under `no_grad` that bring weights to the nodes."""
    from autodetach.codemods.under_no_grad import UnderNoGrad

    begins = [statement_in(n, activation.frame) for n in outer if any(parent.leaf for parent in n.parents)]
    found = sorted({s for s in begins if isinstance(s, ast.Assign)}, key=line)
    if not found or None in begins or len(found) < len(set(begins)) or not program.imports_torch(found[0]):
        return
    block = program.block(found[0])
    at = block.index(found[0])
    if block[at : at + len(found)] != found:
        return
    shown = ", ".join(f"`{text(t)}`" for s in found for t in targets_of(s))
    under, flags = UnderNoGrad(tuple(found)), without_retain(outer)
    if flags:
        yield Candidate(
            f"compute {shown} without graph, and retain no graph", (under, *flags), doubt, cuts=True, last_resort=True
        )
    yield Candidate(f"compute {shown} without graph", (under,), doubt, cuts=True, last_resort=True)
