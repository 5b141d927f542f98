"""Whether something that grows is also used where no path came by, so that nobody can say what is done with it there.

The budget ends the search for paths, and a loop over many items ends after a few: a flag that one of the others sets
may lead to a statement which differentiates what was kept.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from autodetach.machine.children import children_of, statements_in
from autodetach.machine.quiet import is_report
from autodetach.machine.run import Run
from autodetach.machine.spelling import arguments_of
from autodetach.node_types import FUNCTIONS

if TYPE_CHECKING:
    from autodetach.machine.class_families import Families

ELEMENTS = frozenset({"values", "items", "get", "pop", "popleft", "popitem"})
"""Methods of containers that give what is in them."""
WITHOUT_GRAPH = frozenset({"item", "tolist", "detach", "data", "shape", "size"})
OF_NUMBERS = frozenset({"len", "float", "str", "print", "type", "isinstance"})
ANY = ""
"""Stands for all classes."""


class Unseen:
    """What the statements that no run executed hand on: names by their function, attributes wherever they stand.

    Functions that none has called are left out, but for the attributes in those of imported files: other programs call
    these, on the same objects. What a method reads of `self` is an attribute of its class, and of those that are kin.
    """

    def __init__(self, trees: Sequence[ast.Module], runs: Sequence[Run]) -> None:
        self._trees = trees
        self._executed = [run.machine.executed for run in runs]
        self._names: dict[tuple[ast.AST, str], list[ast.stmt]] = {}
        self._attributes: dict[str, set[str]] = {}
        self._classes: dict[ast.AST, str] = {}
        self._is_built = False

    def uses(self, site: ast.AST, loop: ast.AST | None = None) -> bool:
        """Whether what a statement or call at `site` puts something into is handed on by a statement not executed.

        With a `loop`, only statements in it count for a variable: what stands behind it comes later.
        """
        from autodetach.machine.class_families import Families

        if not self._is_built:
            self._is_built = True
            families = Families(self._trees)
            for tree in self._trees:
                self._walk(tree, families)
        kept = _kept_by(site)
        home = self._home_of(kept) if kept is not None else None
        if isinstance(kept, ast.Attribute):
            own, users = self._class_of(kept, home), self._attributes.get(kept.attr, set())
            return bool(users) if own == ANY else not users.isdisjoint({own, ANY})
        if not isinstance(kept, ast.Name) or home is None:
            return False
        statements = self._names.get((home, kept.id), [])
        return bool(statements) and (loop is None or any(s in statements for s in ast.walk(loop)))

    def _class_of(self, attribute: ast.Attribute, home: ast.AST | None) -> str:
        """The family of classes of which something is an attribute, where it is one of `self`."""
        is_own = isinstance(attribute.value, ast.Name) and attribute.value.id == "self"
        return self._classes.get(home, ANY) if is_own and home is not None else ANY

    def _home_of(self, node: ast.expr) -> ast.AST | None:
        """The function or file in which an expression stands, told by its lines: those of several files differ."""
        for tree in self._trees:
            home: ast.AST = tree
            at = _around(node, tree.body)
            if at is None:
                continue
            while at is not None:
                home = at if isinstance(at, FUNCTIONS) else home
                at = _around(node, statements_in(at))
            return home
        return None

    def _walk(self, tree: ast.Module, families: Families) -> None:
        pending: list[tuple[ast.stmt, ast.AST]] = [(statement, tree) for statement in tree.body]
        while pending:
            node, home = pending.pop()
            if not self._is_executed(node):
                for given in _handed_on(node):
                    if isinstance(given, ast.Attribute):
                        self._attributes.setdefault(given.attr, set()).add(self._class_of(given, home))
                    else:
                        self._names.setdefault((home, given.id), []).append(node)
            elif isinstance(node, FUNCTIONS):
                if self._is_executed(node.body[0]) or tree is not self._trees[0]:
                    pending += ((child, node) for child in node.body)
            else:
                pending += ((child, home) for child in statements_in(node))
                if isinstance(node, ast.ClassDef):
                    methods = (method for method in node.body if isinstance(method, FUNCTIONS))
                    self._classes.update((method, families.of(node.name)) for method in methods)

    def _is_executed(self, statement: ast.stmt) -> bool:
        return any(statement in executed for executed in self._executed)


def _around(node: ast.expr, block: Sequence[ast.stmt]) -> ast.stmt | None:
    """The first statement of a block on whose lines an expression stands."""
    return next((s for s in block if s.lineno <= node.lineno <= (s.end_lineno or s.lineno)), None)


def _kept_by(site: ast.AST) -> ast.expr | None:
    """The expression of the container, or of the variable, that a call or an assignment changes."""
    if isinstance(site, ast.Call) and isinstance(site.func, ast.Attribute):
        found: ast.expr | None = site.func.value
    elif isinstance(site, ast.AugAssign):
        found = site.target
    elif isinstance(site, ast.expr):
        found = site
    else:
        found = None
    while isinstance(found, ast.Subscript):
        found = found.value
    return found


def _handed_on(statement: ast.stmt) -> Iterator[ast.Name | ast.Attribute]:
    """The names and attributes that are arguments somewhere in a statement, and the names whose elements are taken.

    Left out is what is only reported, and elements of which only the value is taken. Elements of attributes are given
    out by getters that nobody may call, `avg(index)` of a meter.
    """
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.stmt) and is_report(node):
            continue
        if _is_of_value(node):  # but not what is given to a call in it, which may do whatever it likes
            pending += (n.slice if isinstance(n, ast.Subscript) else n for n in children_of(node))
            continue
        if _takes_values(node):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _container_of(node.value) is not None:
            continue  # `kept.popleft()`: what it gives is dropped
        yield from (given for given in _given_in(node) if isinstance(given, (ast.Name, ast.Attribute)))
        pending += children_of(node)


def _is_of_value(node: ast.AST) -> bool:
    """`losses[-1].item()`, `float(losses[-1])`."""
    if isinstance(node, ast.Attribute):
        return node.attr in WITHOUT_GRAPH
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in OF_NUMBERS


def _takes_values(node: ast.AST) -> bool:
    """`[loss.item() for loss in losses]`: of each element only the value is taken."""
    if not isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)) or len(node.generators) > 1:
        return False
    (generator,) = node.generators
    if not isinstance(generator.target, ast.Name) or not isinstance(generator.iter, ast.Name):
        return False
    pending: list[ast.AST] = [node.elt, *generator.ifs]
    while pending:
        at = pending.pop()
        if isinstance(at, ast.Name) and at.id == generator.target.id:
            return False
        if not _is_of_value(at):
            pending += children_of(at)
    return True


def _container_of(node: ast.AST) -> ast.expr | None:
    """`kept` of `kept.popleft()`, `kept[0]` and `for one in kept`."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return node.value
    if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        return node.iter
    func = node.func if isinstance(node, ast.Call) else None
    return func.value if isinstance(func, ast.Attribute) and func.attr in ELEMENTS else None


def _given_in(node: ast.AST) -> Sequence[ast.expr]:
    """The arguments of a call, and the variable whose elements are asked for."""
    given = arguments_of(node) if isinstance(node, ast.Call) else []
    container = _container_of(node)
    return [*given, container] if isinstance(container, ast.Name) else given
