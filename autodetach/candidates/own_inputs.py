"""Each of several losses over one graph is differentiated for the parameters alone that its own step trains."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from autodetach.machine.children import targets_of, walk
from autodetach.machine.events import Step
from autodetach.machine.graph import Differentiation, ancestors
from autodetach.machine.run import Run
from autodetach.machine.spelling import is_dotted, last_word, spelled
from autodetach.node_types import FUNCTIONS
from autodetach.suspect import Candidate
from autodetach.view.program import Program, listed, statement_in, text
from autodetach.view.substituted import substituted

DOUBT = "steps stand between the losses: the later ones may be meant to be computed again behind them"
SPREADING = frozenset({"parameters", "list", "chain"})


def restricted(program: Program, run: Run, d: Differentiation) -> Iterator[Candidate]:
    """`loss_d.backward(inputs=list(D.parameters()))`, for all that are differentiated in the same pass as `d`."""
    from autodetach.codemods.set_keyword import SetKeyword

    shared = set(d.walked)
    together = {o.call: o for o in run.machine.differentiations if o.loops == d.loops and o.kind == "backward"}
    asked: dict[ast.Call, str] = {}
    for call, o in together.items():
        if o.create_graph or shared.isdisjoint(o.walked) or not _trains_a_part(run, o):
            continue
        own = _own_inputs(program, run, o)
        if own is None:
            return
        asked[call] = own
    if len(asked) > 1:
        shown = listed(call.func for call in asked)
        codemods = tuple(SetKeyword(call, "inputs", given) for call, given in asked.items())
        yield Candidate(f"ask {shown} for what its step trains alone: `inputs=...`", codemods, DOUBT, last_resort=True)


def restricting_all(program: Program, run: Run, d: Differentiation, repair: Candidate) -> Iterator[Candidate]:
    """The repair, and each loss of the pass for what its own step trains, where one statement has made them all."""
    if not _made_together(run, d):
        return
    for own in restricted(program, run, d):
        codemods, doubt = (*repair.codemods, *own.codemods), repair.doubt or own.doubt
        yield replace(own, message=f"{repair.message}, and {own.message}", codemods=codemods, doubt=doubt)


def _made_together(run: Run, d: Differentiation) -> bool:
    """Whether one call has made all losses of a pass: to compute one of them again would be to compute the others."""
    roots = [r for o in run.machine.differentiations if o.loops == d.loops for r in o.roots]
    for now, frame in d.trail:
        places = {statement_in(root, frame) for root in roots}
        if len(places) == 1 and isinstance(next(iter(places)), ast.Assign) and now not in places:
            return True
    return False


def restricting(program: Program, run: Run, d: Differentiation, repair: Candidate) -> Iterator[Candidate]:
    """The repair, and `d` differentiated for what its own step trains, so that other steps take nothing of it."""
    from autodetach.codemods.set_keyword import SetKeyword

    own = _own_inputs(program, run, d) if d.kind == "backward" and _trains_a_part(run, d) else None
    if own is not None:
        message = f"{repair.message}, and ask `{text(d.call.func)}` for what its step trains alone"
        codemods = (*repair.codemods, SetKeyword(d.call, "inputs", own))
        yield replace(repair, message=message, codemods=codemods, doubt=repair.doubt or DOUBT, last_resort=True)


def restricted_in_turn(program: Program, run: Run, d: Differentiation) -> Iterator[Candidate]:
    """Of a loop whose passes step different parameters over one graph, each loss for those of its own pass.

    Nothing else of that graph is walked then, so that it need not be retained, nor be as it was.
    """
    from autodetach.codemods.rename_keyword import RenameKeyword
    from autodetach.codemods.replace_expression import ReplaceExpression
    from autodetach.codemods.set_keyword import SetKeyword

    own = _own_inputs(program, run, d) if d.kind == "backward" and not d.create_graph else None
    if own is None or not _trains_a_part(run, d):
        return
    message, written = f"ask `{text(d.call.func)}` for what its own pass trains: `inputs=...`", d.retain_written
    if d.retain and isinstance(written, ast.keyword):
        asking = (RenameKeyword(written, "inputs"), ReplaceExpression(written.value, own))
        yield Candidate(f"{message}, and retain no graph", asking, DOUBT, last_resort=True)
    else:
        yield Candidate(message, (SetKeyword(d.call, "inputs", own),), DOUBT, last_resort=True)


def _trains_a_part(run: Run, d: Differentiation) -> bool:
    """Whether steps consume what a differentiation gives to some of its leaves, and not to all."""
    trained = {leaf for s in _steps_of(run, d) for leaf, ds in s.consumed if d in ds}
    return bool({n for n in ancestors(d.roots) if n.leaf} - trained)


def _steps_of(run: Run, d: Differentiation) -> list[Step]:
    return [s for s in run.machine.steps if s.what == "step" and any(d in ds for _, ds in s.consumed)]


def _own_inputs(program: Program, run: Run, d: Differentiation) -> str | None:
    """The list of parameters that the steps behind a differentiation train by it, as its `inputs`."""
    owned = dict.fromkeys(_parameters(program, s.site.node, d.call) for s in _steps_of(run, d))
    if not owned or None in owned or {k.arg for k in d.call.keywords} - {"retain_graph"} or d.call.args:
        return None
    first, *others = [str(e) for e in owned]
    return f"[*{', *'.join((first, *others))}]" if others else f"list({first})"


def _parameters(program: Program, step: ast.AST, place: ast.AST) -> str | None:
    """The expression by which an optimizer was given its parameters, if it means the same at `place`."""
    if not isinstance(step, ast.Call) or not isinstance(step.func, ast.Attribute):
        return None
    name, scope = spelled(step.func.value), program.scope(place)
    found: dict[str, None] = {}
    for statement in walk(program.file_of(place)):
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and name in map(spelled, targets_of(statement)):
            made, home = statement.value, program.scope(statement)
            given = made.args[0] if isinstance(made, ast.Call) and made.args else None
            if given is None or not _is_plain(given) or not _means_the_same(program, given, home, scope):
                return None
            found[spelled(given)] = None
    if not found and program.scope(step) is scope:
        found = dict.fromkeys(_given_by_owner(program, step.func.value, place))
    return next(iter(found)) or None if len(found) == 1 else None


def _given_by_owner(program: Program, optimizer: ast.expr, place: ast.AST) -> Iterator[str]:
    """`agent.actor.parameters()` of `agent.optimizer`, for all classes that make `self.optimizer` of something."""
    if not isinstance(optimizer, ast.Attribute) or not is_dotted(optimizer.value):
        return
    owner, name = spelled(optimizer.value), f"self.{optimizer.attr}"
    for statement in walk(program.file_of(place)):
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and name in map(spelled, targets_of(statement)):
            made = statement.value
            given = made.args[0] if isinstance(made, ast.Call) and made.args else None
            if given is None or not _is_plain(given) or program.names_read(given) - SPREADING != {"self"}:
                yield ""
            else:
                yield substituted(given, {"self": owner})


def _is_plain(given: ast.expr) -> bool:
    """Whether an expression only puts together the parameters of modules, and may be evaluated again."""
    calls = [n for n in ast.walk(given) if isinstance(n, ast.Call)]
    return bool(calls) and all(last_word(c.func) in SPREADING for c in calls)


def _means_the_same(program: Program, given: ast.expr, home: ast.AST, scope: ast.AST) -> bool:
    """Whether its names are bound once, and seen from both places; or it reads attributes of the same object."""
    names = program.names_read(given)
    if home is not scope and isinstance(scope, FUNCTIONS):
        own = {a.arg for a in ast.walk(scope.args) if isinstance(a, ast.arg)} - {"self"}
        if names & (own | program.names_bound(scope)):
            return False
    if home is scope or isinstance(home, ast.Module):
        bindings = [s for s in walk(home) if isinstance(s, ast.stmt) and not isinstance(s, ast.Module)]
        return all(sum(name in map(spelled, targets_of(s)) for s in bindings) <= 1 for name in names)
    return names == {"self"} and program.scope(home) is program.scope(scope)
