"""What statements read, under whatever names: what else is of the same memory, and which functions are given it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import walk
from autodetach.machine.graph import Node, ancestors, trail_of
from autodetach.machine.module_tree import parameters_of
from autodetach.machine.program_values import External, Frame, Function, Instance
from autodetach.machine.run import Run
from autodetach.machine.spelling import arguments_of, is_dotted, last_word, root_of, spelled
from autodetach.machine.told_of_values import is_number
from autodetach.machine.values import CONSTANTS, Mapping, Opaque, Sequence, Sym, Tensor, Value
from autodetach.node_types import CALLABLES, CallableNode, FunctionNode
from autodetach.view.called_with import functions_of_call, is_bound_anew, parameters_given
from autodetach.view.changing_calls import leaves_its_own
from autodetach.view.handed_over import hooks_of
from autodetach.view.kept import COPYING
from autodetach.view.passing import reads_what_passes
from autodetach.view.program import Program
from autodetach.view.read_by import Reading, found, functions_by_name, local_names, own_attributes, read_by
from autodetach.view.runs_between import Running, run_by
from autodetach.view.same_memory import ANY, Shared, is_array_copy, key_of, memory_of, of_same_memory, positions_in

CHANGEABLE = (Instance, Mapping, Opaque, Sequence, Tensor)
ALL_NAMES = ("globals", "locals")


class WhatIsRead:
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
        begin = {n for n in whole if is_changeable(self.value(n))}
        texts = {spelled(n) for n in walk(self._home) if isinstance(n, ast.Attribute) and n.attr in attributes}
        begin |= {text for text in texts if text.partition(".")[0] in names}
        if not begin:
            return Shared(set(), set(), set())
        return of_same_memory(self._program, self._home, begin, self._is_container)

    def _is_container(self, expression: ast.expr) -> bool:
        """Whether something may be a list or a dict; a tensor or an array has no parts but its own memory."""
        return not isinstance(found(self._frame, expression), (Sym, Tensor))

    def reads_what_passes(self) -> bool:
        """Whether something that is read is another thing in every pass, whatever runs in it."""
        return reads_what_passes(self._program, self._reading, self._moved, self._frame)

    def hooks(self) -> list[ast.stmt | ast.expr]:
        """What runs in every pass since it was given as a hook."""
        return list(hooks_of(self._program, self._known, lambda hook: found(self._frame, hook)))

    def hand_on(self, statements: Running) -> None:
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

    def _called(self, call: ast.Call) -> list[FunctionNode]:
        """The functions in view that a call may run; an object has its own, and those of the modules below it."""
        functions = list(self._known.get(last_word(call.func), ()))
        this = found(self._frame, call.func)
        if isinstance(this, Instance):
            functions += functions_of_call(self._program, this, self._known)
        return functions

    def _parameters_given(self, call: ast.Call) -> Iterator[tuple[ast.AST, str]]:
        given = [a for a in arguments_of(call) if self.is_touched(a)]
        functions = [call.func] if isinstance(call.func, ast.Lambda) else self._called(call) if given else []
        return parameters_given(self._program, call, functions, given)

    def is_touched(self, argument: ast.expr, *, before: bool = True) -> bool:
        """Whether an argument has something that is read, and may be changed; what the passes train, only before."""
        return any(
            self.is_read(part)
            and is_changeable(value := found(self._frame, part))
            and (before or not isinstance(value, Tensor) or (value.node is None and value.leaf_node is None))
            and not (is_array_copy(argument) and isinstance(value, (Sym, Tensor)))
            for part in memory_of(argument, self._picked)
        )

    def run_by(self, statements: Running) -> Iterator[tuple[ast.AST, bool]]:
        """The syntax nodes that run, but for those that are moved, with whether they stand in the statements."""
        return run_by(statements, self._moved, self._known, self._called)

    def is_changed(self, container: ast.expr) -> bool:
        """Whether a change of a container, but of none of its parts, is one of what is read."""
        return self.is_read(container) and not self.holds_only(container)

    def holds_only(self, container: ast.expr) -> bool:
        """Whether it is a container that holds something that is read, and is not read itself."""
        is_holding = is_dotted(container) and spelled(container) in self._holding
        return is_holding and not self.is_read(container, held=False)

    def is_read(self, target: ast.expr, *, held: bool = True) -> bool:
        """Whether a thing is read, or something of an object is changed that is read as a whole, and is not in view.

        And, if what is `held` counts, whether it is a container that holds such a thing.
        """
        is_part = isinstance(target, ast.Subscript)
        while isinstance(target, ast.Subscript):
            key = key_of(target)
            if ANY not in (key, *self._keys) and key not in self._keys and self.holds_only(target.value):
                return False
            target = target.value
        if isinstance(target, ast.Name):
            return target.id in self._reading.names or self.is_same_memory(target, held)
        hands_on = isinstance(target, ast.Call) and (is_part or last_word(target.func) not in COPYING)
        if hands_on and any(map(self.is_touched, memory_of(target, self._picked))):
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
        return word not in self._own and (root.id in self._reading.whole or self.is_same_memory(root, held))

    def _is_shared(self, text: str, held: bool) -> bool:
        return text in self._shared or (held and text in self._holding)

    def is_same_memory(self, name: ast.Name, held: bool) -> bool:
        """Whether a name is another one of what is read, in the function of the statements or where it is given."""
        scope = self._program.scope(name)
        is_known_there = scope is self._home or isinstance(self._home, ast.Module)
        return self.is_given(name) or (is_known_there and self._is_shared(name.id, held))

    def is_given(self, name: ast.Name) -> bool:
        """Whether a name is a parameter of a function that is given what is read, and that is not bound anew before."""
        scope = self._program.scope(name)
        while isinstance(scope, CALLABLES) and not _is_own(scope, name.id):
            scope = self._program.scope(scope)
        if (scope, name.id) not in self._given:
            return False
        return not is_bound_anew(scope, name, {text for at, text in self._given if at is scope})

    def is_of_another(self, target: ast.Attribute) -> bool:
        """Whether an attribute is that of an object out of view whose name, and all others of it, are not read."""
        owner = target.value
        return (
            isinstance(owner, ast.Name)
            and owner.id not in self._reading.names
            and not self._is_shared(owner.id, True)
            and isinstance(self.value(owner.id), Opaque)
        )

    def is_here(self, name: str) -> bool:
        """Whether a name belongs to the function of the statements, and to none around it."""
        return isinstance(self._home, ast.Module) or name in self._local

    def is_trained(self, name: str) -> bool:
        value = self.value(name)
        return isinstance(value, Tensor) and (value.node is not None or value.leaf_node is not None)

    def value(self, name: str) -> Value:
        return found(self._frame, ast.Name(name))

    def is_related(self, module: ast.expr) -> bool:
        """Whether a module may have weights that the statements read."""
        value = found(self._frame, module)
        weights = parameters_of(value) if isinstance(value, Instance) else []
        if weights:
            return any(w.leaf_node in self._leaves for w in weights)
        return not isinstance(value, Instance) or self.is_read(module)

    def is_apart(self, changed: ast.expr) -> bool:
        """Whether what is changed in place is known to be something else than what is read."""
        owner = changed.value if isinstance(changed, ast.Attribute) and changed.attr == "data" else changed
        value = found(self._frame, owner)
        if not isinstance(value, Tensor) or self.is_read(changed):
            return False
        return value.leaf_node not in self._leaves and value.data_of is None and value.view_of is None


def _is_own(function: CallableNode, name: str) -> bool:
    """Whether a name belongs to a function, and to none around it."""
    return name in local_names(function) or name in all_parameter_names(function.args)


def is_changeable(value: Value) -> bool:
    """Whether something may be changed in place; arrays are not told from other results of libraries."""
    return isinstance(value, CHANGEABLE) or (isinstance(value, Sym) and not is_number(value))


def root_name(expression: ast.expr) -> str:
    """The name at the root of an expression, if there is one."""
    root = root_of(expression)
    return root.id if isinstance(root, ast.Name) else ""
