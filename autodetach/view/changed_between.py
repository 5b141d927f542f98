"""Whether what statements read may be changed between the place where they stand and that where they would run."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from typing import NamedTuple

from autodetach.kept import kept
from autodetach.machine.graph import Node, ancestors, trail_of
from autodetach.machine.module_tree import parameters_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word, root_of, spelled
from autodetach.machine.values import CONSTANTS, External, Frame, Function, Instance, Opaque, Tensor, Value
from autodetach.node_types import FUNCTIONS, LOOPS, SCOPES
from autodetach.view.program import Block, Program, calls_of, targets_of
from autodetach.view.read_by import Function as Definition
from autodetach.view.read_by import Reading, found, functions_by_name, local_names, read_by

CHANGED = "what it is computed from may be changed between the place where it was computed and that where it is read"

OF_GRADIENT = frozenset({"grad", "requires_grad"})
UPDATING = frozenset(
    """
    add append appendleft clear discard extend fill insert pop popitem popleft remove reverse setdefault sort update
    """.split()
)
OF_FIRST = frozenset("heapify heappop heappush heappushpop heapreplace shuffle".split())
"""Functions that change what they are given first: `random.shuffle(order)`."""
OF_ALL = frozenset("set_default_dtype set_default_tensor_type set_default_device".split())
"""What tells the way in which all later tensors are made."""
OF_WEIGHTS = frozenset("apply load_state_dict half double bfloat16".split())
"""Methods that change the weights of a module in place."""
ENTERING = ("__enter__", "__exit__", "__aenter__", "__aexit__")
NO_VALUES = frozenset("requires_grad_ detach_ share_memory_".split())
"""Methods that change a tensor in place, and none of its values."""


class _Between(NamedTuple):
    """What runs between the statements and the first pass that reads what they make, and the bodies of the loops."""

    before: Block
    passes: list[Block]


def doubt_of_changes(program: Program, run: Run, statements: list[ast.stmt], outer: list[Node]) -> str | None:
    """Why statements that make nodes of `outer` may make something else where these are read; None if they do not."""
    return CHANGED if _may_be_changed(program, run, statements, outer) else None


def _may_be_changed(program: Program, run: Run, statements: list[ast.stmt], outer: list[Node]) -> bool:
    """Whether something that runs before a pass may change what the statements read.

    That passes train the leaves is what the statements are moved for.
    """
    look = _Look(program, run, statements, outer)
    between = _between(program, run, statements, outer)
    if any(look.is_change(node, direct, before=True) for node, direct in look.run_by(between.before)):
        return True
    if any(look.is_change(node, direct, before=False) for body in between.passes for node, direct in look.run_by(body)):
        return True
    if look.is_stepped_by(between.before):
        return True
    mode = look.last_mode(_earlier(program, statements[0]), True)
    return any(look.last_mode(part, mode) is not mode for part in (between.before, *between.passes))


class _Look:
    """What is known of what some statements read."""

    def __init__(self, program: Program, run: Run, statements: list[ast.stmt], outer: list[Node]) -> None:
        self._program, self._run = program, run
        self._known = functions_by_name(program)
        self._leaves = {n for n in ancestors(outer) if n.leaf}
        self._reading: Reading = read_by(program, run, statements)
        own = {name for s in statements for name in program.names_bound(s)}
        self._reading.names.difference_update(own)
        self._reading.whole.difference_update(own)
        self._moved = {n for s in statements for n in ast.walk(s)}
        self._home = home = program.scope(statements[0])
        self._local = local_names(home)
        places = (place for node in outer for place in trail_of(node))
        self._frame = next((f for s, f in places if program.scope(s) is home and isinstance(f, Frame)), None)
        self._called_like(own)
        self._own = _own_attributes(program)

    def _called_like(self, own: set[str]) -> None:
        """Other names of what the statements read are as good as these, but for those that they bind."""
        names = {} if self._frame is None else self._frame.visible()
        plain = (*CONSTANTS, External, Function)
        values = [v for name in self._reading.whole if not isinstance(v := names.get(name), plain)]
        also = {name for name, value in names.items() if any(value is v for v in values)} - own
        self._reading.names.update(also)
        self._reading.whole.update(also)

    def run_by(self, statements: list[ast.stmt]) -> Iterator[tuple[ast.AST, bool]]:
        """The syntax nodes that run, in order, with those of the functions in view that are called.

        Each with whether it stands in the statements themselves. A constructor begins what its own object is.
        """
        seen: set[Definition] = set()
        pending: list[tuple[ast.AST, bool, str]] = [(s, True, "") for s in reversed(statements)]
        while pending:
            at, direct, this = pending.pop()
            if at in self._moved or isinstance(at, SCOPES):
                continue
            if not (isinstance(at, ast.Attribute) and this and _is_name(at.value, this)):
                yield at, direct
            called: list[tuple[ast.AST, bool, str]] = []
            if isinstance(at, ast.withitem) and isinstance(at.context_expr, ast.Call):
                entering = (f for name in ENTERING for f in self._known.get(name, ()))
                called += [(s, False, "") for function in entering for s in function.body]
            for function in self._known.get(last_word(at.func), ()) if isinstance(at, ast.Call) else ():
                if function not in seen:
                    seen.add(function)
                    own = function.args.args[0].arg if function.name == "__init__" and function.args.args else ""
                    called += [(s, False, own) for s in reversed(function.body)]
            # What a call is given is computed first.
            pending += called
            pending += [(child, direct, this) for child in reversed(list(ast.iter_child_nodes(at)))]

    def is_change(self, node: ast.AST, direct: bool, *, before: bool) -> bool:
        """Whether a syntax node changes something that is read; the weights, only if it runs `before` the passes."""
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            return not self._reading.names.isdisjoint(node.names)
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            if node.attr == "data":
                return before
            return node.attr not in OF_GRADIENT and self._is_read(node) and not (direct and self._is_of_another(node))
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            inside = {n.attr for n in ast.walk(node.value) if isinstance(n, ast.Attribute)}
            return (before and "data" in inside) or self._is_read(node.value)
        if isinstance(node, ast.Call):
            return self._is_changing_call(node, before=before)
        if direct and isinstance(node, (ast.Assign, ast.AugAssign)):
            names = {t.id for t in targets_of(node) if isinstance(t, ast.Name)} & self._reading.names
            names = {name for name in names if self._is_here(name) is (self._program.scope(node) is self._home)}
            return any(before or not self._is_trained(name) for name in names)
        return False

    def _is_changing_call(self, call: ast.Call, *, before: bool) -> bool:
        name, owner = last_word(call.func), call.func.value if isinstance(call.func, ast.Attribute) else None
        if name in OF_ALL:
            return True
        if name in ("setattr", "delattr") and len(call.args) > 1:
            return self._is_set_by_name(*call.args[:2])
        written = next((k.value for k in call.keywords if k.arg == "out"), None)
        if written is not None and self._is_read(written):
            return True
        if name in OF_FIRST and call.args and self._is_read(call.args[0]):
            return True
        if owner is None or name in self._known:
            return False
        if name in UPDATING:
            return self._is_read(owner)
        if name in OF_WEIGHTS:
            return before and isinstance(self._program.parents.get(call), ast.Expr) and self._is_related(owner)
        if not (name.endswith("_") and not name.endswith("__") and name not in NO_VALUES and len(name) > 1):
            return False
        changed = call.args[0] if "init" in spelled(owner).split(".") and call.args else owner
        if last_word(changed) == "grad":
            return False
        value = self._value(_root(changed))
        if before:
            return not self._is_apart(changed)
        if not isinstance(value, Tensor) or value.node is not None or value.leaf_node is not None:
            return False
        return value.view_of is not None or self._is_read(changed)

    def _is_set_by_name(self, owner: ast.expr, name: ast.expr) -> bool:
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            return self._is_read(ast.Attribute(owner, name.value, ast.Store()))
        return _root(owner) in self._reading.names or last_word(owner) in self._reading.attributes

    def _is_read(self, target: ast.expr) -> bool:
        """Whether a thing is read, or something of an object is changed that is read as a whole, and is not in view."""
        while isinstance(target, ast.Subscript):
            target = target.value
        word, root = last_word(target), _root(target)
        if isinstance(target, ast.Name):
            return target.id in self._reading.names
        if word in self._reading.attributes:
            return True
        return root in self._reading.whole and word not in self._own

    def _is_of_another(self, target: ast.Attribute) -> bool:
        """Whether an attribute is that of an object out of view whose name, and all others of it, are not read."""
        owner = target.value
        return (
            isinstance(owner, ast.Name)
            and owner.id not in self._reading.names
            and isinstance(self._value(owner.id), Opaque)
        )

    def _is_here(self, name: str) -> bool:
        """Whether a name belongs to the function of the statements, and to none around it."""
        return isinstance(self._home, ast.Module) or name in self._local

    def _is_trained(self, name: str) -> bool:
        value = self._value(name)
        return isinstance(value, Tensor) and (value.node is not None or value.leaf_node is not None)

    def _value(self, name: str) -> Value:
        return found(self._frame, ast.Name(name))

    def _is_related(self, module: ast.expr) -> bool:
        """Whether a module may have weights that the statements read."""
        value = found(self._frame, module)
        weights = parameters_of(value) if isinstance(value, Instance) else []
        if weights:
            return any(w.leaf_node in self._leaves for w in weights)
        return not isinstance(value, Instance) or self._is_read(module)

    def _is_apart(self, changed: ast.expr) -> bool:
        """Whether what is changed in place is known to be something else than what is read."""
        owner = changed.value if isinstance(changed, ast.Attribute) and changed.attr == "data" else changed
        value = found(self._frame, owner)
        if not isinstance(value, Tensor) or self._is_read(changed):
            return False
        return value.leaf_node not in self._leaves and value.data_of is None and value.view_of is None

    def is_stepped_by(self, statements: list[ast.stmt]) -> bool:
        """Whether an optimizer, or the program itself, updates the leaves while statements run."""
        inside = {n for s in statements for n in ast.walk(s)}
        return any(
            step.what != "grad"
            and any(leaf in self._leaves for leaf, _ in step.consumed)
            and any(s in inside for s, _ in step.trail)
            for step in self._run.machine.steps
        )

    def last_mode(self, statements: list[ast.stmt], mode: bool | None) -> bool | None:
        """Whether modules that are read are in training behind statements; None if nobody knows."""
        for node, direct in self.run_by(statements):
            name = last_word(node.func) if isinstance(node, ast.Call) else ""
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)) or name in self._known:
                continue
            if name not in ("train", "eval") or (name == "eval" and node.args):
                continue
            if direct and not self._is_related(node.func.value):
                continue
            given = node.args[0] if node.args else next((k.value for k in node.keywords), None)
            known = given.value if isinstance(given, ast.Constant) else None
            mode = False if name == "eval" else True if given is None else known if isinstance(known, bool) else None
        return mode


def _between(program: Program, run: Run, statements: list[ast.stmt], outer: list[Node]) -> _Between:
    """What runs before what differentiates the nodes, and in the loops around that."""
    places = [s for node in outer for d in node.walked_by for s, _ in d.trail]
    homes = [statements[-1]]
    sites = (site.node for node in outer[:1] for site in calls_of(node.chain))
    homes += [s for site in sites if (s := program.statement(site)) is not None and s not in statements]
    around = {at for home in homes for at in program.enclosing(home)}
    running = dict.fromkeys(at for s in places for at in (s, *program.enclosing(s)))
    before = dict.fromkeys(s for home in homes for s in _until(program, home, running))
    whole = _around_all_passes(run, outer)
    entered = [at for at in running if isinstance(at, ast.stmt) and not isinstance(at, SCOPES) and at not in around]
    loops = [at for at in entered if isinstance(at, LOOPS) and at not in whole]
    for at in entered:
        block = program.block(at)
        is_apart = around.isdisjoint(block) and not any(home in block for home in homes)
        if is_apart and not any(up in loops for up in program.enclosing(at)):
            before.update(dict.fromkeys(block[: block.index(at)]))
    return _Between(list(before), [loop.body for loop in loops])


def _around_all_passes(run: Run, outer: list[Node]) -> set[ast.AST | None]:
    """The loops that are in one and the same pass whenever the nodes are walked."""
    nodes = set(outer)
    pairs = [(node.walked_by[0], d) for node in outer for d in node.walked_by[1:]]
    pairs += [(e.first, e.second) for e in run.machine.second_walks if e.node in nodes]
    found = [{a.activation.node for a, b in zip(x.loops, y.loops, strict=False) if a is b} for x, y in pairs]
    return set.intersection(*found) if found else set()


def _until(program: Program, home: ast.stmt, running: Container[ast.AST]) -> Iterator[ast.stmt]:
    """What stands behind a statement in its function, up to what is running."""
    at: ast.AST | None = home
    while isinstance(at, ast.stmt) and not isinstance(at, (*FUNCTIONS, ast.ClassDef)):
        block = program.block(at)
        for later in block[block.index(at) + 1 :]:
            if later in running:
                return
            yield later
        at = program.parents.get(at)


def _earlier(program: Program, statement: ast.stmt) -> list[ast.stmt]:
    """What stands in front of a statement in its function."""
    found: list[ast.stmt] = []
    at: ast.AST | None = statement
    while isinstance(at, ast.stmt) and not isinstance(at, (*FUNCTIONS, ast.ClassDef)):
        block = program.block(at)
        found = [*block[: block.index(at)], *found]
        at = program.parents.get(at)
    return found


def _own_attributes(program: Program) -> set[str]:
    """The attributes that methods in view set on their objects."""
    return {name for tree in program.analysis.trees for name in _set_on_self(tree)}


@kept
def _set_on_self(tree: ast.Module) -> set[str]:
    nodes = (n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load))
    return {n.attr for n in nodes if _is_name(n.value, "self")}


def _root(expression: ast.expr) -> str:
    root = root_of(expression)
    return root.id if isinstance(root, ast.Name) else ""


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
