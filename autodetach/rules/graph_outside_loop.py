"""Something with history is built once before a loop and differentiated in every pass.

## What it does
Reports values with history that are made before a loop (at module level, in a constructor, before a closure) and used
in it, where each pass differentiates them and steps parameters.

## Why is this bad
The first pass frees the graph, the second raises `Trying to backward through the graph a second time`. Where nothing
in that graph saves tensors there is no error: every pass then trains on values of the parameters from before the
loop.

## Example
```python
scale = torch.exp(log_scale)
for x, y in loader:
    loss = criterion(model(x) * scale, y)
    loss.backward()
    optimizer.step()
```

## Use instead
```python
for x, y in loader:
    scale = torch.exp(log_scale)
```

## Fix safety
If the leaves are trained, the statements that build the graph move into the loop: safe when the program could only
raise before and the moved statements draw no random numbers. Of a table that is read in one place, one element at a
time, that element is computed there instead. Nothing moves past what gives another meaning to a name that it reads. If
they are not trained, the value is detached where it is built: safe. Unsafe when the program runs today (the silent
kind). What is needed before the loop too is built once more inside of it: unsafe.

## When it stays silent
When nothing is stepped in between (rows of a Jacobian, a loop over losses), and when the leaves do not require grad.

## References
- https://discuss.pytorch.org/t/24554
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from autodetach.finding import Severity, StoryStep
from autodetach.machine.graph import Activation, Differentiation, Node, Site, ancestors, diverge, take_turns
from autodetach.machine.growth import expression_of, pass_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Value
from autodetach.rules.detaching import leaves_of_display
from autodetach.rules.one_element import where_read
from autodetach.rules.program import (
    Program,
    assumptions_of,
    calls_of,
    fault_of,
    handed,
    is_assumed,
    line,
    observed_of,
    stable,
    stepped_between,
    targets_of,
    text,
)
from autodetach.rules.reads import at_read, is_part_of_what_is_read
from autodetach.rules.repeated import repeated_inside
from autodetach.rules.suspect import Candidate, Suspect, rule

Entry = tuple[Node | None, Value, Node]
"""A node of the pass (None for a root), its operand from outside of the loop, and the node that made the operand."""


def find(program: Program) -> Iterator[Suspect]:
    seen: set[object] = set()
    for run in program.runs:
        for suspect in (*_errors(program, run), *_stale(program, run)):
            if suspect.key not in seen:
                seen.add(suspect.key)
                yield suspect


def _errors(program: Program, run: Run) -> Iterator[Suspect]:
    for event in run.machine.second_walks:
        apart = diverge(event.first.loops, event.second.loops)
        if apart is None or pass_of(event.node.loops, apart[0].activation) is not None:
            continue
        if stepped_between(run, event.first, event.second):
            yield _suspect(program, run, event.first, event.second, event.node, event.path, apart[1].activation)
    for change in run.machine.stale:
        first = next((d for d in change.node.walked_by if d.number < change.by.number), _before(run, change.by))
        apart = diverge(first.loops, change.by.loops) if first is not None else None
        if first is None or apart is None or pass_of(change.node.loops, apart[0].activation) is not None:
            continue
        yield _suspect(program, run, first, change.by, change.node, change.path, apart[1].activation, change.changed)


def _before(run: Run, d: Differentiation) -> Differentiation | None:
    """The last differentiation of an earlier pass, whose step changes what the graph of this one needs."""
    earlier = (o for o in reversed(run.machine.differentiations) if o.number < d.number)
    return next((o for o in earlier if diverge(o.loops, d.loops) is not None), None)


def _stale(program: Program, run: Run) -> Iterator[Suspect]:
    """No error, but each pass differentiates values that were computed before the first step."""
    for d in run.machine.differentiations:
        if d.kind == "grad" or d.create_graph or d.raised:
            continue
        for node in d.walked:
            if len(node.walked_by) < 2 or node.leaf or node.weak:
                continue
            first = next((o for o in node.walked_by if o.number < d.number and o.kind != "grad"), None)
            apart = diverge(first.loops, d.loops) if first is not None else None
            if first is None or apart is None or pass_of(node.loops, apart[0].activation) is not None:
                continue
            if take_turns(node, d):
                continue
            if _own_leaf_stepped(run, node, first, d):
                yield _suspect(program, run, first, d, node, (node,), apart[1].activation, silent=True)
                return


def _own_leaf_stepped(run: Run, node: Node, first: Differentiation, second: Differentiation) -> bool:
    """Whether a leaf under `node` is changed by a step between two walks over it."""
    leaves = _leaves(node)
    return any(
        first.number < s.clock < second.number and s.what != "grad" and any(leaf in leaves for leaf, _ in s.consumed)
        for s in run.machine.steps
    )


def _leaves(node: Node) -> set[Node]:
    found, seen, stack = set[Node](), set[Node](), [node]
    while stack:
        n = stack.pop()
        if n in seen:
            continue
        seen.add(n)
        if n.leaf:
            found.add(n)
        stack.extend(n.parents)
    return found


def _suspect(
    program: Program,
    run: Run,
    first: Differentiation,
    second: Differentiation,
    node: Node,
    path: tuple[Node, ...],
    activation: Activation,
    changed: Site | None = None,
    silent: bool = False,
) -> Suspect:
    entries = list(entered(second, activation))
    shown = text(
        expression_of(entries[0][0], entries[0][1]) if entries and entries[0][0] is not None else second.root_expression
    )
    where = line(activation.node) if activation.node is not None else 0
    if silent:
        does, end = "walks it", "walks it again, though its parameters have changed since"
    elif changed is not None:
        does, end = "walks some of it", "needs what was changed as it was: PyTorch raises"
    else:
        does, end = "frees it", "needs the freed part again: PyTorch raises"
    story = [StoryStep(line(node.site), f"builds the graph of `{shown}`, once")]
    if where:
        story.append(StoryStep(where, "the loop begins"))
    if first in node.walked_by:
        story.append(StoryStep(line(first.call), f"pass 1: backward {does}"))
    if changed is not None:
        story.append(StoryStep(line(changed), "pass 1: tensors that it saved are changed in place"))
    story.append(StoryStep(line(second.call), f"pass 2: {end}"))
    message = (
        f"`{shown}` is computed once before the loop: every pass trains on its old value"
        if silent
        else f"the graph of `{shown}` is built once before the loop, and `{text(second.call)}` walks it in every pass"
    )
    return Suspect(
        ("AD301", second.scope, stable(second.call)),
        node.site.node if isinstance(node.site.node, (ast.expr, ast.stmt)) else second.call,
        message,
        Severity.ERROR,
        tuple(story),
        not is_assumed(path),
        assumptions_of(program, path),
        lambda: _candidates(program, run, second, activation, entries, silent),
        fault_of(second),
        observed_of(program, path),
    )


def entered(d: Differentiation, activation: Activation) -> Iterator[Entry]:
    """Where a differentiation leaves the graph of the loop's passes for what was made before the loop."""
    for root in d.roots:
        if pass_of(root.loops, activation) is None and not root.leaf:
            operand = next((o for o in d.operands if getattr(o, "node", None) is root), None)
            yield None, operand, root
    for node in d.walked:
        if pass_of(node.loops, activation) is None:
            continue
        for parent in node.parents:
            if parent.leaf or parent.weak or pass_of(parent.loops, activation) is not None:
                continue
            operand = next((o for o in node.operands if getattr(o, "node", None) is parent), None)
            yield node, operand, parent


