"""A program under analysis, as rules look at it: its tree, its runs, and what is where."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeGuard

from autodetach.kept import kept
from autodetach.machine.activations import Pass, diverge, pass_of
from autodetach.machine.children import statements_in, walk
from autodetach.machine.events import SecondWalk
from autodetach.machine.graph import Chain, Differentiation, Node, Site, calls_of, trail_of
from autodetach.machine.growing import growths
from autodetach.machine.growth import Growth
from autodetach.machine.run import Analysis, Run
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Sequence
from autodetach.node_types import COMPREHENSIONS, DEFINITIONS, SCOPES

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

Block = list[ast.stmt]
BLOCKS = ("body", "orelse", "finalbody")


class Program:
    """An analysed module. `prefer` are the settings that choose among right repairs."""

    def __init__(self, analysis: Analysis, prefer: frozenset[str] = frozenset({"item", "retain"})) -> None:
        self.analysis = analysis
        self.tree = analysis.tree
        self.prefer = prefer
        self.found: dict[Hashable, Any] = {}  # see `once`

    @property
    def runs(self) -> list[Run]:
        return self.analysis.distinct

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        found: dict[ast.AST, ast.AST] = {}
        for tree in self.analysis.trees:
            for statement in tree.body:
                found[statement] = tree
                found.update(parents_in(statement))
        return found

    def file_of(self, node: ast.AST) -> ast.Module:
        """The tree of the file in which a node stands."""
        *_, last = (node, *self.enclosing(node))
        return last if isinstance(last, ast.Module) else self.tree

    def is_imported(self, node: ast.AST) -> bool:
        """Whether a node stands in another file than the analysed one, which other programs may import, too."""
        return self.file_of(node) is not self.tree

    def home(self, node: ast.AST) -> tuple[str, int]:
        """The definition around a node for a key: its qualified name, and how many of that name come before it."""
        at: ast.AST = self.scope(node)
        while isinstance(at, ast.Lambda):
            at = self.scope(at)
        return self._homes.get(at, ("", 0))

    @cached_property
    def _homes(self) -> dict[ast.AST, tuple[str, int]]:
        """The files, functions and classes: those of a name may be several, as in cells of a notebook run again."""
        found: dict[ast.AST, tuple[str, int]] = {}
        counts: Counter[str] = Counter()
        for tree in self.analysis.trees:
            found[tree] = "", counts[""]
            counts[""] += 1
            for statement in tree.body:
                own = [(statement.name, statement)] if isinstance(statement, DEFINITIONS) else []
                for name, node in (*own, *_definitions_in(statement)):
                    found[node] = name, counts[name]
                    counts[name] += 1
        return found

    def spot(self, node: ast.AST) -> tuple[str, int, str, int]:
        """A node for a key: its `stable` text, how many of the same stand before it in its function or class, and that.

        Two functions may have the same name, and the same text.
        """
        scope = self.scope(node)
        alike = self._spots.get((scope, type(node)))
        if alike is None:
            alike = self._spots[scope, type(node)] = {}
            for other in walk(scope):
                if type(other) is type(node):
                    alike.setdefault(stable(other), []).append(_start(other))
            for places in alike.values():
                places.sort()
        return stable(node), bisect_left(alike.get(stable(node), []), _start(node)), *self.home(node)

    @cached_property
    def _spots(self) -> dict[tuple[ast.AST, type[ast.AST]], dict[str, list[tuple[int, int]]]]:
        """The nodes of a kind in a function or class: lines and columns by text, in order."""
        return {}

    @cached_property
    def growths(self) -> list[Growth]:
        return growths(self.analysis)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement around a node."""
        at: ast.AST | None = node
        while at is not None and not isinstance(at, ast.stmt):
            at = self.parents.get(at)
        return at

    def is_reached(self, node: ast.AST) -> bool:
        """Whether any path has run the statement around a node."""
        statement = self.statement(node)
        return any(statement in run.machine.executed for run in self.runs)

    def block(self, statement: ast.stmt) -> Block:
        """The list of statements in which a statement stands."""
        owner = self.parents.get(statement)
        for name in BLOCKS:
            body = getattr(owner, name, None)
            if isinstance(body, list) and statement in body:
                return body
        for case in [*getattr(owner, "handlers", []), *getattr(owner, "cases", [])]:
            if statement in case.body:
                body = case.body
                assert isinstance(body, list)
                return body
        return [statement]

    def enclosing(self, node: ast.AST) -> Iterator[ast.AST]:
        at = self.parents.get(node)
        while at is not None:
            yield at
            at = self.parents.get(at)

    def place(self, node: ast.AST | Site) -> str:
        """ "line 12", with the file where it is not the analysed one, or the cell of a notebook."""
        project = self.analysis.project
        return f"line {line(node)}" if project is None else project.line_name(line(node))

    def cell(self, node: ast.AST) -> int | None:
        """The cell of a notebook in which a node stands."""
        project = self.analysis.project
        return None if project is None else project.cell_of(line(node))

    def scope(self, node: ast.AST) -> ast.AST:
        """The function, class or module in whose block a node stands."""
        for at in self.enclosing(node):
            if isinstance(at, (*SCOPES, ast.Module)):
                return at
        return self.tree

    def names_read(self, node: ast.AST) -> frozenset[str]:
        """The names that are read, without those that a comprehension binds for itself."""
        return _names_read(node)

    def names_bound(self, node: ast.AST) -> frozenset[str]:
        """The names that are bound or deleted, without those that a comprehension binds for itself."""
        return _names_bound(node)

    def may_pass(self, moving: Block, over: Block) -> bool:
        """Whether no statement of one list binds a name that one of the other reads or binds."""
        bound = {name for s in moving for name in self.names_bound(s)}
        read = {name for s in moving for name in self.names_read(s)}
        return not any(bound & (self.names_read(s) | self.names_bound(s)) or read & self.names_bound(s) for s in over)

    def has_graph(self, statement: ast.stmt) -> bool:
        """Whether a statement computes something that can be differentiated."""
        return any(
            node.at is not None and node.at[0] is statement and not node.weak
            for run in self.runs
            for node in run.machine.nodes
        )

    def imports_torch(self, node: ast.AST) -> bool:
        """Whether `torch` has that name in the file of a node."""
        return any(
            isinstance(s, ast.Import) and any(a.name == "torch" and a.asname is None for a in s.names)
            for s in walk(self.file_of(node))
        )


