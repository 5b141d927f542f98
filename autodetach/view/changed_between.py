"""Whether what statements read may be changed between the place where they stand and that where they would run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.graph import Node, ancestors, trail_of
from autodetach.machine.module_tree import parameters_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import arguments_of, is_dotted, last_word, root_of, spelled
from autodetach.machine.values import (
    CONSTANTS,
    Class,
    External,
    Frame,
    Function,
    Instance,
    Mapping,
    Opaque,
    Sequence,
    Sym,
    Tensor,
    Value,
    is_number,
)
from autodetach.view.called_with import (
    functions_of_call,
    is_bound_anew,
    is_bound_once,
    parameters_given,
    works_in_place,
)
from autodetach.view.changed_in_place import is_changed_in_place
from autodetach.view.changing_calls import (
    UPDATING,
    asks_in_place,
    changes_nothing_given,
    is_updating,
    leaves_its_own,
    written_by,
)
from autodetach.view.kept import COPYING, imported_as
from autodetach.view.program import Program
from autodetach.view.read_by import Function as Definition
from autodetach.view.read_by import Reading, found, functions_by_name, local_names, own_attributes, read_by
from autodetach.view.runs_between import between_of, earlier_than, is_stepped_by, run_by
from autodetach.view.same_memory import ANY, Shared, is_array_copy, key_of, memory_of, of_same_memory, positions_in

CHANGED = "what it is computed from may be changed between the place where it was computed and that where it is read"

OF_GRADIENT = frozenset({"grad", "requires_grad"})
OF_FIRST = frozenset("heapify heappop heappush heappushpop heapreplace shuffle".split())
"""Functions that change what they are given first: `random.shuffle(order)`."""
OF_ALL = frozenset("set_default_dtype set_default_tensor_type set_default_device".split())
"""What tells the way in which all later tensors are made."""
OF_WEIGHTS = frozenset("apply load_state_dict half double bfloat16".split())
"""Methods that change the weights of a module in place."""
CHANGEABLE = (Instance, Mapping, Opaque, Sequence, Tensor)
ALL_NAMES = ("globals", "locals")
BINDING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
NO_VALUES = frozenset("requires_grad_ detach_ share_memory_".split())
"""Methods that change a tensor in place, and none of its values."""


def doubt_of_changes(program: Program, run: Run, statements: list[ast.stmt], outer: list[Node]) -> str | None:
    """Why statements that make nodes of `outer` may make something else where these are read; None if they do not."""
    return CHANGED if _may_be_changed(program, run, statements, outer) else None


def _may_be_changed(program: Program, run: Run, statements: list[ast.stmt], outer: list[Node]) -> bool:
    """Whether something that runs before a pass may change what the statements read.

    That passes train the leaves is what the statements are moved for.
    """
    look = _Look(program, run, statements, outer)
    between = between_of(program, run, statements, outer)
    look.hand_on([*between.before, *(s for body in between.passes for s in body)])
    if any(look.is_change(node, direct, before=True) for node, direct in look.run_by(between.before)):
        return True
    if any(look.is_change(node, direct, before=False) for body in between.passes for node, direct in look.run_by(body)):
        return True
    behind = {n for s in (*between.before, *(s for body in between.passes for s in body)) for n in ast.walk(s)}
    if is_changed_in_place(outer, behind.difference(n for s in statements for n in ast.walk(s))):
        return True
    if is_stepped_by(between.before, run, {n for n in ancestors(outer) if n.leaf}):
        return True
    mode = look.last_mode(earlier_than(program, statements[0]), True)
    return any(look.last_mode(part, mode) is not mode for part in (between.before, *between.passes))


class _Look:
    """What is known of what some statements read."""

    def __init__(self, program: Program, run: Run, statements: list[ast.stmt], outer: list[Node]) -> None:
        self._program, self._run = program, run
        self._known = functions_by_name(program)
        self._leaves = {n for n in ancestors(outer) if n.leaf}
        self._reading: Reading = read_by(program, run, statements)
        own = {name for s in statements for name in program.names_bound(s)}
        read = {name for at in (*statements, *self._reading.functions) for name in program.names_read(at)}
        of_comprehensions = self._reading.names - read
        self._reading.names.difference_update(own, of_comprehensions)
        self._reading.whole.difference_update(own, of_comprehensions)
        self._moved = {n for s in statements for n in ast.walk(s)}
        self._home = home = program.scope(statements[0])
        self._local = local_names(home)
        places = (place for node in outer for place in trail_of(node))
        self._frame = next((f for s, f in places if program.scope(s) is home and isinstance(f, Frame)), None)
        self._called_like(own)
        self._own = own_attributes(program)
        self._given: set[tuple[ast.AST, str]] = set()
        self._given_attributes: set[str] = set()
        self._picked = positions_in(home)
        self._shared, self._holding, self._keys = self._of_same_memory()
        self._shared.difference_update(own)
        self._holding.difference_update(own)

    def _called_like(self, own: set[str]) -> None:
        """Other names of what the statements read are as good as these, but for those that they bind."""
        names = {} if self._frame is None else self._frame.visible()
        plain = (*CONSTANTS, External, Function)
        values = [v for name in self._reading.whole if not isinstance(v := names.get(name), plain)]
        also = {name for name, value in names.items() if any(value is v for v in values)} - own
        self._reading.names.update(also)
        self._reading.whole.update(also)

    def _of_same_memory(self) -> Shared:
        """What else is the memory of what the statements read, as it is written in their function."""
        names, whole = self._reading.names, self._reading.whole
        attributes = self._reading.attributes
        begin = {n for n in whole if _is_changeable(self._value(n))}
        texts = {spelled(n) for n in ast.walk(self._home) if isinstance(n, ast.Attribute) and n.attr in attributes}
        begin |= {text for text in texts if text.partition(".")[0] in names}
        if not begin:
            return Shared(set(), set(), set())
        return of_same_memory(self._program, self._home, begin, self._is_container)

    def _is_container(self, expression: ast.expr) -> bool:
        """Whether something may be a list or a dict; a tensor or an array has no parts but its own memory."""
        return not isinstance(found(self._frame, expression), (Sym, Tensor))

    def hand_on(self, statements: list[ast.stmt]) -> None:
        """Note the parameters as which functions in view are given what is read."""
        known = -1
        while known < len(self._given):
            known = len(self._given)
            for node, _ in self.run_by(statements):
                if isinstance(node, ast.Call):
                    self._note_given(set(self._parameters_given(node)) - self._given)

    def _note_given(self, parameters: set[tuple[ast.AST, str]]) -> None:
        """Note parameters, with the names of the same memory in their functions, and the attributes that keep it."""
        self._given.update(parameters)
        for function, name in parameters:
            for text in of_same_memory(self._program, function, {name}, lambda _: True).same:
                self._given.add((function, text))
                if text.startswith("self."):
                    self._given_attributes.add(text.rpartition(".")[2])

    def _called(self, call: ast.Call) -> list[Definition]:
        """The functions in view that a call may run; those of an object in view, where that is given what is read."""
        functions = list(self._known.get(last_word(call.func), ()))
        this = found(self._frame, call.func)
        if not isinstance(this, Instance) or not isinstance(this.cls, Class):
            return functions
        if any(map(self._is_touched, arguments_of(call))):
            functions += functions_of_call(self._program, this, self._known)
        return functions

    def _parameters_given(self, call: ast.Call) -> Iterator[tuple[ast.AST, str]]:
        given = [a for a in arguments_of(call) if self._is_touched(a)]
        functions = [call.func] if isinstance(call.func, ast.Lambda) else self._called(call) if given else []
        return parameters_given(self._program, call, functions, given)

    def _is_touched(self, argument: ast.expr, *, before: bool = True) -> bool:
        """Whether an argument has something that is read, and may be changed; what the passes train, only before."""
        return any(
            self._is_read(part)
            and _is_changeable(value := found(self._frame, part))
            and (before or not isinstance(value, Tensor) or (value.node is None and value.leaf_node is None))
            and not (is_array_copy(argument) and isinstance(value, (Sym, Tensor)))
            for part in memory_of(argument, self._picked)
        )

    def run_by(self, statements: list[ast.stmt]) -> Iterator[tuple[ast.AST, bool]]:
        """The syntax nodes that run, but for those that are moved, with whether they stand in the statements."""
        return run_by(statements, self._moved, self._known, self._called)

    def is_change(self, node: ast.AST, direct: bool, *, before: bool) -> bool:
        """Whether a syntax node changes something that is read; the weights, only if it runs `before` the passes."""
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            return not self._reading.names.isdisjoint(node.names)
        if isinstance(node, ast.Attribute):
            if isinstance(node.ctx, ast.Load):
                return is_updating(node.attr) and not self._is_called(node) and self._is_changed(node.value)
            if node.attr == "data":
                return before
            in_place = isinstance(self._program.parents.get(node), ast.AugAssign)
            is_read = node.attr not in OF_GRADIENT and self._is_read(node, held=in_place)
            return is_read and not (direct and self._is_of_another(node))
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            inside = {n.attr for n in ast.walk(node.value) if isinstance(n, ast.Attribute)}
            if self._holds_only(node.value) and not (before and "data" in inside):
                return isinstance(self._program.parents.get(node), ast.AugAssign) and self._is_read(node)
            return (before and "data" in inside) or self._is_read(node.value)
        if isinstance(node, ast.Call):
            return self._is_changing_call(node, before=before)
        if isinstance(node, BINDING):
            return direct and node.name in self._reading.names
        if not isinstance(node, ast.Name) or isinstance(node.ctx, ast.Load):
            return False
        if isinstance(self._program.parents.get(node), ast.AugAssign) and self._is_same_memory(node, False):
            always = is_bound_once(self._program, self._program.scope(node), node.id)
            return self._is_given(node) or not always or _is_changeable(self._value(node.id))
        if not direct or node.id not in self._reading.names or self._is_of_comprehension(node):
            return False
        is_that = self._is_here(node.id) is (self._program.scope(node) is self._home)
        return is_that and (before or not self._is_trained(node.id))

    def _is_changing_call(self, call: ast.Call, *, before: bool) -> bool:
        name, owner = last_word(call.func), call.func.value if isinstance(call.func, ast.Attribute) else None
        if name in OF_ALL:
            return True
        if name in ("setattr", "delattr") and len(call.args) > 1:
            return self._is_set_by_name(*call.args[:2])
        written = written_by(call, imported_as(self._program, call) if len(call.args) > 1 else "")
        if any(self._is_read(part) for out in written for part in (out, *memory_of(out, self._picked))):
            return True
        if name in OF_FIRST and call.args and self._is_read(call.args[0]):
            return not self._holds_only(call.args[0])
        if name in self._known:
            return False
        if owner is None:
            return name in ("eval", "exec") or self._is_given_away(call, before=before)
        value = found(self._frame, owner)
        if name in UPDATING and not isinstance(value, External) and self._is_read(owner):
            return not self._holds_only(owner)
        if isinstance(value, (Mapping, Opaque, Sequence)) and not leaves_its_own(name) and self._is_read(owner):
            return True
        if self._is_given_away(call, before=before):
            return True
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
        if isinstance(value, (Mapping, Sequence)):
            return isinstance(changed, ast.Subscript) and self._is_read(changed)
        if not isinstance(value, Tensor) or value.node is not None or value.leaf_node is not None:
            return False
        return value.view_of is not None or self._is_read(changed)

    def _is_given_away(self, call: ast.Call, *, before: bool) -> bool:
        """Whether a call out of view is given what is read, and may change it."""
        made = call.func if isinstance(call.func, ast.Call) else call  # `nn.MSELoss()(out, y)`
        path = imported_as(self._program, made)
        this = found(self._frame, made.func)
        if isinstance(this, Instance):
            if not works_in_place(this):
                return False
        elif not asks_in_place(made, path) and changes_nothing_given(made, path):
            return False
        return any(self._is_touched(a, before=before) for a in arguments_of(call))

    def _is_called(self, method: ast.Attribute) -> bool:
        call = self._program.parents.get(method)
        return isinstance(call, ast.Call) and call.func is method

    def _is_of_comprehension(self, name: ast.Name) -> bool:
        """Whether a comprehension binds a name for itself."""
        around = self._program.enclosing(name)
        return any(isinstance(at, ast.comprehension) and name in ast.walk(at.target) for at in around)

    def _is_set_by_name(self, owner: ast.expr, name: ast.expr) -> bool:
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            return self._is_read(ast.Attribute(owner, name.value, ast.Store()))
        return _root(owner) in self._reading.names or last_word(owner) in self._reading.attributes

    def _is_changed(self, container: ast.expr) -> bool:
        """Whether a change of a container, but of none of its parts, is one of what is read."""
        return self._is_read(container) and not self._holds_only(container)

    def _holds_only(self, container: ast.expr) -> bool:
        """Whether it is a container that holds something that is read, and is not read itself."""
        is_holding = is_dotted(container) and spelled(container) in self._holding
        return is_holding and not self._is_read(container, held=False)

    def _is_read(self, target: ast.expr, *, held: bool = True) -> bool:
        """Whether a thing is read, or something of an object is changed that is read as a whole, and is not in view.

        And, if what is `held` counts, whether it is a container that holds such a thing.
        """
        is_part = isinstance(target, ast.Subscript)
        while isinstance(target, ast.Subscript):
            key = key_of(target)
            if ANY not in (key, *self._keys) and key not in self._keys and self._holds_only(target.value):
                return False
            target = target.value
        if isinstance(target, ast.Name):
            return target.id in self._reading.names or self._is_same_memory(target, held)
        hands_on = isinstance(target, ast.Call) and (is_part or last_word(target.func) not in COPYING)
        if hands_on and any(map(self._is_touched, memory_of(target, self._picked))):
            return True
        if isinstance(target, ast.Call) and leaves_its_own(last_word(target.func)):
            return False  # it makes something new of it
        word, root = last_word(target), root_of(target)
        if held and word in self._given_attributes:
            return True
        if word in self._reading.attributes or self._is_shared(spelled(target), held):
            return True
        if not isinstance(root, ast.Name):
            return False
        if root.id in ALL_NAMES or (word == "__dict__" and root.id in self._reading.names):
            return True
        return word not in self._own and (root.id in self._reading.whole or self._is_same_memory(root, held))

    def _is_shared(self, text: str, held: bool) -> bool:
        return text in self._shared or (held and text in self._holding)

    def _is_same_memory(self, name: ast.Name, held: bool) -> bool:
        """Whether a name is another one of what is read, in the function of the statements or where it is given."""
        scope = self._program.scope(name)
        is_known_there = scope is self._home or isinstance(self._home, ast.Module)
        return self._is_given(name) or (is_known_there and self._is_shared(name.id, held))

    def _is_given(self, name: ast.Name) -> bool:
        """Whether a name is a parameter of a function that is given what is read, and that is not bound anew before."""
        scope = self._program.scope(name)
        if (scope, name.id) not in self._given:
            return False
        return not is_bound_anew(scope, name, {text for at, text in self._given if at is scope})

    def _is_of_another(self, target: ast.Attribute) -> bool:
        """Whether an attribute is that of an object out of view whose name, and all others of it, are not read."""
        owner = target.value
        return (
            isinstance(owner, ast.Name)
            and owner.id not in self._reading.names
            and not self._is_shared(owner.id, True)
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


def _is_changeable(value: Value) -> bool:
    """Whether something may be changed in place; arrays are not told from other results of libraries."""
    return isinstance(value, CHANGEABLE) or (isinstance(value, Sym) and not is_number(value))


def _root(expression: ast.expr) -> str:
    root = root_of(expression)
    return root.id if isinstance(root, ast.Name) else ""


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
