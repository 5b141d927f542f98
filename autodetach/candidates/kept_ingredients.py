"""What a memory hands out again is computed anew by who reads it: the memory keeps what it is computed of."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autodetach.candidates.detaching import leaves_of_display
from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import walk
from autodetach.machine.graph import Node, calls_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word, spelled
from autodetach.node_types import FUNCTIONS
from autodetach.suspect import Candidate
from autodetach.view.program import Program, line, parts_of, text
from autodetach.view.side_effects import draws_random_numbers, keeps_state

NEWEST = "what was done with older weights is judged by the newest ones: only its author knows whether that is meant"


def computed_by_reader(program: Program, run: Run, makers: Iterable[Node]) -> Iterator[Candidate]:
    """`saved.append(dist.log_prob(action))`, and a loop over what was saved, which computes it of state and action."""
    from autodetach.codemods.insert_statement import InsertStatement
    from autodetach.codemods.replace_expression import ReplaceExpression

    stored = _stored(run, set(makers))
    read = None if stored is None else _read(program, run, stored[1])
    if stored is None or read is None:
        return
    (place, _), (loop, name) = stored, read
    recipe = _Recipe(program, run, place)
    if not _fits(program, run, recipe, place, loop, name.id):
        return
    shown = recipe.kept[0] if len(recipe.kept) == 1 else f"({', '.join(recipe.kept)})"
    lines = [spelled(step) for step in recipe.steps]
    if spelled(place) != name.id:
        lines.append(f"{name.id} = {spelled(place)}")
    codemods = (
        ReplaceExpression(place, shown),
        ReplaceExpression(name, shown),
        InsertStatement(loop.body[0], "\n".join(lines), "before"),
    )
    yield Candidate(f"keep `{shown}`, of which the loop computes `{text(name)}` anew", codemods, NEWEST)


def _stored(run: Run, makers: set[Node]) -> tuple[ast.expr, set[Node]] | None:
    """The one expression by which what is read came into a container, and all that has come in by it."""
    parts = [
        (part, event.node)
        for event in run.machine.stored
        if event.element is not None and event.how == "append"
        for part, value in leaves_of_display(event.element, event.value)
        if value is event.tensor and isinstance(part, (ast.Name, ast.Call))
    ]
    places = {part for part, node in parts if node in makers}
    if len(places) != 1:
        return None
    (place,) = places
    return place, {node for part, node in parts if part is place}


def _read(program: Program, run: Run, nodes: set[Node]) -> tuple[ast.For, ast.Name] | None:
    """The one loop by which all is read that was stored, and the name that it has there."""
    found: dict[ast.Name, ast.For] = {}
    for reader in run.machine.nodes:
        if nodes.isdisjoint(reader.parents):
            continue
        names = [e for e, value in reader.site.operands if getattr(value, "node", None) in nodes]
        targets = [_target(program, name) for name in names]
        if not targets or None in targets:
            return None
        found.update((name, loop) for loop, name in filter(None, targets))
    if len(found) != 1:
        return None
    ((target_name, loop),) = found.items()
    return loop, target_name


def _target(program: Program, read: ast.expr) -> tuple[ast.For, ast.Name] | None:
    """The loop that binds a name, if nothing else in the function does."""
    if not isinstance(read, ast.Name):
        return None
    scope = program.scope(read)
    bound = [
        n for n in walk(scope) if isinstance(n, ast.Name) and n.id == read.id and not isinstance(n.ctx, ast.Load)
    ]
    for loop in program.enclosing(read):
        if isinstance(loop, ast.For):
            names = [t for t in parts_of(loop.target) if isinstance(t, ast.Name) and t.id == read.id]
            if names and names == bound:
                return loop, names[0]
    return None


class _Recipe:
    """How a value is computed: the `steps` that carry graph, the first one first, from local names that have none.

    These are `kept`; `free` are names that others bind, and `own` is what the object of a method is called there.
    `is_known` is false where a step may not have run, or a name has come to mean something else since.
    """

    def __init__(self, program: Program, run: Run, place: ast.expr) -> None:
        self._program, self._run, self._end = program, run, line(place)
        scope = program.scope(place)
        self.own = _own_name(program, scope)
        around = [place, *program.enclosing(place)]
        self._blocks = [s for at in around if isinstance(at, ast.stmt) for s in program.block(at)]
        stores = (n for n in walk(scope) if isinstance(n, ast.Name) and program.scope(n) is scope)
        self._bound = [(n.id, s) for n in stores if not isinstance(n.ctx, ast.Load) and (s := program.statement(n))]
        given = all_parameter_names(scope.args) if isinstance(scope, FUNCTIONS) else set()
        self._local = {name for name, _ in self._bound} | given
        self.kept: list[str] = []
        self.free: set[str] = set()
        self.steps: list[ast.Assign] = []
        self.is_known = True
        self._look(place, self._end)
        self.steps.sort(key=line)
        self.kept.sort(key=" ".join(map(spelled, (*self.steps, place))).find)

    def _look(self, value: ast.expr, before: int) -> None:
        """Take apart what is computed in a line."""
        for name in self._program.names_read(value):
            step = self._made(name, before)
            last = self._last(name, before)
            if name not in self._local:
                self.free.add(name)
            elif self.own and name == self.own[1]:
                continue
            elif last is not self._last(name, self._end):
                self.is_known = False
            elif step is None:
                self.kept += [name] if name not in self.kept else []
            elif step not in self.steps:
                self.steps.append(step)
                self.is_known = self.is_known and step in self._blocks
                self._look(step.value, line(step))

    def _last(self, name: str, before: int) -> ast.stmt | None:
        statements = [s for bound, s in self._bound if bound == name and line(s) < before]
        return max(statements, key=line, default=None)

    def _made(self, name: str, before: int) -> ast.Assign | None:
        """The assignment that gives a name something with graph, or an object that is made of such."""
        step = self._last(name, before)
        if not isinstance(step, ast.Assign):
            return None
        is_object = isinstance(step.value, ast.Call) and last_word(step.value.func)[:1].isupper()
        names = self._program.names_read(step.value) if is_object else ()
        return step if self._makes_graph(step) or any(self._made(n, line(step)) for n in names) else None

    def _makes_graph(self, step: ast.stmt) -> bool:
        """Whether a statement, or what it calls, computes something that can be differentiated."""
        return any(
            self._program.statement(place) is step
            for node in self._run.machine.nodes
            if not node.weak
            for place in (node.site.node, *(site.node for site in calls_of(node.chain)))
        )


def _own_name(program: Program, scope: ast.AST) -> tuple[ast.ClassDef, str] | None:
    """The class of a method, and `self`."""
    cls = program.parents.get(scope)
    if isinstance(cls, ast.ClassDef) and isinstance(scope, FUNCTIONS) and scope.args.args:
        return cls, scope.args.args[0].arg
    return None


def _fits(program: Program, run: Run, recipe: _Recipe, place: ast.expr, loop: ast.For, name: str) -> bool:
    """Whether names mean there what they mean here, and computing once more does nothing else."""
    steps = [*recipe.steps, *filter(None, [program.statement(place)])]
    if not (recipe.is_known and recipe.kept and recipe.steps):
        return False
    if draws_random_numbers(run, steps) or keeps_state(program, run, steps):
        return False
    scope = program.scope(loop)
    if recipe.own != _own_name(program, scope):
        return False
    own = [n for n in walk(scope) if isinstance(n, ast.Name) and program.scope(n) is scope]
    bound = {n.id for n in own if not isinstance(n.ctx, ast.Load)}
    bound |= all_parameter_names(scope.args) if isinstance(scope, FUNCTIONS) else set()
    new = {*recipe.kept, *(bound for step in recipe.steps for bound in program.names_bound(step))} - {name}
    return recipe.free.isdisjoint(bound) and new.isdisjoint(bound | {n.id for n in own})
