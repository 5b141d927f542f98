"""What two losses share is computed once more for the second one, from a detached value."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from autodetach.machine.children import targets_of
from autodetach.machine.graph import Differentiation, Node
from autodetach.suspect import Candidate
from autodetach.view.program import Program, line, listed, statement_in, text, without_retain


def called_again(
    program: Program,
    d: Differentiation,
    shared: Collection[Node],
    own: Collection[Node],
    given: Collection[ast.expr],
    *,
    is_all: bool = True,
) -> Iterator[Candidate]:
    """`scores = D(fake.detach())` before the loss of the discriminator, where that of the generator needs `D(fake)`.

    Of the graph that `d` walks and a step consumes, `shared` is what others walk too, and `own` is not. By the
    expressions `given`, it goes on into graph that no step consumes. Where the shared part is not all that others walk
    too, no graph is let go.
    """
    from autodetach.codemods.copy_statements import CopyStatements

    anchor, frame = next(
        (at for at in reversed(d.trail) if all(statement_in(node, at[1]) is not None for node in shared)), (None, None)
    )
    places = {statement_in(node, frame) for node in shared}
    statements = sorted((s for s in places if s is not None), key=line)
    if not statements or not all(isinstance(s, (ast.Assign, ast.AnnAssign)) for s in statements):
        return
    if any(program.statement(expression) not in statements for expression in given):
        return
    block = program.block(statements[0])
    bound = {name for s in statements for name in program.names_bound(s)}
    readers = {s for s in (anchor, *(statement_in(node, frame) for node in own)) if s is not None}
    before = [s for s in readers if line(s) > line(statements[-1]) and program.names_read(s) & bound]
    if not before or any(s not in block for s in statements):
        return
    goal = min(before, key=line)
    if goal not in block and not any(at in block for at in program.enclosing(goal)):
        return
    names = listed(t for s in statements for t in targets_of(s))
    shown = listed(given)
    yield Candidate(
        f"compute {names} again for `{text(d.call)}`, from a detached {shown}",
        (CopyStatements(tuple(statements), goal, tuple(given)), *(without_retain(shared) if is_all else ())),
        "what both losses share is computed twice",
    )
