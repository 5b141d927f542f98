"""A module keeps the parameter that it makes, and computes what it made of that where it is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeGuard

from autodetach.candidates.mentioned import is_changed, mentions
from autodetach.machine.children import targets_of, walk
from autodetach.machine.graph import Node, ancestors
from autodetach.machine.spelling import last_word
from autodetach.suspect import Candidate
from autodetach.view.program import Program, listed

if TYPE_CHECKING:
    from autodetach.codemods.keep_part import KeepPart

TRAINED = "the parameter is trained then, as it never was: it may be meant to stay as it is"
UNTRAINED = "a parameter is made that nothing trains: it may be meant to be kept as it is, and to be trained"


def kept_parameter(program: Program, outer: list[Node]) -> Iterator[Candidate]:
    """`self.scale = nn.Parameter(x)` and `self.scale.exp()` where it was `self.scale = nn.Parameter(x).exp()`.

    PyTorch registers parameters alone, not what is computed of them:
    https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html
    """
    made: dict[ast.stmt | None, list[Node]] = {}
    for node in outer:
        made.setdefault(program.statement(node.site.node), []).append(node)
    edits = [_kept(program, statement, nodes) for statement, nodes in made.items()]
    kept = [edit for edit in edits if edit is not None]
    if kept and len(kept) == len(edits):
        shown = listed(t for statement in made if statement is not None for t in targets_of(statement))
        message = f"keep the parameter in {shown}, and compute the rest where it is read"
        yield Candidate(message, tuple(kept), TRAINED, adds=True)


def makes_parameter(program: Program, outer: list[Node]) -> bool:
    """Whether a parameter is made only to compute one of the nodes."""
    statements = {program.statement(node.site.node) for node in outer}
    leaves = (n.site.node for n in ancestors(outer) if n.leaf)
    return any(_is_parameter(place) and program.statement(place) in statements for place in leaves)


def _is_parameter(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and last_word(node.func) == "Parameter"


def _kept(program: Program, statement: ast.stmt | None, made: list[Node]) -> KeepPart | None:
    """Where one statement of a constructor makes the nodes of a parameter, and keeps what they give as an attribute."""
    from autodetach.codemods.keep_part import KeepPart

    home = program.scope(statement) if isinstance(statement, ast.Assign) else None
    cls = program.parents.get(home) if home is not None else None
    if not isinstance(statement, ast.Assign) or not isinstance(home, ast.FunctionDef) or len(statement.targets) != 1:
        return None
    target, parameter = statement.targets[0], _parameter(statement.value, made)
    if not isinstance(cls, ast.ClassDef) or not isinstance(target, ast.Attribute) or parameter is None:
        return None
    reads = [n for n in mentions(program, cls, target.attr) if n is not target]
    if not reads or any(not isinstance(n.ctx, ast.Load) or is_changed(program, n) for n in reads):
        return None
    if any(cls not in program.enclosing(n) for n in reads) or _reads_locals(home, statement.value, parameter):
        return None
    return KeepPart(statement.value, parameter, tuple(reads))


def _parameter(value: ast.expr, made: list[Node]) -> ast.Call | None:
    """The one parameter that an expression makes and goes on to compute with, if the nodes rest on nothing else."""
    calls = [n for n in ast.walk(value) if _is_parameter(n)]
    leaves = {n.site.node for n in ancestors(made) if n.leaf}
    return calls[0] if len(calls) == 1 and leaves == set(calls) and calls[0] is not value else None


def _reads_locals(home: ast.FunctionDef, expression: ast.expr, part: ast.expr) -> bool:
    """Whether what is done to a part of an expression needs what only its function knows."""
    inside = set(ast.walk(part))
    read = {n.id for n in ast.walk(expression) if isinstance(n, ast.Name) and n not in inside}
    arguments = {a.arg for a in ast.walk(home.args) if isinstance(a, ast.arg)}
    bound = {n.id for n in walk(home) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return not read.isdisjoint(arguments | bound)
