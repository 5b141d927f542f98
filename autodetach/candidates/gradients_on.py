"""What computes and differentiates, where a caller has turned gradients off, is put where they are on.

So it is with what adapts to a task, or gives the gradient of an energy, while a network is evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence, Set

from autodetach.machine.events import HistoryLost
from autodetach.machine.graph import OFF, Node
from autodetach.machine.program_values import Frame
from autodetach.machine.spelling import called_name, last_word
from autodetach.machine.untrained import leaves_of
from autodetach.machine.words import EVIDENCE
from autodetach.node_types import FUNCTIONS, LOOPS, YIELDS
from autodetach.suspect import TRAINED_THERE, Candidate
from autodetach.view.program import Program

ON = "torch.enable_grad()"
MESSAGE = "compute what is differentiated where gradients are on"
SWITCHES = frozenset({"set_grad_enabled"})
MODES = frozenset({"no_grad"}) | SWITCHES
UNREACHED = frozenset({"inference_mode"})
"""What is made under this has no history even where gradients are on."""
WITHOUT_HISTORY = frozenset(
    "requires_grad_ detach to train eval zero_grad step parameters backward grad range len print isinstance".split()
)
"""What computes nothing that has history, by its last name."""


def with_gradients_on(program: Program, fact: HistoryLost) -> Iterator[Candidate]:
    """Put what is differentiated under `torch.enable_grad()`, in the innermost function that can: no caller is changed.

    What turns gradients off around a parameter step of its own is itself what should go: it is left.
    """
    from autodetach.codemods.under_no_grad import UnderNoGrad

    if not fact.off or any(one.how != OFF for one in fact.lost) or _mentions(program.analysis.trees, UNREACHED):
        return
    trail = list(fact.trail)
    doubt = TRAINED_THERE if _trains_others(program, fact, trail) else None
    while trail:
        frame = trail[-1][1]
        own = [statement for statement, at in trail if at is frame]
        mode = _mode_in(program, own, frame)
        if mode is not None and _steps_in(program, mode):
            return
        inside = own[own.index(mode) + 1 :] if mode in own else own
        found = list(_groups(program, fact, inside)) if program.imports_torch(own[-1]) else []
        for group in found:
            if not any(isinstance(n, YIELDS) for s in group for n in ast.walk(s)):
                under = UnderNoGrad(tuple(group), ON)
                yield Candidate(MESSAGE, (under,), doubt, adds=True, begins=True)
        if found or mode is not None:
            return
        while trail and trail[-1][1] is frame:
            trail.pop()


def _groups(program: Program, fact: HistoryLost, own: Sequence[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """The statements of a block that go together: the loop that trains, or what computes up to what differentiates.

    `own` are the running statements of the function, outermost first.
    """
    loops = [statement for statement in own if isinstance(statement, LOOPS)]
    trains = bool(loops) and _steps_in(program, loops[-1])
    if trains:
        while len(loops) > 1 and loops[-2].body == [loops[-1]]:
            loops.pop()
        yield [loops[-1]]
    for statement in reversed(own):
        if isinstance(statement, LOOPS):
            break
        group = _computed_for(program, fact, statement)
        if group:
            yield group
            break
    if loops and not trains:
        yield [loops[-1]]


def _computed_for(program: Program, fact: HistoryLost, statement: ast.stmt) -> list[ast.stmt]:
    """From the first statement of the block that computes what is differentiated, to the last that differentiates."""
    block = program.block(statement)
    at, wanted = block.index(statement), program.names_read(statement)
    first = at if _computes(program, fact, statement) else len(block)
    for index in range(at - 1, -1, -1):
        above = block[index]
        if wanted & (program.names_bound(above) | _names_changed(program, above)):
            wanted |= program.names_read(above)
            if _computes(program, fact, above):
                first = index
    calls = {d.call for run in program.runs for d in run.machine.differentiations}
    last = max(i for i, s in enumerate(block) if i == at or (i > at and any(n in calls for n in ast.walk(s))))
    return block[first : last + 1] if first <= at else []


def _computes(program: Program, fact: HistoryLost, statement: ast.stmt) -> bool:
    """Whether history is lost in a statement, or may be lost in what it calls."""
    inner = set(ast.walk(statement))
    places = {one.place for one in fact.lost}
    if places & inner:
        return True
    if all(program.scope(place) is program.scope(statement) for place in places):
        return False
    calls = (n for n in inner if isinstance(n, ast.Call))
    return any(last_word(call.func) not in WITHOUT_HISTORY for call in calls)


def _names_changed(program: Program, statement: ast.stmt) -> Set[str]:
    """The names of what a statement may change by its methods, `terms.append(...)`, or in its parts."""
    if isinstance(statement, (ast.Assign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return program.names_read(statement) if not isinstance(statement, ast.AnnAssign) else set()


def _mode_in(program: Program, own: Sequence[ast.stmt], frame: object) -> ast.AST | None:
    """What turns gradients off in a function: the innermost `with`, or all of it, as by a decorator."""
    for statement in reversed(own):
        entered = [item.context_expr for item in getattr(statement, "items", ())]
        if _mentions(entered, MODES):
            return statement
    function = frame.function if isinstance(frame, Frame) else None
    if function is not None:
        return function.node if _mentions([function.node], MODES) else None
    module = program.file_of(own[-1])
    return module if _mentions([module], SWITCHES) else None


def _mentions(nodes: Iterable[ast.AST], names: frozenset[str]) -> bool:
    found = (n for node in nodes for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute)))
    return any(last_word(n) in names for n in found)


def _trains_others(program: Program, fact: HistoryLost, trail: Sequence[tuple[ast.stmt, object]]) -> bool:
    """Whether what runs with gradients off steps parameters that were there before, or that nobody knows.

    A network that is evaluated is trained elsewhere; what is fitted to it, in the evaluation, is not. What is updated
    by hand elsewhere may be so there, too, where no gradient has been seen so far.
    """
    frames = list(dict.fromkeys(frame for _, frame in trail if isinstance(frame, Frame)))
    for index in range(len(frames) - 1, -1, -1):
        mode = _mode_in(program, [statement for statement, at in trail if at is frames[index]], frames[index])
        if mode is None:
            continue
        is_all = isinstance(mode, FUNCTIONS) and _mentions(mode.decorator_list, MODES)
        called = frames[index if is_all else index + 1 :]
        steps = [step for run in program.runs for step in run.machine.steps if step.what != "grad"]
        steps = [step for step in steps if called and any(at is called[0] for _, at in step.trail)]
        leaves = [leaf for step in steps for leaf in (*step.idle, *(leaf for leaf, _ in step.consumed))]
        if any(step.what == "update" for run in program.runs for step in run.machine.steps):
            leaves += (leaf for one in fact.lost for leaf in leaves_of(one.node))
        return any(step.guessed for step in steps) or any(_was_there(leaf, called[0]) for leaf in leaves)
    return True


def _was_there(leaf: Node, frame: Frame) -> bool:
    """Whether a parameter was made before a function was called, as those are that it asks a network for."""
    made = leaf.site.node
    return leaf.number <= frame.started or (isinstance(made, ast.Call) and called_name(made) in EVIDENCE)


def _steps_in(program: Program, node: ast.AST) -> bool:
    """Whether parameters are stepped while a statement or a function is running, or at all in a file."""
    steps = [step for run in program.runs for step in run.machine.steps if step.what != "grad"]
    return any(at is node or _runs(frame, node) for step in steps for at, frame in step.trail)


def _runs(frame: object, node: ast.AST) -> bool:
    """Whether a frame is that of a function, or stands in a file."""
    if not isinstance(frame, Frame):
        return False
    return isinstance(node, ast.Module) or (frame.function is not None and frame.function.node is node)