# ---- candidates


def _candidates(
    program: Program, run: Run, d: Differentiation, activation: Activation, entries: list[Entry], silent: bool
) -> Iterator[Candidate]:
    doubt = "the gradients of a program that runs today change" if silent else None
    here = [o for o in run.machine.differentiations if o.call is d.call]
    trained = {leaf for s in run.machine.steps for leaf, ds in s.consumed if any(o in ds for o in here)}
    outer = _outside([parent for _, _, parent in entries], activation)
    moves = any(leaf in trained for n in outer for leaf in _leaves(n))
    moved = _moved(program, run, _body(activation), "loop", outer, doubt)
    if not moved:
        readers = {b[0]: b for r, _, _ in entries if r is not None and (b := _function_body(program, r))}
        if len(readers) == 1:
            moved = _moved(program, run, next(iter(readers.values())), "function", outer, doubt)
    if _computed_again(run, d, activation, outer):
        meant = "the value may be meant as a constant, or be computed anew in every pass: only its author knows"
        stored = _stored(run, outer, meant)
        for candidate in (*stored, *_detached(program, entries, meant), *_read(program, entries, meant)):
            yield replace(candidate, cuts=True)
        return
    if moves:
        yield from moved or repeated_inside(program, activation.node, outer, partial(draws_random_numbers, run))
    yield from _detached(program, entries, doubt)
    yield from _read(program, entries, doubt)


