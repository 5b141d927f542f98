"""What only acts is computed under `no_grad`: of its graph, nothing is differentiated but the state that it hands on.

So does an agent that runs its network to choose an action, and keeps the hidden state for the next one; what trains it
computes its own graph from what was stored.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autodetach.candidates.called_by_others import is_called_by_others
from autodetach.machine.graph import Differentiation, Node, trail_of
from autodetach.machine.module_tree import is_module
from autodetach.machine.program_values import Frame
from autodetach.machine.run import Run
from autodetach.suspect import Candidate
from autodetach.view.program import Program, text

MEANT = "what is computed there trains nothing then; only its author knows whether the state should"


def acted_without_graph(program: Program, run: Run, makers: Sequence[Node]) -> Iterator[Candidate]:
    """Put the statement under `no_grad` that makes what has crossed, if nothing else of it is differentiated.

    It goes into no function that others may train through.
    It binds several names at once, `scores, self.state = net(x, self.state)`: one value would only be detached.
    """
    from autodetach.codemods.under_no_grad import UnderNoGrad

    for statement, frame in reversed(trail_of(makers[0])) if makers else ():
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Tuple):
            continue
        if not isinstance(frame, Frame) or is_module(frame.this) or is_called_by_others(program, frame, makers):
            continue
        if not all(_is_made_by(statement, maker) for maker in makers) or not program.imports_torch(statement):
            continue
        sites = {maker.site.node for maker in makers}
        if not _runs_again(statement, sites, run):
            continue
        if all(_is_left_by(statement, sites, d) for d in run.machine.differentiations):
            message = f"compute without graph: `{text(statement)}`"
            yield Candidate(message, (UnderNoGrad((statement,)),), MEANT, cuts=True)


def _runs_again(statement: ast.stmt, sites: set[ast.AST], run: Run) -> bool:
    """Whether a statement makes such values again and again, as who acts does."""
    return len({n.loops for n in run.machine.nodes if n.site.node in sites and _is_made_by(statement, n)}) > 1


def _is_made_by(statement: ast.stmt, node: Node) -> bool:
    return any(at is statement for at, _ in trail_of(node))


def _is_left_by(statement: ast.stmt, sites: set[ast.AST], d: Differentiation) -> bool:
    """Whether a differentiation comes to what a statement has made by values of these places only."""
    made = {node for node in d.walked if not node.leaf and _is_made_by(statement, node)}
    entered = made.intersection(d.roots)
    entered.update(p for node in d.walked if node not in made for p in node.parents if p in made)
    return all(node.site.node in sites for node in entered)
