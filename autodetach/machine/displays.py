"""Evaluation of displays: lists, tuples, sets and dicts as they are written, slices, and formatted strings."""

from __future__ import annotations

import ast

from autodetach.machine import joining
from autodetach.machine.decisions import Decisions
from autodetach.machine.graph import Site
from autodetach.machine.implicit_calls import TO_STRING, as_mapping, formatted, hash_all, show
from autodetach.machine.number_readers import truth_of_sums
from autodetach.machine.operators import LONG, key_in_test
from autodetach.machine.program_values import Frame
from autodetach.machine.spelling import spelled
from autodetach.machine.told_of_values import is_constant
from autodetach.machine.unknown_keys import is_known
from autodetach.machine.values import Mapping, Sequence, Slice, Sym, Value
from autodetach.node_types import YIELDS

DOING = (ast.Call, ast.NamedExpr, ast.Await, *YIELDS)


class Displays(Decisions):
    """Decisions plus displays."""

    def _elements(self, nodes: list[ast.expr], frame: Frame) -> tuple[list[Value], bool]:
        values: list[Value] = []
        exact = True
        for n in nodes:
            if isinstance(n, ast.Starred):
                more, complete = self.collect(self.eval(n.value, frame), Site(n, frame.qualname))
                values.extend(more)
                exact = exact and complete
            else:
                values.append(self.eval(n, frame))
        return values, exact

    def _eval_List(self, node: ast.List, frame: Frame) -> Value:
        return self._row("list", node, frame)

    def _eval_Tuple(self, node: ast.Tuple, frame: Frame) -> Value:
        return self._row("tuple", node, frame)

    def _row(self, kind: str, node: ast.List | ast.Tuple, frame: Frame) -> Sequence:
        values, exact = self._elements(node.elts, frame)
        made = Sequence(kind, values, self.clock, exact)
        old = self._continued([e.value for e in node.elts if isinstance(e, ast.Starred)], frame)
        if isinstance(old, Sequence):
            joining.adopt(self, old, made)
            star = next(i for i, element in enumerate(node.elts) if isinstance(element, ast.Starred))
            for i, element in enumerate(node.elts):
                if i != star:
                    value = values[i if i < star else i - len(node.elts)]
                    self.store(made, value, element, Site(node, frame.qualname), "append")
        return made

    def _continued(self, inner: list[ast.expr], frame: Frame) -> Value:
        """What a display goes on with under its name: `logs` of `logs = [*logs, loss]`."""
        statement = self.trail[-1][0] if len(inner) == 1 and self.trail else None
        if not isinstance(statement, ast.Assign) or not _is_read_from(statement.targets[0], inner[0]):
            return None
        return self.eval(inner[0], frame)

    def _eval_Set(self, node: ast.Set, frame: Frame) -> Value:
        values, exact = self._elements(node.elts, frame)
        hash_all(self, values, Site(node, frame.qualname))
        return Sequence("set", values, self.clock, exact)

    def _eval_Dict(self, node: ast.Dict, frame: Frame) -> Value:
        mapping = Mapping(self.clock)
        old = self._continued([v for k, v in zip(node.keys, node.values, strict=True) if k is None], frame)
        if isinstance(old, Mapping):
            joining.adopt(self, old, mapping)
        for key_node, value_node in zip(node.keys, node.values, strict=True):
            value = self.eval(value_node, frame)
            if key_node is None:
                value = as_mapping(self, value, Site(value_node, frame.qualname))
                self.note_read(value)
                if isinstance(value, Mapping):
                    mapping.items.update(value.items)
                    mapping.exact = mapping.exact and value.exact
                else:
                    mapping.exact = False
                continue
            key = self.eval(key_node, frame)
            hash_all(self, [key], Site(node, frame.qualname))
            hashed = self.key(key)
            if isinstance(old, Mapping) and hashed not in old.items:
                self.store(mapping, value, value_node, Site(node, frame.qualname), "new key")
                mapping.exact = mapping.exact and (is_known(key) or not self.truncated_since(mapping.born))
            mapping.items[hashed] = (key, value)
        return mapping

    def _eval_Starred(self, node: ast.Starred, frame: Frame) -> Value:
        return self.eval(node.value, frame)

    def _eval_Slice(self, node: ast.Slice, frame: Frame) -> Value:
        def part(n: ast.expr | None) -> Value:
            return None if n is None else self.eval(n, frame)

        return Slice(part(node.lower), part(node.upper), part(node.step))

    def _eval_JoinedStr(self, node: ast.JoinedStr, frame: Frame) -> Value:
        parts: list[str] = []
        known = True
        keys: list[object] = []
        tags: frozenset[object] = frozenset()
        for piece in node.values:
            value = self.eval(piece, frame)
            keys.append(key_in_test(self, value))
            if isinstance(value, str):
                parts.append(value)
            else:
                known = False
                tags |= value.tags if type(value) is Sym else tags
        if known and sum(map(len, parts)) < LONG:
            return "".join(parts)
        return self.sym(("text", *keys), "str", None, tags)

    def _eval_FormattedValue(self, node: ast.FormattedValue, frame: Frame) -> Value:
        value = self.eval(node.value, frame)
        spec = self.eval(node.format_spec, frame) if node.format_spec is not None else ""
        if node.conversion == -1:
            formatted(self, value, spec, Site(node, frame.qualname))
        else:
            show(self, [value], Site(node, frame.qualname), TO_STRING if chr(node.conversion) == "s" else ("__repr__",))
        if is_constant(value) and isinstance(spec, str) and node.conversion == -1:
            try:
                return format(value, spec)
            except (ValueError, TypeError):
                return self.fresh("str")
        return self.sym(("format", key_in_test(self, value)), "str", None, truth_of_sums([value]))

    def _eval_TemplateStr(self, node: ast.expr, frame: Frame) -> Value:
        return self.fresh("str")


def _is_read_from(target: ast.expr, read: ast.expr) -> bool:
    """Whether what is read is what `target` has held: a name, `log["loss"]`, or `log.get("loss", ())`.

    The keys are written out: by one that changes from pass to pass, another list is read than the one before.
    """
    if not isinstance(read, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
        return False
    if not all(isinstance(n.slice, ast.Constant) for n in ast.walk(target) if isinstance(n, ast.Subscript)):
        return False
    if isinstance(read, ast.Call):
        asked = read.func
        if not (isinstance(asked, ast.Attribute) and asked.attr == "get" and read.args):
            return False
        if not isinstance(target, ast.Subscript):
            return False
        pairs = [(asked.value, target.value), (read.args[0], target.slice)]
    else:
        pairs = [(read, target)]
    return all(spelled(one) == spelled(other) and _does_nothing(one) for one, other in pairs)


def _does_nothing(expression: ast.expr) -> bool:
    """Whether an expression may be evaluated twice: it calls nothing, and binds nothing."""
    return not any(isinstance(n, DOING) for n in ast.walk(expression))