def _stored(run: Run, outer: list[Node], doubt: str) -> Iterator[Candidate]:
    """Where a container takes what the loop computes anew: else it keeps its graph while the loop runs."""
    from autodetach.codemods.append_method import AppendMethod

    made = set(outer)
    events = [event for event in run.machine.stored if event.node in made]
    stored = {event.node for event in events}
    places: dict[ast.expr, None] = {}
    for event in events:
        if stored.isdisjoint(ancestors(event.node.parents)):
            element = event.element
            elements = leaves_of_display(element, event.value) if element is not None else []
            given = [*(e for e, value in elements if value is event.tensor), *handed(event.chain, event.tensor)]
            if not given:
                return
            places[given[-1]] = None
    if places:
        shown = ", ".join(f"`{text(e)}`" for e in places)
        yield Candidate(f"detach {shown} where it is stored", tuple(AppendMethod(e, "detach") for e in places), doubt)


def _read(program: Program, entries: list[Entry], doubt: str | None) -> Iterator[Candidate]:
    """Where what is made is no tensor, but a state of several: each is detached where the state is read."""
    crossed = [(node, operand, maker) for node, operand, maker in entries if node is not None and operand is not None]
    if any(is_part_of_what_is_read(node, operand) for node, operand, _ in crossed):
        for message, codemods in at_read(program, crossed):
            yield Candidate(message, codemods, doubt)


def _computed_again(run: Run, d: Differentiation, activation: Activation, outer: list[Node]) -> bool:
    """Whether the loop runs the same module anew, as for the old and the new log-probabilities of a policy.

    Two classes may each have a `self.head`: what has the same name has the same weights too, where these are known.
    """
    before = [n for n in outer if _is_of_module(n)]
    names = {_callee(n) for n in before}
    weights = {leaf for n in before for leaf in n.parents if leaf.leaf}
    return any(
        _callee(n) in names and (not weights or not weights.isdisjoint(n.parents))
        for n in d.walked
        if _is_of_module(n) and pass_of(n.loops, activation) is not None
    )


def _is_of_module(node: Node) -> bool:
    return isinstance(node.site.node, ast.Call) and node.op[:1].isupper()


def _callee(node: Node) -> str:
    assert isinstance(node.site.node, ast.Call)
    return spelled(node.site.node.func)


def _outside(nodes: list[Node], activation: Activation) -> list[Node]:
    """All nodes made before the loop that the given ones rest on, oldest first."""
    found: dict[Node, None] = {}
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if node in found or node.leaf:
            continue
        found[node] = None
        stack.extend(node.parents)
    return sorted(found, key=lambda n: n.number)


def _function_body(program: Program, reader: Node) -> list[ast.stmt]:
    """The body of the function in which a value from outside is read."""
    scope = program.scope(reader.site.node)
    return scope.body if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)) else []


