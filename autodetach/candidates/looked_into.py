"""All that looks into a list, or into the lists of a dict: what fills and empties them is told from what reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.emptying import is_empty
from autodetach.machine.children import targets_of, walk
from autodetach.machine.spelling import is_dotted, last_word, root_of, spelled
from autodetach.view.program import Program

RUN = frozenset({"eval", "exec"})
MEMBERS = frozenset({"getmembers", "getmembers_static"})
"""What `inspect` has to look through all that an object holds."""
SCOPE = frozenset({"globals", "locals", "vars"})


def lists_read(program: Program, reads: list[ast.Subscript]) -> dict[str, list[ast.Subscript]] | None:
    """The lists by their text, and the subscripts that read each; None if anything else may look into that of `reads`.

    All `reads` are of one list, `feats` or `self.feats["student"]`. The others are those beside it in its dict, under
    other constants: what reads them but by subscripts is none of them.
    """
    if len({spelled(read.value) for read in reads}) != 1:
        return None
    held = reads[0].value
    keyed = isinstance(held, ast.Subscript)
    root = held.value if isinstance(held, ast.Subscript) else held
    if not is_dotted(root) or (isinstance(held, ast.Subscript) and not isinstance(held.slice, ast.Constant)):
        return None
    if any(_looks_up(tree, in_object=isinstance(root, ast.Attribute)) for tree in program.analysis.trees):
        return None
    own = spelled(held)
    found: dict[str, list[ast.Subscript]] = {own: list(reads)}
    others: set[str] = set()
    for mention in _mentions(program, spelled(root).rpartition(".")[2]):
        held_here = _list_of(program, mention) if keyed else mention
        if _is_begun(program, mention, keyed=keyed) or (held_here is not None and _is_filled(program, held_here)):
            continue
        if not isinstance(held_here, ast.expr):
            return None
        around, said = program.parents.get(held_here), spelled(held_here)
        if any(around is read for read in reads):
            continue
        if not isinstance(held_here, ast.Subscript) or not keyed or said == own:
            return None
        if not isinstance(held_here.slice, ast.Constant) or spelled(held_here.value) != spelled(root):
            return None
        if isinstance(around, ast.Subscript) and around.value is held_here and isinstance(around.ctx, ast.Load):
            found.setdefault(said, []).append(around)
        else:
            others.add(said)
    return {text: subscripts for text, subscripts in found.items() if text not in others}


def is_only_gone_over(program: Program, table: ast.expr) -> bool:
    """Whether nothing else looks into the lists of a dict than what goes over it at this place, and what fills them."""
    if any(_looks_up(tree, in_object=isinstance(table, ast.Attribute)) for tree in program.analysis.trees):
        return False
    for mention in _mentions(program, spelled(table).rpartition(".")[2]):
        held = _list_of(program, mention)
        is_filled = held is not None and _is_filled(program, held)
        if mention is not table and not is_filled and not _is_begun(program, mention, keyed=True):
            return False
    return True


def _mentions(program: Program, name: str) -> Iterator[ast.AST]:
    """Whatever in all files says the last name of what holds a list."""
    for tree in program.analysis.trees:
        for node in walk(tree):
            said = (getattr(node, field, None) for field in ("id", "attr", "arg", "name", "asname", "value"))
            if any(isinstance(one, str) and one == name for one in said):
                yield node


def _looks_up(tree: ast.Module, *, in_object: bool) -> bool:
    """Whether a file asks for what is not written out: for names of a scope or module, or for what an object holds."""
    nodes = list(walk(tree))
    imports = [alias for n in nodes if isinstance(n, (ast.Import, ast.ImportFrom)) for alias in n.names]
    imported = {(alias.asname or alias.name).partition(".")[0] for alias in imports}
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr == "__dict__" and (_origin(node) in imported) is not in_object:
            return True
        listed = node.args[0] if isinstance(node, ast.Call) and last_word(node.func) in MEMBERS and node.args else None
        if listed is not None and (_origin(listed) in imported) is not in_object:
            return True
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        called, first = node.func.id, node.args[0] if node.args else None
        if called in RUN or (called in SCOPE and first is None and not in_object):
            return True
        if called == "vars" and first is not None and (_origin(first) in imported) is not in_object:
            return True
        is_written = len(node.args) < 2 or isinstance(node.args[1], ast.Constant)
        if called == "getattr" and in_object and not is_written and _origin(node.args[0]) not in imported:
            return True
    return False


def _origin(value: ast.expr) -> str:
    """`sys` of `sys.modules["__main__"].__dict__`."""
    return last_word(root_of(value))


def _list_of(program: Program, mention: ast.AST) -> ast.expr | None:
    """`feats["student"]` or `feats.setdefault("student", [])` of `feats`."""
    around = program.parents.get(mention)
    if isinstance(around, ast.Subscript) and around.value is mention:
        return around
    if isinstance(around, ast.Attribute) and around.attr == "setdefault":
        call = program.parents.get(around)
        if isinstance(call, ast.Call) and call.func is around and len(call.args) == 2 and is_empty(call.args[1]):
            return call
    return None


def _is_begun(program: Program, mention: ast.AST, *, keyed: bool) -> bool:
    """Whether a list, or a dict with its lists, is mentioned to begin or to make it empty."""
    around = program.parents.get(mention)
    if not isinstance(mention, (ast.Name, ast.Attribute)):
        return False
    if isinstance(mention.ctx, ast.Store):
        # `self.maps = self.history = []` gives the same list another name, under which it may be looked into.
        is_bound = isinstance(around, (ast.Assign, ast.AnnAssign)) and targets_of(around) == [mention]
        return is_bound and _holds_nothing(getattr(around, "value", None), keyed=keyed)
    return isinstance(around, ast.Attribute) and around.attr == "clear" and _is_called(program, around)


def _holds_nothing(value: ast.expr | None, *, keyed: bool) -> bool:
    """Whether something is empty, or a dict of which all elements are lists of their own that are empty."""
    if keyed and isinstance(value, ast.DictComp):
        return is_empty(value.value)
    if keyed and isinstance(value, ast.Dict):
        return all(is_empty(each) for each in value.values)
    if keyed and isinstance(value, ast.Call) and value.args and spelled(value.args[0]) not in ("list", "lambda: []"):
        return False  # what a `defaultdict` makes may be the same list for all keys
    return is_empty(value)


def _is_filled(program: Program, held: ast.AST) -> bool:
    """Whether a list is asked for to append to it, or to empty it, or an empty one takes its place."""
    around = program.parents.get(held)
    if isinstance(held, ast.Subscript) and isinstance(held.ctx, ast.Store):
        return isinstance(around, (ast.Assign, ast.AnnAssign)) and held in targets_of(around) and is_empty(around.value)
    if not isinstance(held, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
        return False
    return isinstance(around, ast.Attribute) and around.attr in ("append", "clear") and _is_called(program, around)


def _is_called(program: Program, method: ast.Attribute) -> bool:
    """Whether a method is called, and nothing asks for what that returns, but a lambda that is a hook."""
    call = program.parents.get(method)
    if not isinstance(call, ast.Call) or call.func is not method:
        return False
    return isinstance(program.parents.get(call), (ast.Expr, ast.Lambda))
