"""A method that does nothing but return an attribute returns what another one has made it of."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.called_inside import first_statement
from autodetach.candidates.mentioned import is_named_otherwise, mentions
from autodetach.machine.graph import Node
from autodetach.machine.spelling import spelled
from autodetach.suspect import Candidate
from autodetach.view.program import Block, Program, text, without_retain


def returned_itself(
    program: Program, made: ast.stmt, body: Block, outer: list[Node], doubt: str | None
) -> Iterator[Candidate]:
    """`return self.a / self.b` for `return self._ratio`, the only reader of what `self._ratio = self.a / self.b` sets.

    The names of the value mean the same in both methods.
    """
    from autodetach.codemods.replace_statement import ReplaceStatement

    last, cls = first_statement(body), program.parents.get(program.scope(made))
    target = made.targets[0] if isinstance(made, ast.Assign) and len(made.targets) == 1 else None
    if not isinstance(made, ast.Assign) or not isinstance(target, ast.Attribute) or not isinstance(cls, ast.ClassDef):
        return
    read = last.value if isinstance(last, ast.Return) and last is body[-1] else None
    if not isinstance(read, ast.Attribute) or spelled(read) != spelled(target):
        return
    if {*mentions(program, cls, target.attr)} != {read, target} or is_named_otherwise(program, cls, target.attr):
        return
    left = "" if len(program.block(made)) > 1 else "pass"
    codemods = (ReplaceStatement(last, "return {0}", (made.value,)), ReplaceStatement(made, left))
    method = getattr(program.scope(last), "name", "")
    yield Candidate(f"return `{text(made.value)}` from `{method}`", (*codemods, *without_retain(outer)), doubt)
