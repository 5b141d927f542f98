"""What a constructor computes of trained parameters and keeps becomes a property: computed anew whenever it is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.built_with_locals import Built, built_by
from autodetach.candidates.called_inside import is_of_another_class
from autodetach.machine.graph import Node
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word
from autodetach.suspect import Candidate
from autodetach.view.program import Program, calls_of, listed, targets_of, without_retain
from autodetach.view.side_effects import draws_random_numbers, keeps_state

BY_NAME = frozenset("setattr delattr register_buffer register_parameter".split())
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


def computed_as_property(program: Program, run: Run, outer: list[Node], doubt: str | None) -> Iterator[Candidate]:
    """Make a property of what the constructor of a class makes of the nodes and sets.

    None where that draws random numbers or changes a state, which was meant to happen once.
    """
    from autodetach.codemods.make_property import MakeProperty
    from autodetach.codemods.replace_expression import ReplaceExpression

    home = _constructor(program, outer)
    cls = program.parents.get(home) if home is not None else None
    built = built_by(program, outer, home) if home is not None else None
    if home is None or built is None or not isinstance(cls, ast.ClassDef):
        return
    groups = _groups(home, built)
    names = [target.attr for *_, last in groups if isinstance(target := targets_of(last)[0], ast.Attribute)]
    if not groups or not all(_may_be_property(program, cls, name) for name in names):
        return
    if not all(is_free(program, cls, name) for name in built.lacking):
        return
    if draws_random_numbers(run, [*built.copied, *built.moved]) or keeps_state(program, run, [*built.moved]):
        return
    if built.is_trained:
        doubt = doubt or TRAINED
    if program.is_imported(home):
        doubt = doubt or SET_ELSEWHERE
    if any(len({program.scope(n) for n in mentions(program, cls, name)} - {home}) > 1 for name in names):
        doubt = doubt or EVERYWHERE
    changes = tuple(ReplaceExpression(name, kept) for name, kept in built.given)
    given = (built.lacking, *[()] * len(groups))
    codemods = tuple(
        MakeProperty(home, tuple(group), built.copied, changes, kept)
        for group, kept in zip(groups, given, strict=False)
    )
    shown = listed(targets_of(last)[0] for *_, last in groups)
    what = "properties" if len(groups) > 1 else "a property"
    yield Candidate(f"make {shown} {what}", (*codemods, *without_retain(outer)), doubt)


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


def is_free(program: Program, cls: ast.ClassDef, name: str) -> bool:
    """Whether nothing says that objects of the class have an attribute of this name already."""
    known = {c.name for tree in program.analysis.trees for c in ast.walk(tree) if isinstance(c, ast.ClassDef)}
    bases = {last_word(base) for base in cls.bases}
    if name in OWN_OF_MODULES or not bases <= {*known, "Module", "object"}:
        return False
    return not any(mentions(program, cls, name)) and not is_named_otherwise(program, cls, name)


def mentions(program: Program, cls: ast.ClassDef, name: str) -> Iterator[ast.Attribute]:
    """Where an attribute of this name is mentioned, which may be that of the class."""
    own = program.file_of(cls)
    for tree in program.analysis.trees:
        named = (n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr == name)
        yield from (n for n in named if tree is not own or not is_of_another_class(program, n, cls.body[0]))


def is_named_otherwise(program: Program, cls: ast.ClassDef, name: str) -> bool:
    """Whether a class has a method or variable of this name, or something is set by it as a string."""
    for tree in program.analysis.trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and last_word(node.func) in BY_NAME:
                if any(isinstance(a, ast.Constant) and a.value == name for a in node.args):
                    return True
            elif isinstance(node, ast.FunctionDef) and node.name == name:
                return True
    return any(name in program.names_bound(s) for s in cls.body if not isinstance(s, ast.FunctionDef))


def is_changed(program: Program, mention: ast.Attribute) -> bool:
    """`self.x[0] = 1`, `self.x.add_(1)`, `self.x.data`, `self.x.append(1)` for itself."""
    around = program.parents.get(mention)
    if not isinstance(around, (ast.Attribute, ast.Subscript)) or around.value is not mention:
        return False
    if isinstance(around, ast.Subscript) or not isinstance(around.ctx, ast.Load):
        return not isinstance(around.ctx, ast.Load)
    is_alone = isinstance(program.parents.get(program.parents[around]), ast.Expr)
    return is_alone or around.attr.endswith("_") or around.attr in ("data", "grad")
