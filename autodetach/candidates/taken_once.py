"""What statements draw, or take from somewhere, has a name before they are computed twice, of the same data."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from autodetach.machine.children import targets_of
from autodetach.machine.graph import calls_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import called_name, last_word, spelled
from autodetach.named_tuples import NamedTuple
from autodetach.view.changing_calls import changes_nothing_given, leaves_its_own
from autodetach.view.free_names import free_name
from autodetach.view.imported import imported_as
from autodetach.view.program import Program, listed
from autodetach.view.read_by import functions_by_name, read_by
from autodetach.view.side_effects import draws_random_numbers, taken_from, takes_away, takes_inside

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

MAYBE = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""What may compute a part of itself never, or often."""

UNNAMED = (ast.GeneratorExp, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
"""What is used up once it is read, or means something else in a statement of its own."""

USED_UP = frozenset("filter iter map open reversed zip".split())


class Taken(NamedTuple):
    """The `codemods` that give names to data, the `changes` by which a copy reads these, and the data as it is shown.

    `draws`: random numbers are drawn besides, as by dropout.
    """

    codemods: tuple[Codemod, ...]
    changes: tuple[Codemod, ...]
    shown: str
    draws: bool


def taken_once(program: Program, run: Run, statements: list[ast.stmt]) -> Taken | None:
    """`batch = next(batches)` in front of `out = net(next(batches))`; None where data cannot have a name there."""
    from autodetach.codemods.insert_statement import InsertStatement
    from autodetach.codemods.replace_expression import ReplaceExpression

    look = _Look(program, run, statements)
    found: list[tuple[ast.expr, ast.stmt]] = []
    for statement in statements:
        value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
        data = list(look.data_in(value)) if value is not None else []
        if value is None or value in data or None in data or any(map(look.varies, targets_of(statement))):
            return None
        found += [(one, statement) for one in data if one is not None]
    if _is_read_besides(statements, [one for one, _ in found]):
        return None
    names: list[str] = []
    tree = program.file_of(statements[0])
    for one, _ in found:
        wish = "drawn" if look.draws(one) else "batch"
        name = free_name(tree, *(w for w in (wish, *(f"{wish}_{n}" for n in range(2, 9))) if w not in names))
        if name is None:
            return None
        names.append(name)
    given = [InsertStatement(at, f"{n} = {{0}}", "before", (one,)) for n, (one, at) in zip(names, found, strict=True)]
    changes = tuple(ReplaceExpression(one, n) for n, (one, _) in zip(names, found, strict=True))
    rest = [s for s in statements if not any(at is s for _, at in found)]
    draws = draws_random_numbers(run, rest) or any(look.draws(at, [one for one, _ in found]) for _, at in found)
    return Taken((*given, *changes), changes, listed(one for one, _ in found), draws)


def _is_read_besides(statements: list[ast.stmt], data: list[ast.expr]) -> bool:
    """Whether statements read what data is taken from in other places: `queue[-1]` left of `queue.pop()`."""
    taking = {n for one in data for n in ast.walk(one)}
    names = {spelled(at.value if isinstance(at, ast.Subscript) else at) for at in taken_from(taking)}
    return any(
        spelled(n) in names
        for s in statements
        for n in ast.walk(s)
        if isinstance(n, (ast.Name, ast.Attribute)) and n not in taking
    )


class _Look:
    def __init__(self, program: Program, run: Run, statements: list[ast.stmt]) -> None:
        self._program, self._run = program, run
        self._drawing = {s.node for site, chain in run.machine.random_nodes for s in (site, *calls_of(chain))}
        made = [n for n in run.machine.nodes if not n.leaf and not n.weak]
        self._making = {s.node for n in made for s in (n.site, *calls_of(n.chain))}
        calls = [n for s in statements for n in ast.walk(s) if isinstance(n, ast.Call)]
        self._taking = {c for c in calls if takes_away(program, run, [c])}

    def data_in(self, part: ast.AST, *, maybe: bool = False) -> Iterator[ast.expr | None]:
        """What has no history, and may be other data when it is computed again; None for what cannot have a name."""
        if not self.varies(part):
            return
        is_made = any(n in self._making for n in ast.walk(part))
        if isinstance(part, ast.expr) and not is_made and not isinstance(part, ast.Starred):
            yield None if maybe or _has_no_name(part) else part
            return
        inner = list(ast.iter_child_nodes(part))
        if part in self._taking and self._takes_itself(part):
            yield None  # a function that takes data, and computes with it
        for one in inner:
            yield from self.data_in(one, maybe=maybe or isinstance(part, MAYBE))

    def _takes_itself(self, call: ast.AST) -> bool:
        """Whether a call takes something away besides what the expressions do that it is given."""
        known = functions_by_name(self._program).get(called_name(call), []) if isinstance(call, ast.Call) else []
        if not any(map(self.varies, ast.iter_child_nodes(call))):
            return True
        return takes_inside({*known, *read_by(self._program, self._run, known).functions})

    def varies(self, part: ast.AST) -> bool:
        calls = (n for n in ast.walk(part) if isinstance(n, ast.Call))
        return any(n in self._drawing or n in self._taking or self._is_unknown(n) for n in calls)

    def draws(self, part: ast.AST, besides: Iterable[ast.expr] = ()) -> bool:
        """Whether anything in it does but some expressions."""
        others = {n for one in besides for n in ast.walk(one)}
        return any(n in self._drawing and n not in others for n in ast.walk(part))

    def _is_unknown(self, call: ast.Call) -> bool:
        """Whether a function or method out of view is called, of which nothing says that it reads alone."""
        if call in self._making:
            return False
        name = last_word(call.func)
        if functions_by_name(self._program).get(name):
            return False
        path = imported_as(self._program, call)
        if not path and isinstance(call.func, ast.Attribute):
            return not leaves_its_own(name)
        return not changes_nothing_given(call, path)


def _has_no_name(part: ast.expr) -> bool:
    is_used_up = isinstance(part, ast.Call) and last_word(part.func) in USED_UP
    return is_used_up or any(isinstance(n, UNNAMED) for n in ast.walk(part)) or part.lineno != part.end_lineno
