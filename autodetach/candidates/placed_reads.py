"""Lists of which a pass reads what earlier ones have put there: emptied, they have others there, or nothing.

By places that a loop counts, `losses[step - 3:step + 1]`, or before anything new is put in, `states[-1]`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from autodetach.machine.children import walk
from autodetach.machine.interpreter import Machine
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Sequence
from autodetach.view.crossings import Crossed
from autodetach.view.program import Program

PUTTING = frozenset({"append", "appendleft", "extend", "insert"})
TAKING_AN_END = frozenset({"pop", "popleft"})


def is_read_by_place(program: Program, lists: Collection[str], loop: ast.AST | None) -> bool:
    """Whether any of some lists is read by what counts the passes of a loop, or what a pass adds to."""
    counts = set(_counts(loop)) if loop is not None else set[str]()
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and spelled(node.value) in lists
        and any(isinstance(n, ast.Name) and n.id in counts for n in ast.walk(node.slice))
        for node in walk(program.tree)
    )


def is_read_before_filled(program: Program, lists: Collection[str]) -> bool:
    """Whether an element of any of some lists is read in front of what is appended there: `f(states[-1])`.

    Where a test asks whether there is one, as in `states[-1] if states else start`, it may be emptied.
    """
    filled: dict[tuple[str, ast.AST], tuple[int, int]] = {}
    for node in walk(program.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PUTTING:
            key, end = (spelled(node.func.value), program.scope(node)), _end(node)
            filled[key] = min(end, filled.get(key, end))
    expressions = (n for n in walk(program.tree) if isinstance(n, ast.expr))
    reads = ((n, name) for n in expressions if (name := _taken_of(n)) in lists)
    return any(
        _end(node) < filled.get((name, program.scope(node)), (0, 0)) and not _is_asked_for(program, node, name)
        for node, name in reads
    )


def is_shortened(program: Program, lists: Collection[str]) -> bool:
    """Whether the program drops old elements of any of some lists: it keeps the latest ones, a window, for later."""
    names = {_last(name) for name in lists}
    return any(_last(shown) in names for node in walk(program.tree) for shown in _shortened_by(node))


def is_read_early(machine: Machine, lists: Collection[Sequence], crossed: Collection[Crossed], loop: int) -> bool:
    """Whether a pass of a loop, by its number, reads an element before it has put one into any of some lists itself.

    As a run shows it: whoever reads it, by whatever it is called.
    """
    filled = [e for each in lists for e in machine.stored_in.get(each, ())]
    reads = [(reader.number, reader.loops) for reader, _, _ in crossed]
    reads += [(tail.clock, tail.loops) for tail in machine.tails if any(tail.container is each for each in lists)]
    for clock, loops in reads:
        begun = next((p.started for p in loops if p.activation.number == loop), None)
        if begun is not None and not any(begun < event.clock < clock for event in filled):
            return True
    return False


def _shortened_by(node: ast.AST) -> Iterator[str]:
    """What a node may take the first elements from: `states.pop(0)`, `del states[0]`, `states = states[-3:]`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TAKING_AN_END:
        yield spelled(node.func.value)
    elif isinstance(node, ast.Delete):
        places = (t for t in node.targets if isinstance(t, ast.Subscript) and not _is_whole(t.slice))
        yield from (spelled(t.value) for t in places)
    elif isinstance(node, ast.Assign):
        sliced = [n for n in ast.walk(node.value) if isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Slice)]
        cut = {spelled(n.value) for n in sliced if not _is_whole(n.slice)}
        targets = (t.value if isinstance(t, ast.Subscript) else t for t in node.targets)
        yield from (name for t in targets if (name := spelled(t)) in cut)


def _is_whole(index: ast.expr) -> bool:
    return isinstance(index, ast.Slice) and index.lower is None and index.upper is None


def _last(text: str) -> str:
    """`states` of `self.memory.states`."""
    return text.rpartition(".")[2]


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or 0


def _taken_of(node: ast.expr) -> str:
    """The list of which a node reads one element."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and not isinstance(node.slice, ast.Slice):
        return spelled(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TAKING_AN_END:
        return spelled(node.func.value)
    return ""


def _is_asked_for(program: Program, node: ast.AST, name: str) -> bool:
    """Whether a test around a node speaks of a list."""
    tests = [at.test for at in program.enclosing(node) if isinstance(at, (ast.If, ast.IfExp, ast.While))]
    return any(spelled(n) == name for test in tests for n in ast.walk(test) if isinstance(n, (ast.Name, ast.Attribute)))


def _counts(loop: ast.AST) -> list[str]:
    """The names of a loop, and of those that its passes add to, that no loop inside of it binds anew."""
    added = [n.target for n in walk(loop) if isinstance(n, ast.AugAssign)]
    targets = [loop.target, *added] if isinstance(loop, (ast.For, ast.AsyncFor)) else added
    inner = [n.target for n in walk(loop) if isinstance(n, (ast.For, ast.comprehension)) and n is not loop]
    bound = {n.id for target in inner for n in ast.walk(target) if isinstance(n, ast.Name)}
    return [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and n.id not in bound]