@kept
def _definitions_in(statement: ast.stmt) -> list[tuple[str, ast.stmt]]:
    """The functions and classes inside a statement of a file, by their qualified names, in order."""
    found: list[tuple[str, ast.stmt]] = []
    pending = [("", statement)]
    while pending:
        prefix, at = pending.pop()
        if isinstance(at, DEFINITIONS):
            if at is not statement:
                found.append((prefix + at.name, at))
            prefix += f"{at.name}."
        pending += ((prefix, inner) for inner in reversed(statements_in(at)))
    return found


@kept
def _names_read(node: ast.AST) -> frozenset[str]:
    return frozenset(n.id for n in _names(node) if isinstance(n.ctx, ast.Load))


@kept
def _names_bound(node: ast.AST) -> frozenset[str]:
    return frozenset(n.id for n in _names(node) if not isinstance(n.ctx, ast.Load))


def _names(node: ast.AST) -> Iterator[ast.Name]:
    """The names in a node that mean something outside of the comprehensions in it."""
    if isinstance(node, ast.Name):
        yield node
    elif isinstance(node, COMPREHENSIONS):
        own = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        first, *_ = node.generators
        yield from _names(first.iter)
        for child in ast.iter_child_nodes(node):
            inside = (c for c in ast.iter_child_nodes(child) if c is not first.iter) if child is first else (child,)
            yield from (n for part in inside for n in _names(part) if n.id not in own)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _names(child)


@kept
def parents_in(statement: ast.stmt) -> dict[ast.AST, ast.AST]:
    """What stands directly in what, in a statement; kept, since an edited program has most of them too."""
    found: dict[ast.AST, ast.AST] = {}
    pending: list[ast.AST] = [statement]
    while pending:
        parent = pending.pop()
        for name in parent._fields:
            value = getattr(parent, name, None)
            if isinstance(value, list):
                for item in value:
                    if isinstance(item, ast.AST):
                        found[item] = parent
                        pending.append(item)
            elif isinstance(value, ast.AST):
                found[value] = parent
                pending.append(value)
    return found


def text(node: ast.AST | None, limit: int = 60) -> str:
    """Source-like text of a node, short enough for a message."""
    if node is None:
        return "a value"
    whole = " ".join((spelled(node) if isinstance(node, (ast.expr, ast.stmt)) else ast.unparse(node)).split())
    return whole if len(whole) <= limit else whole[: limit - 1] + "…"


