"""An object takes what computes a value instead of the value, and computes it where it reads it: `Loss(prior())`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.kept_in_record import (
    attribute_of,
    is_made_once,
    is_read_as_a_whole,
    is_set,
    place_of,
    reads_of,
)
from autodetach.candidates.mentioned import mentions
from autodetach.machine.children import targets_of, walk
from autodetach.machine.graph import Node, calls_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word, spelled
from autodetach.suspect import Candidate
from autodetach.view.changed_between import doubt_of_changes
from autodetach.view.program import Program, line, text, without_retain
from autodetach.view.respelled import respelled
from autodetach.view.side_effects import draws_random_numbers, keeps_state, makes_leaves

OF_ALL = frozenset(
    """apply buffers children float half load_state_dict modules named_buffers named_children named_modules
    named_parameters parameters requires_grad_ share_memory state_dict zero_grad""".split()
)
"""Methods by which a module that takes another one does something to that, too."""
BASES = frozenset({"Module", "object"})


def handed_over_uncalled(program: Program, run: Run, outer: list[Node], doubt: str | None) -> Iterator[Candidate]:
    """`Loss(prior())`, and `self.prior` in its methods: it is given `prior`, and they call it, `self.prior()`."""
    from autodetach.codemods.keep_part import KeepPart

    call = _making(program, outer)
    statement = program.statement(call) if call is not None else None
    held = _held(program, call) if call is not None else None
    if call is None or statement is None or held is None or makes_leaves(program, run, [statement], outer):
        return
    if draws_random_numbers(run, [statement]) or keeps_state(program, run, [statement]):
        return
    cls, name = held
    reads = reads_of(run, set(outer), name)
    if not reads or reads != {m for m in mentions(program, cls, name) if isinstance(m.ctx, ast.Load)}:
        return
    if any(getattr(program.scope(read), "name", "") == "__init__" for read in reads):
        return
    doubt = doubt or doubt_of_changes(program, run, [statement], outer)
    keep, flags = KeepPart(call, call.func, tuple(sorted(reads, key=line))), without_retain(outer)
    words = tuple(pair for read in reads for pair in respelled(program, read, f"{spelled(read)}()"))
    shown = ", ".join(dict.fromkeys(f"`{text(read)}`" for read in sorted(reads, key=line)))
    message = f"hand over `{text(call.func)}`, and call it where {shown} is read"
    if flags:
        yield Candidate(f"{message}, and retain no graph", (keep, *flags), doubt, respelled=words)
    yield Candidate(message, (keep,), doubt, respelled=words)


def _has_layers(cls: ast.ClassDef) -> bool:
    """Whether a module may have parameters of its own, so that others ask it for them, by whatever name."""
    if not any(last_word(base) == "Module" for base in cls.bases):
        return False
    made = [n for s in cls.body if getattr(s, "name", "") == "__init__" for n in ast.walk(s)]
    called = [last_word(n.func) for n in made if isinstance(n, ast.Call)]
    return not all(name in ("super", "__init__", "float", "int") or name.endswith("Loss") for name in called)


def _making(program: Program, outer: list[Node]) -> ast.Call | None:
    """The one call without arguments that makes all the nodes, which something else is given."""
    found: dict[ast.Call, int] = {}
    for node in outer:
        for site in calls_of(node.chain):
            if isinstance(site.node, ast.Call) and not site.node.args and not site.node.keywords:
                found[site.node] = found.get(site.node, 0) + 1
    made = [c for c, times in found.items() if times == len(outer) and _taker(program, c) is not None]
    classes = {n.name for tree in program.analysis.trees for n in walk(tree) if isinstance(n, ast.ClassDef)}
    is_one = len(made) == 1 and isinstance(made[0].func, ast.Name) and made[0].func.id not in classes
    return made[0] if is_one else None


def _taker(program: Program, argument: ast.expr) -> tuple[ast.Call, int | str] | None:
    """The call that is given an argument, and its place or name there."""
    around = program.parents.get(argument)
    call = program.parents.get(around) if isinstance(around, ast.keyword) else around
    if not isinstance(call, ast.Call) or call.func is argument:
        return None
    at = around.arg if isinstance(around, ast.keyword) else place_of(call, argument)
    return (call, at) if at is not None else None


def _held(program: Program, argument: ast.Call) -> tuple[ast.ClassDef, str] | None:
    """The class of the object that is made of an argument, and the attribute in which it keeps that as it is."""
    call, at = _taker(program, argument) or (None, 0)
    statement = program.statement(argument)
    if call is None or statement is None or not isinstance(call.func, ast.Name):
        return None
    tree = program.file_of(statement)
    found = [s for s in walk(tree) if isinstance(s, ast.ClassDef) and s.name == call.func.id]
    if len(found) != 1 or not {last_word(base) for base in found[0].bases} <= BASES:
        return None
    if _has_layers(found[0]) or not is_made_once(program, found[0]) or is_read_as_a_whole(program):
        return None
    objects = {last_word(t) for t in targets_of(statement)} | {call.func.id, "self"}
    nodes = (n for t in program.analysis.trees for n in ast.walk(t) if isinstance(n, ast.Attribute))
    if any(n.attr in OF_ALL and last_word(n.value) in objects for n in nodes):
        return None
    name = attribute_of(program, found[0], at)
    return (found[0], name) if name is not None and not is_set(program, found[0], name) else None