def _moved(
    program: Program, run: Run, body: list[ast.stmt], where: str, outer: list[Node], doubt: str | None
) -> list[Candidate]:
    from autodetach.codemods.move_statements import MoveStatements

    if not body:
        return []
    anchor = body[1] if len(body) > 1 and _is_docstring(body[0]) else body[0]
    statements: dict[ast.stmt, None] = {}
    for node in outer:
        statement = _building_statement(program, node, anchor)
        if statement is None:
            return []
        statements[statement] = None
    ordered = sorted(statements, key=line)
    if not ordered or not all(isinstance(s, (ast.Assign, ast.AnnAssign, ast.AugAssign)) for s in ordered):
        return []
    if not _movable(program, ordered, anchor):
        return []
    if doubt is None and draws_random_numbers(run, ordered):
        doubt = "a moved statement draws random numbers, which it will do in every pass"
    if doubt is None and keeps_state(program, run, ordered):
        doubt = "a moved statement calls what keeps a state, which it will change in every pass"
    names = ", ".join(f"`{text(t)}`" for s in ordered for t in targets_of(s))
    alone = where_read(program, ordered[0], body, doubt) if len(ordered) == 1 else ()
    return [*alone, Candidate(f"compute {names} inside the {where}", (MoveStatements(tuple(ordered), anchor),), doubt)]


def _body(activation: Activation) -> list[ast.stmt]:
    node = activation.node
    if isinstance(node, (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef)):
        return node.body
    function = getattr(activation.frame, "node", None)
    return function.body if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) else []


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _building_statement(program: Program, node: Node, anchor: ast.stmt) -> ast.stmt | None:
    """The statement that makes a node, seen from the scope into which it would move."""
    places: list[ast.AST] = [node.site.node, *[site.node for site in calls_of(node.chain)]]
    scopes = {program.scope(anchor), *program.enclosing(anchor)}
    for place in places:
        statement = program.statement(place)
        if statement is None:
            continue
        if program.scope(statement) in scopes:
            return statement
        if _of_the_same_object(program, statement, anchor):
            return statement
    return None


def _of_the_same_object(program: Program, statement: ast.stmt, anchor: ast.stmt) -> bool:
    """`self.x = ...` in a constructor means the same in another method of the class."""
    here, there = program.scope(statement), program.scope(anchor)
    if not (isinstance(here, ast.FunctionDef) and isinstance(there, ast.FunctionDef)):
        return False
    if program.parents.get(here) is not program.parents.get(there) or not here.args.args or not there.args.args:
        return False
    this = here.args.args[0].arg
    if this != there.args.args[0].arg:
        return False
    local = {n for s in here.body for n in program.names_bound(s)} | {a.arg for a in here.args.args[1:]}
    bound = program.names_bound(statement)
    return not bound and not (program.names_read(statement) & local)


def _movable(program: Program, statements: list[ast.stmt], anchor: ast.stmt) -> bool:
    """Whether nothing that stays behind reads what the statements bind before they will have run."""
    bound = {name for s in statements for name in program.names_bound(s)}
    home, goal = program.scope(statements[0]), program.scope(anchor)
    if home is not goal and _read_by_others(program, statements, goal):
        return False
    if _is_bound_anew(program, statements, goal):
        return False
    first = min(line(s) for s in statements)
    moved = set(statements)
    for node in ast.walk(program.file_of(anchor)):
        if not (isinstance(node, ast.Name) and node.id in bound):
            continue
        around = list(program.enclosing(node))
        if any(at in moved for at in around):
            continue
        if home is goal:
            if program.scope(node) is home and first < node.lineno < line(anchor):
                return False
        elif goal not in around and not _binds(program.scope(node), node.id):
            return False  # it becomes a local name of the function
        elif goal in around and isinstance(node.ctx, ast.Store):
            return False
    return all(isinstance(t, (ast.Name, ast.Attribute, ast.Tuple)) for s in statements for t in targets_of(s))