def listed(nodes: Iterable[ast.AST]) -> str:
    """How a message names several nodes: each text once."""
    return ", ".join(dict.fromkeys(f"`{text(node)}`" for node in nodes))


def line(node: ast.AST | Site) -> int:
    if isinstance(node, Site):
        return node.line
    return getattr(node, "lineno", 0)


def _start(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


@kept
def stable(node: ast.AST) -> str:
    """Text of a node for a key: what the tool itself puts in is left out."""
    return (
        spelled(node)
        .replace(".detach()", "")
        .replace(".item()", "")
        .replace(", retain_graph=True", "")
        .replace("retain_graph=True", "")
    )


def place_text(node: ast.AST) -> str:
    """As `stable`, or the name of the class for what is no expression and no statement."""
    return stable(node) if isinstance(node, (ast.expr, ast.stmt)) else type(node).__name__


def parts_of(expression: ast.expr) -> list[ast.expr]:
    """The elements of a tuple or list, as a target or a value; anything else by itself."""
    return expression.elts if isinstance(expression, (ast.Tuple, ast.List)) else [expression]


def call_of(statement: ast.stmt) -> ast.Call | None:
    """The call, if a statement does nothing else."""
    return statement.value if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None


def is_update(node: ast.AST) -> TypeGuard[ast.Assign]:
    """`w = w - ...` or `w = w + ...`."""
    return (
        isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.value, ast.BinOp)
        and isinstance(node.value.op, (ast.Add, ast.Sub))
        and spelled(node.value.left) == spelled(node.targets[0])
    )


def fault_of(program: Program, d: Differentiation) -> tuple[object, ...]:
    """What PyTorch would say is wrong: the differentiation that raises."""
    return ("differentiation", d.scope, program.spot(d.call))


def passes_apart(first: Differentiation, second: Differentiation) -> tuple[Pass, Pass] | None:
    return diverge(first.loops, second.loops)


def crossing_kind(event: SecondWalk) -> str:
    """Where the freed graph comes from: "same" pass, "outside" the loop, "carried" over passes."""
    apart = passes_apart(event.first, event.second)
    if apart is None:
        return "same"
    made = pass_of(event.node.loops, apart[0].activation)
    return "outside" if made is None else "carried"


def is_assumed(path: tuple[Node, ...]) -> bool:
    return any(n.assumed for n in path)


def assumptions_of(program: Program, nodes: tuple[Node, ...] | list[Node]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for n in nodes:
        if n.assumed:
            found[f"{program.place(n.site)}: `{n.op}` hands on the history of its arguments"] = None
    return tuple(found)


def observed_of(program: Program, nodes: Iterable[Node]) -> tuple[str, ...]:
    """What a run has shown of these nodes, and of what they are made of in their own passes."""
    found: dict[str, None] = {}
    stack, seen = list(nodes), set[Node]()
    while stack:
        n = stack.pop()
        if n in seen or n.leaf:
            continue
        seen.add(n)
        if n.observed:
            found[f"{program.place(n.site)}: {n.observed}"] = None
        stack.extend(p for p in n.parents if p.loops == n.loops)
    return tuple(found)


def statement_in(node: Node, frame: object) -> ast.stmt | None:
    """The statement of a frame that was running when a node was made."""
    return next((s for s, f in reversed(trail_of(node)) if f is frame), None)


def without_retain(nodes: Iterable[Node], *, of: ast.Call | None = None) -> tuple[Codemod, ...]:
    """What takes `retain_graph` off the walks over some nodes, or `of` one call, where it is written as a keyword."""
    from autodetach.codemods.set_keyword import SetKeyword

    calls = {
        d.call: None
        for node in nodes
        for d in node.walked_by
        if d.retain and d.kind != "grad" and isinstance(d.retain_written, ast.keyword)
    }
    return tuple(SetKeyword(call, "retain_graph", None) for call in calls if of is None or call is of)


def handed(chain: Chain, value: object) -> Iterator[ast.expr]:
    """The expressions by which open calls are given a value, alone or in a tuple or list, the innermost first."""
    for site in calls_of(chain):
        for expression, given in site.operands:
            if given is value:
                yield expression
            elif isinstance(expression, (ast.Tuple, ast.List)) and isinstance(given, Sequence):
                pairs = zip(expression.elts, given.items, strict=False)
                yield from (element for element, item in pairs if item is value)
