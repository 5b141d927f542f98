"""An object that gives layers hooks when it is made has them removed when the function that made it is done with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autodetach.candidates.hooks_removed import KEPT_LATER, REGISTERING
from autodetach.machine.children import walk
from autodetach.machine.growth import Growth
from autodetach.machine.spelling import called_name, names_called, spelled
from autodetach.node_types import DEFINITIONS, LOOPS
from autodetach.suspect import Candidate
from autodetach.view.free_names import free_name
from autodetach.view.program import Program

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

KEEPING = ("append", "extend")
OPEN = frozenset({"object", "Module", "nn.Module", "torch.nn.Module"})
"""Bases whose objects may have any attribute more, and have none that is named as the handles would be."""


def hooks_of_objects_removed(program: Program, growth: Growth) -> Iterator[Candidate]:
    """`for handle in extractor.handles: handle.remove()`, or the method that does so, behind what uses the object.

    The layers live on, and so do their hooks, which fill what the object has kept. Every function that makes such an
    object is to be done with it: one that others get to hold is told without a repair.
    """
    from autodetach.codemods.insert_statement import InsertStatement

    if growth.stored is None or growth.activation.node is None:
        return
    for cls in (n for n in program.tree.body if isinstance(n, ast.ClassDef)):
        makers = [n for n in walk(program.tree) if isinstance(n, ast.Call) and spelled(n.func) == cls.name]
        handles = _handles(cls) if makers else None
        keeping: tuple[Codemod, ...] = ()
        if makers and handles is None:
            handles, keeping = _kept_from_now_on(program, cls)
        if handles is None:
            continue
        held = [_held(program, call) for call in makers]
        one = free_name(program.tree, "handle", "hook_handle")
        method = _removing(cls, handles)
        codemods: list[Codemod] = [*keeping]
        for own in held:
            if own is None or one is None:
                return
            name, last = own
            new = f"{name}.{method}()" if method else f"for {one} in {name}.{handles}:\n    {one}.remove()"
            codemods.append(InsertStatement(last, new))
        shown = ", ".join(dict.fromkeys(f"`{own[0]}`" for own in held if own is not None))
        yield Candidate(f"remove the hooks of {shown} when the layers have run", tuple(codemods), KEPT_LATER)


def _handles(cls: ast.ClassDef) -> str | None:
    """The attribute that keeps the handles of all hooks which the constructor of a class registers."""
    begin = _constructor(cls)
    if begin is None:
        return None
    this, kept, calls = begin.args.args[0].arg, set[str](), 0
    for node in walk(begin):
        if isinstance(node, ast.Call) and called_name(node) in REGISTERING:
            calls += 1
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in KEEPING:
            calls -= _registers(node.args)
            kept.update({spelled(node.func.value)} if _registers(node.args) else ())
        elif isinstance(node, ast.Assign) and isinstance(node.value, (ast.List, ast.ListComp)):
            calls -= _registers([node.value])
            kept.update(map(spelled, node.targets) if _registers([node.value]) else ())
    owner, dot, name = (kept.pop() if len(kept) == 1 else "").rpartition(".")
    return name if calls == 0 and dot and owner == this and not name.startswith("__") else None


def _kept_from_now_on(program: Program, cls: ast.ClassDef) -> tuple[str | None, tuple[Codemod, ...]]:
    """The attribute that is to keep the handles of a constructor which drops them, and what has it do so."""
    from autodetach.codemods.insert_statement import InsertStatement
    from autodetach.codemods.replace_expression import ReplaceExpression

    begin = _constructor(cls)
    calls = [n for n in walk(begin) if isinstance(n, ast.Call) and called_name(n) in REGISTERING] if begin else []
    taken = _words(program.tree) | _named(program.tree)
    name = next((n for n in ("handles", "hook_handles") if n not in taken), None)
    first = next((s for s in begin.body if any(n in calls for n in walk(s))), None) if begin else None
    are_dropped = all(isinstance(program.parents.get(c), ast.Expr) and program.scope(c) is begin for c in calls)
    if begin is None or first is None or name is None or not are_dropped or not _takes_attributes(program, cls):
        return None, ()
    kept = f"{begin.args.args[0].arg}.{name}"
    adding = (ReplaceExpression(call, f"{kept}.append({{}})") for call in calls)
    return name, (InsertStatement(first, f"{kept} = []", "before"), *adding)


def _constructor(cls: ast.ClassDef) -> ast.FunctionDef | None:
    found = (n for n in cls.body if isinstance(n, ast.FunctionDef) and n.name == "__init__" and n.args.args)
    return next(found, None)


def _takes_attributes(program: Program, cls: ast.ClassDef) -> bool:
    """Whether any attribute may be set on the objects of a class: not with `__slots__`, or where others decide."""
    in_view = {n.name for n in program.tree.body if isinstance(n, ast.ClassDef)}
    if cls.keywords or cls.decorator_list or {"__slots__", "__setattr__"} & _named(program.tree):
        return False
    return all(spelled(base) in in_view | OPEN for base in cls.bases)


def _named(tree: ast.AST) -> set[str]:
    """The names of functions and variables, and what is asked for by a text: `getattr(self, "handles")`."""
    names = {n.name for n in walk(tree) if isinstance(n, DEFINITIONS)}
    names |= {n.id for n in walk(tree) if isinstance(n, ast.Name)}
    return names | {n.value for n in walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def _words(tree: ast.AST) -> set[str]:
    return {n.attr for n in walk(tree) if isinstance(n, ast.Attribute)}


def _registers(nodes: list[ast.expr]) -> int:
    """How many of some values, or of the elements of lists, are the handles of hooks."""
    parts = [part for node in nodes for part in _elements(node)]
    return sum(isinstance(part, ast.Call) and called_name(part) in REGISTERING for part in parts)


def _elements(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return [node.elt]
    return node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]


def _removing(cls: ast.ClassDef, handles: str) -> str | None:
    """The method by which an object removes its hooks, if it has one that does nothing else."""
    for method in (n for n in cls.body if isinstance(n, ast.FunctionDef) and _is_called_without(n.args)):
        if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in walk(method)):
            continue
        calls = names_called(method)
        if handles in _words(method) and {"remove"} <= calls <= {"remove", "clear"} and not method.decorator_list:
            return None if method.name.startswith("__") else method.name
    return None


def _is_called_without(given: ast.arguments) -> bool:
    """Whether a method may be called with nothing but its object."""
    return len([*given.posonlyargs, *given.args]) == 1 and None not in given.kw_defaults


def _held(program: Program, call: ast.Call) -> tuple[str, ast.stmt] | None:
    """The name under which a block has an object to itself, and the last statement of the block that mentions it."""
    made = program.statement(call)
    if not isinstance(made, ast.Assign) or made.value is not call or len(made.targets) != 1:
        return None
    name = made.targets[0]
    block = program.block(made)
    if not isinstance(name, ast.Name) or made not in block:
        return None
    scope = program.scope(made)
    mentions = [n for n in walk(program.tree) if isinstance(n, ast.Name) and n.id == name.id and n is not name]
    own = [n for n in mentions if program.scope(n) is scope]
    if any(not isinstance(n.ctx, ast.Load) or not _is_used(program, n) for n in own):
        return None
    if any(isinstance(n.ctx, ast.Load) and scope in program.enclosing(n) for n in mentions if n not in own):
        return None
    around = [next((s for s in block if s in (n, *program.enclosing(n))), None) for n in own]
    used = [s for s in around if s is not None]
    last = max(used, key=block.index, default=None)
    if last is None or len(used) < len(around) or block.index(last) < block.index(made):
        return None
    between = block[block.index(made) : block.index(last) + 1]
    return None if any(_leaves(program, s) for s in between) else (name.id, last)


def _leaves(program: Program, statement: ast.stmt) -> bool:
    """Whether control may leave the block of a statement there, or others run meanwhile."""
    nodes = set(walk(statement))
    for node in nodes:
        if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)):
            return True
        if isinstance(node, (ast.Break, ast.Continue)):
            loop = next((at for at in program.enclosing(node) if isinstance(at, LOOPS)), None)
            if loop is None or loop not in nodes or any(node in walk(s) for s in loop.orelse):
                return True
    return False


def _is_used(program: Program, name: ast.Name) -> bool:
    """Whether a name is only asked for an attribute, or called: nobody else gets to hold the object."""
    around = program.parents.get(name)
    if isinstance(around, ast.Attribute):
        return isinstance(around.ctx, ast.Load)
    return isinstance(around, ast.Call) and around.func is name
