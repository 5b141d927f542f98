"""Which syntax nodes change what statements read, when they run."""

from __future__ import annotations

import ast

from autodetach.machine.children import walk
from autodetach.machine.program_values import External, Instance
from autodetach.machine.spelling import arguments_of, last_word, spelled
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor
from autodetach.node_types import NAMING
from autodetach.view.called_with import is_bound_once, is_called, works_in_place
from autodetach.view.changing_calls import (
    UPDATING,
    asks_in_place,
    changes_nothing_given,
    is_updating,
    leaves_its_own,
    written_by,
)
from autodetach.view.imported import bound_by, imported, imported_as
from autodetach.view.read_by import found
from autodetach.view.same_memory import memory_of
from autodetach.view.what_is_read import WhatIsRead, is_changeable, root_name

OF_GRADIENT = frozenset({"grad", "requires_grad"})
OF_FIRST = frozenset("heapify heappop heappush heappushpop heapreplace shuffle".split())
"""Functions that change what they are given first: `random.shuffle(order)`."""
OF_ALL = frozenset("set_default_dtype set_default_tensor_type set_default_device".split())
"""What tells the way in which all later tensors are made."""
OF_WEIGHTS = frozenset("apply load_state_dict half double bfloat16".split())
"""Methods that change the weights of a module in place."""
NO_VALUES = frozenset("requires_grad_ detach_ share_memory_".split())
"""Methods that change a tensor in place, and none of its values."""


class Changes(WhatIsRead):
    """What changes something that some statements read."""

    def is_change(self, node: ast.AST, direct: bool, *, before: bool) -> bool:
        """Whether a syntax node changes something that is read; the weights, only if it runs `before` the passes."""
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            return not self._reading.names.isdisjoint(node.names)
        if isinstance(node, ast.Attribute):
            if isinstance(node.ctx, ast.Load):
                return is_updating(node.attr) and not is_called(self._program, node) and self.is_changed(node.value)
            if node.attr == "data":
                return before
            in_place = isinstance(self._program.parents.get(node), ast.AugAssign)
            is_read = node.attr not in OF_GRADIENT and self.is_read(node, held=in_place)
            return is_read and not (direct and self.is_of_another(node))
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            inside = {n.attr for n in ast.walk(node.value) if isinstance(n, ast.Attribute)}
            if self.holds_only(node.value) and not (before and "data" in inside):
                return isinstance(self._program.parents.get(node), ast.AugAssign) and self.is_read(node)
            return (before and "data" in inside) or self.is_read(node.value)
        if isinstance(node, ast.Call):
            return self._is_changing_call(node, before=before)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return direct and self._is_imported_anew(node)
        if isinstance(node, NAMING):
            return direct and node.name in self._reading.names
        if not isinstance(node, ast.Name) or isinstance(node.ctx, ast.Load):
            return False
        if isinstance(self._program.parents.get(node), ast.AugAssign) and self.is_same_memory(node, False):
            always = is_bound_once(self._program, self._program.scope(node), node.id)
            return self.is_given(node) or not always or is_changeable(self.value(node.id))
        if not direct or node.id not in self._reading.names or self._is_of_comprehension(node):
            return False
        is_that = self.is_here(node.id) is (self._program.scope(node) is self._home)
        return is_that and (before or not self.is_trained(node.id))

    def _is_changing_call(self, call: ast.Call, *, before: bool) -> bool:
        name, owner = last_word(call.func), call.func.value if isinstance(call.func, ast.Attribute) else None
        if name in OF_ALL:
            return True
        if name in ("setattr", "delattr") and len(call.args) > 1:
            return self._is_set_by_name(*call.args[:2])
        written = written_by(call, imported_as(self._program, call) if len(call.args) > 1 else "")
        if any(self.is_read(part) for out in written for part in (out, *memory_of(out, self._picked))):
            return True
        if name in OF_FIRST and call.args and self.is_read(call.args[0]):
            return not self.holds_only(call.args[0])
        if name in self._known:
            return False
        if owner is None:
            return name in ("eval", "exec") or self._is_given_away(call, before=before)
        value = found(self._frame, owner)
        if name in UPDATING and not isinstance(value, External) and self.is_read(owner):
            return not self.holds_only(owner)
        if isinstance(value, (Mapping, Opaque, Sequence)) and not leaves_its_own(name) and self.is_read(owner):
            return True
        if self._is_given_away(call, before=before):
            return True
        if name in OF_WEIGHTS:
            return before and isinstance(self._program.parents.get(call), ast.Expr) and self.is_related(owner)
        if not (name.endswith("_") and not name.endswith("__") and name not in NO_VALUES and len(name) > 1):
            return False
        changed = call.args[0] if "init" in spelled(owner).split(".") and call.args else owner
        if last_word(changed) == "grad":
            return False
        value = self.value(root_name(changed))
        if before:
            return not self.is_apart(changed)
        if isinstance(value, (Mapping, Sequence)):
            return isinstance(changed, ast.Subscript) and self.is_read(changed)
        if not isinstance(value, Tensor) or value.node is not None or value.leaf_node is not None:
            return False
        return value.view_of is not None or self.is_read(changed)

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
        return any(self.is_touched(a, before=before) for a in arguments_of(call))

    def _is_imported_anew(self, statement: ast.Import | ast.ImportFrom) -> bool:
        """Whether an import binds a name to something else than what is read by it."""
        known = imported(self._program.file_of(statement))
        stored = {n.id for n in walk(self._home) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        return any(
            name == "*" or (name in self._reading.names and (len(known[name]) > 1 or name in stored))
            for name, _ in bound_by(statement)
        )

    def _is_of_comprehension(self, name: ast.Name) -> bool:
        """Whether a comprehension binds a name for itself."""
        around = self._program.enclosing(name)
        return any(isinstance(at, ast.comprehension) and name in ast.walk(at.target) for at in around)

    def _is_set_by_name(self, owner: ast.expr, name: ast.expr) -> bool:
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            return self.is_read(ast.Attribute(owner, name.value, ast.Store()))
        return root_name(owner) in self._reading.names or last_word(owner) in self._reading.attributes

    def last_mode(self, statements: list[ast.stmt], mode: bool | None) -> bool | None:
        """Whether modules that are read are in training behind statements; None if nobody knows."""
        for node, direct in self.run_by(statements):
            name = last_word(node.func) if isinstance(node, ast.Call) else ""
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)) or name in self._known:
                continue
            if name not in ("train", "eval") or (name == "eval" and node.args):
                continue
            if direct and not self.is_related(node.func.value):
                continue
            given = node.args[0] if node.args else next((k.value for k in node.keywords), None)
            known = given.value if isinstance(given, ast.Constant) else None
            mode = False if name == "eval" else True if given is None else known if isinstance(known, bool) else None
        return mode