def _is_bound_anew(program: Program, statements: list[ast.stmt], goal: ast.AST) -> bool:
    """Whether what the statements read may be something else by then: `x` of `out = net(x)`, in a loop over `x`."""
    read = {name for s in statements for name in program.names_read(s)}
    read -= {name for s in statements for name in program.names_bound(s)}
    home, after = program.scope(statements[0]), min(line(s) for s in statements)
    if home is not goal and isinstance(goal, (ast.FunctionDef, ast.AsyncFunctionDef)):
        this = goal.args.args[:1] if isinstance(program.parents.get(goal), ast.ClassDef) else []
        if read & {a.arg for a in ast.walk(goal.args) if isinstance(a, ast.arg) and a not in this}:
            return True
    return any(
        n.id in read and not isinstance(n.ctx, ast.Load) and not _is_updated(program, n)
        for scope in {home, goal}
        for n in ast.walk(scope)
        if isinstance(n, ast.Name) and program.scope(n) is scope and (scope is not home or n.lineno > after)
    )


def _is_updated(program: Program, name: ast.Name) -> bool:
    """Whether a name is bound by `w -= step` or `w = w - step`."""
    statement = program.statement(name)
    return isinstance(statement, ast.AugAssign) or (
        isinstance(statement, ast.Assign) and name.id in program.names_read(statement.value)
    )


def _read_by_others(program: Program, statements: list[ast.stmt], goal: ast.AST) -> bool:
    """Whether an attribute that a constructor sets is mentioned outside of the function which would set it instead."""
    kept = {t.attr for s in statements for t in targets_of(s) if isinstance(t, ast.Attribute)}
    nodes = ast.walk(program.file_of(goal)) if kept else ()
    mentions = (n for n in nodes if isinstance(n, ast.Attribute) and n.attr in kept)
    return any({goal, *statements}.isdisjoint(program.enclosing(n)) for n in mentions)


def _binds(scope: ast.AST, name: str) -> bool:
    """Whether a name is local to a function."""
    if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return False
    arguments = scope.args
    if name in {a.arg for a in (*arguments.args, *arguments.posonlyargs, *arguments.kwonlyargs)}:
        return True
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(scope))


def draws_random_numbers(run: Run, statements: list[ast.stmt]) -> bool:
    """Whether statements, or what they call, draw random numbers."""
    lines = {n for s in statements for n in range(s.lineno, (s.end_lineno or s.lineno) + 1)}
    if any(site.line in lines for site in run.machine.random_nodes):
        return True
    return any(
        any(site.line in lines for site in calls_of(n.chain))
        and n.site.node in {r.node for r in run.machine.random_nodes}
        for n in run.machine.nodes
    )


def keeps_state(program: Program, run: Run, statements: list[ast.stmt]) -> bool:
    """Whether a function that statements call assigns to an attribute or an element."""
    lines = {n for s in statements for n in range(s.lineno, (s.end_lineno or s.lineno) + 1)}
    called: set[ast.AST] = set()
    for node in run.machine.nodes:
        sites = list(calls_of(node.chain))
        outermost = next((i for i, site in enumerate(sites) if site.line in lines), None)
        if outermost is not None:
            called |= {program.scope(place) for place in (node.site.node, *(s.node for s in sites[:outermost]))}
    return any(
        isinstance(target, (ast.Attribute, ast.Subscript))
        for function in called
        if isinstance(function, ast.FunctionDef) and function.name != "__init__"
        for statement in ast.walk(function)
        if isinstance(statement, ast.stmt)
        for target in targets_of(statement)
    )


def _detached(program: Program, entries: list[Entry], doubt: str | None) -> Iterator[Candidate]:
    """Detach what is built outside, at the place where it is built: nothing there is trained."""
    from autodetach.codemods.append_method import AppendMethod

    levels: list[dict[ast.expr, None]] = []
    for _, _, parent in entries:
        places = [parent.site.node, *[site.node for site in calls_of(parent.chain)]]
        for depth, place in enumerate(reversed(places)):
            if isinstance(place, ast.expr):
                while len(levels) <= depth:
                    levels.append({})
                levels[depth][place] = None
    for level in levels:
        shown = ", ".join(f"`{text(e)}`" for e in level)
        yield Candidate(
            f"detach {shown}: nothing in its graph is trained", tuple(AppendMethod(e, "detach") for e in level), doubt
        )


RULE = rule(__doc__, "AD301", "graph-outside-loop", find)
