"""A context that keeps what is computed of parameters is opened in each pass, instead of once around the loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile
from typing import TYPE_CHECKING

from autodetach.machine.activations import Activation
from autodetach.machine.children import walk
from autodetach.machine.graph import Node, Place, trail_of
from autodetach.machine.spelling import last_word, spelled
from autodetach.node_types import CALLABLES, LOOPS, YIELDS
from autodetach.suspect import Candidate
from autodetach.view.program import Program

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

KEEPING = "cached"
"""`torch.nn.utils.parametrize.cached()`."""
SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)


def opened_inside(
    program: Program, activation: Activation, readers: list[Node], doubt: str | None
) -> Iterator[Candidate]:
    """`with parametrize.cached():` goes into the loop that it stands around; or around what a pass reads there.

    `readers` compute with what it keeps.
    """
    from autodetach.codemods.enter_inside import EnterInside

    around, loop = kept_around(program, activation), activation.node
    if around is not None:
        if isinstance(loop, (ast.For, ast.While)):
            message = f"enter `{spelled(around.items[0].context_expr)}` in each pass of the loop"
            yield Candidate(message, (EnterInside(around, loop),), doubt)
        return
    yield from _entered_elsewhere(program, activation, readers, doubt)


def kept_around(program: Program, activation: Activation) -> ast.With | None:
    """The `with` around a loop that keeps what is computed of parameters."""
    if activation.node is None:
        return None
    for around in program.enclosing(activation.node):
        if isinstance(around, CALLABLES):
            break
        if isinstance(around, ast.With) and len(around.items) == 1 and _keeps(around.items[0]):
            return around
    return None


def _keeps(item: ast.withitem) -> bool:
    context = item.context_expr
    return isinstance(context, ast.Call) and last_word(context.func) == KEEPING and item.optional_vars is None


def _entered_elsewhere(
    program: Program, activation: Activation, readers: list[Node], doubt: str | None
) -> Iterator[Candidate]:
    """Where a phase of the program enters it, with other contexts or in a function of its own, one call a pass does."""
    from autodetach.codemods.under_no_grad import UnderNoGrad

    entering = [found for tree in program.analysis.trees for node in walk(tree) for found in _entered_by(node)]
    statement = _once_a_pass(program, activation, readers) if len(entering) == 1 else None
    if statement is None:
        return
    around, context = entering[0]
    shown = spelled(context)
    file = program.file_of(around)
    if program.file_of(statement) is not file or shown.partition(".")[0].partition("(")[0] not in _imported(file):
        return
    message = f"enter `{shown}` in each pass of the loop, around what it is for"
    yield Candidate(message, (UnderNoGrad((statement,), shown), _without(program, around, context)), doubt)


def _entered_by(node: ast.AST) -> Iterator[tuple[ast.With | ast.Expr, ast.expr]]:
    """A statement that enters it, `with parametrize.cached():` or `stack.enter_context(parametrize.cached())`."""
    if isinstance(node, ast.With):
        yield from ((node, item.context_expr) for item in node.items if _keeps(item))
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        given = call.args[0] if len(call.args) == 1 and last_word(call.func) == "enter_context" else None
        if isinstance(given, ast.Call) and last_word(given.func) == KEEPING:
            yield node, given


def _without(program: Program, entering: ast.With | ast.Expr, context: ast.expr) -> Codemod:
    """A statement without the context that it enters."""
    from autodetach.codemods.drop_context import DropContext
    from autodetach.codemods.drop_guard import DropGuard
    from autodetach.codemods.replace_statement import ReplaceStatement

    if isinstance(entering, ast.Expr):
        is_alone = getattr(program.parents[entering], "body", None) == [entering]
        return ReplaceStatement(entering, "pass" if is_alone else "")
    item = next(item for item in entering.items if item.context_expr is context)
    return DropContext(entering, item) if len(entering.items) > 1 else DropGuard(entering)


def _once_a_pass(program: Program, activation: Activation, readers: list[Node]) -> ast.stmt | None:
    """The innermost statement of a pass that runs once in it, and in which all readers compute."""
    common: list[Place] | None = None
    for reader in readers:
        trail = trail_of(reader)
        if common is None:
            common = list(trail)
        else:
            pairs = zip(common, trail, strict=False)
            common = [one for one, _ in takewhile(lambda p: p[0][0] is p[1][0] and p[0][1] is p[1][1], pairs)]
    own = activation.frame
    frames = [frame for _, frame in common or ()]
    if common is None or own not in frames:
        return None
    inside = common[frames.index(own) + (not isinstance(activation.node, LOOPS)) :]
    fitting = takewhile(lambda place: not _is_repeated(program, place[0], activation.node), inside)
    return next((s for s, _ in reversed(list(fitting)) if _is_simple(s)), None)


def _is_repeated(program: Program, statement: ast.stmt, loop: ast.AST | None) -> bool:
    """Whether a statement stands in a loop of its function, or in one within `loop`."""
    around = takewhile(lambda at: at is not loop and not isinstance(at, CALLABLES), program.enclosing(statement))
    return any(isinstance(place, LOOPS) for place in around)


def _is_simple(statement: ast.stmt) -> bool:
    return isinstance(statement, SIMPLE) and not any(
        isinstance(n, (ast.Await, *YIELDS)) for n in ast.walk(statement)
    )


def _imported(file: ast.Module) -> set[str]:
    """The names that a file imports, at its top level."""
    imports = (s for s in file.body if isinstance(s, (ast.Import, ast.ImportFrom)))
    return {alias.asname or alias.name.partition(".")[0] for s in imports for alias in s.names}
