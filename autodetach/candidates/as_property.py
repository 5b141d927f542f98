"""What a constructor computes of trained parameters and keeps becomes a property: computed anew whenever it is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.alike_objects import make_what_changes
from autodetach.candidates.built_with_locals import Built, built_by
from autodetach.candidates.mentioned import is_changed, is_named_otherwise, mentions, methods_called
from autodetach.machine.children import targets_of, walk
from autodetach.machine.graph import Node, calls_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word
from autodetach.suspect import Candidate
from autodetach.view.changed_between import doubt_of_changes
from autodetach.view.program import Program, listed, without_retain
from autodetach.view.side_effects import draws_random_numbers, keeps_state

OWN_OF_MODULES = frozenset(
    """
    apply buffers call_super_init children compile cpu cuda double dump_patches eval extra_repr float forward half
    ipu modules mtia parameters share_memory state_dict to to_empty train training type xpu zero_grad device dtype
    """.split()
)
"""What a parameter must not be kept by in a class with bases: it is there already."""
EVERYWHERE = "wherever it is read, it is then computed anew, though one of these places may have meant its first value"
SET_ELSEWHERE = "other programs may set the attribute of this class, which a property does not let them"
TRAINED = "what was computed of the first value of a parameter is then computed of that which it has by then"


def computed_as_property(
    program: Program, run: Run, outer: list[Node], doubt: str | None, home: ast.FunctionDef | None = None
) -> Iterator[Candidate]:
    """Make a property of what a constructor makes of the nodes and sets: the innermost one, or `home`.

    None where that draws random numbers or changes a state, which was meant to happen once.
    """
    from autodetach.codemods.make_property import MakeProperty
    from autodetach.codemods.replace_expression import ReplaceExpression

    home = home or _constructor(program, outer)
    cls = program.parents.get(home) if home is not None else None
    built = built_by(program, outer, home) if home is not None else None
    if home is None or built is None or not isinstance(cls, ast.ClassDef):
        return
    groups = _groups(home, built)
    names = [target.attr for *_, last in groups if isinstance(target := targets_of(last)[0], ast.Attribute)]
    if not groups or not all(_may_be_property(program, cls, name) for name in names):
        return
    kept = {name: _kept_as(program, cls, name, names) for name in built.lacking}
    if not all(kept.values()):
        return
    whole = [*built.copied, *built.moved]
    if make_what_changes(program, whole):
        return
    if draws_random_numbers(run, whole) or keeps_state(program, run, [*built.moved]):
        return
    doubt = doubt or doubt_of_changes(program, run, whole, outer)
    if built.is_trained:
        doubt = doubt or TRAINED
    if program.is_imported(home):
        doubt = doubt or SET_ELSEWHERE
    if any(len({program.scope(n) for n in mentions(program, cls, name)} - {home}) > 1 for name in names):
        doubt = doubt or EVERYWHERE
    this = home.args.args[0].arg
    read = [(name, f"{this}.{kept[name.id]}" if name.id in kept else attribute) for name, attribute in built.given]
    changes = tuple(ReplaceExpression(name, attribute) for name, attribute in read)
    words = tuple(
        (attribute + was[len(name.id) :], was)
        for name, attribute in read
        for statement in whole
        for was in methods_called(statement, name)
    )
    given = (tuple((attribute, name) for name, attribute in kept.items()), *[()] * len(groups))
    codemods = tuple(
        MakeProperty(home, tuple(group), built.copied, changes, keeping)
        for group, keeping in zip(groups, given, strict=False)
    )
    shown = listed(targets_of(last)[0] for *_, last in groups)
    what = "properties" if len(groups) > 1 else "a property"
    yield Candidate(f"make {shown} {what}", (*codemods, *without_retain(outer)), doubt, respelled=words)


def _constructor(program: Program, outer: list[Node]) -> ast.FunctionDef | None:
    """The innermost constructor in which, or in what it calls, all of the nodes were made."""
    found: list[list[ast.FunctionDef]] = []
    for node in outer:
        scopes = [program.scope(place) for place in (node.site.node, *(site.node for site in calls_of(node.chain)))]
        found.append([s for s in scopes if isinstance(s, ast.FunctionDef) and s.name == "__init__" and s.args.args])
    first, *others = found or [[]]
    return next((home for home in first if all(home in other for other in others)), None)


def _groups(home: ast.FunctionDef, built: Built) -> list[list[ast.stmt]]:
    """The statements for each property: one that sets the attribute, or the only such with those that prepare it."""
    this = home.args.args[0].arg
    setting = [s for s in built.moved if _sets_attribute(s, this)]
    whole = [s for s in home.body if s in built.moved or s in built.copied]
    if len(setting) == len(whole):
        return [[s] for s in setting]
    return [whole] if len(setting) == 1 and setting[0] is whole[-1] else []


def _sets_attribute(statement: ast.stmt, this: str) -> bool:
    targets = targets_of(statement)
    return (
        isinstance(statement, (ast.Assign, ast.AnnAssign))
        and len(targets) == 1
        and isinstance(targets[0], ast.Attribute)
        and isinstance(targets[0].value, ast.Name)
        and targets[0].value.id == this
    )


def _may_be_property(program: Program, cls: ast.ClassDef, name: str) -> bool:
    """Whether an attribute is only read but for the one place that sets it, and its value is not changed in place."""
    found = list(mentions(program, cls, name))
    if sum(not isinstance(n.ctx, ast.Load) for n in found) != 1 or is_named_otherwise(program, cls, name):
        return False
    return not any(is_changed(program, n) for n in found)


def _kept_as(program: Program, cls: ast.ClassDef, name: str, properties: list[str]) -> str:
    """The attribute that keeps a parameter: of its name, or `_name` where the property has that; "" where none can."""
    attribute = f"_{name}" if name in properties and name not in OWN_OF_MODULES else name
    return attribute if is_free(program, cls, attribute) else ""


def is_free(program: Program, cls: ast.ClassDef, name: str) -> bool:
    """Whether nothing says that objects of the class have an attribute of this name already."""
    known = {c.name for tree in program.analysis.trees for c in walk(tree) if isinstance(c, ast.ClassDef)}
    bases = {last_word(base) for base in cls.bases}
    if name in OWN_OF_MODULES or not bases <= {*known, "Module", "object"}:
        return False
    return not any(mentions(program, cls, name)) and not is_named_otherwise(program, cls, name)
