"""One walk through a file, or through each of its statements, that finds out what its functions and classes mention."""

from __future__ import annotations

import ast
from collections.abc import Callable

from autodetach.kept import kept
from autodetach.machine.mentions import CLASSES, SAYING, TELLING, Import, Mentions, Part
from autodetach.machine.spelling import imported_by_call, last_word
from autodetach.machine.words import (
    EVIDENCE,
    IN_FRONT,
    TESTS,
    grad_of,
    is_class_of_nn,
    is_copied,
    is_of_python,
    looked_up,
    owner_of,
    reached,
    words_in,
)
from autodetach.node_types import COMPREHENSIONS, LOOPS, FunctionNode

ADDS = frozenset("append appendleft add extend insert".split())
"""The methods of containers that put something into them."""
CONTAINERS = frozenset("list dict set tuple".split())


@kept
def mentioned(tree: ast.Module) -> Mentions:
    """What a file mentions."""
    found = Mentions()
    for statement in tree.body:
        found.add(_mentioned_in(statement))
    return found


@kept
def _mentioned_in(statement: ast.stmt) -> Mentions:
    """As `mentioned`, of one statement: an edited program has most of them in common."""
    return _Walk().of(statement)


class _Walk:
    """One walk through a statement; what a function mentions, the functions and classes around it mention too."""

    def __init__(self) -> None:
        self._found = Mentions()
        self._pending: list[tuple[ast.AST, Part | None, bool]] = []
        self._begun: list[tuple[dict[str, Part], str, Part, Part | None]] = []

    def of(self, statement: ast.stmt) -> Mentions:
        pending = self._pending
        pending.append((statement, None, True))
        while pending:
            at, part, evaluated = pending.pop()
            kind = type(at)
            if kind is ast.Name:
                if part is not None:
                    word = at.id  # type: ignore[attr-defined]
                    part.names.add(word)
                    if evaluated:
                        part.plain.add(word)
                continue
            special = _SPECIAL.get(kind)
            if special is not None:
                part = special(self, at, part, evaluated)
                if part is _DONE:
                    continue
            between: list[str] = []
            pending += [(child, part, evaluated) for child in reached(at, between)]
            if between and part is not None:
                part.names.update(between)
        self._end()
        return self._found

    def _begin(self, parts: dict[str, Part], name: str, outer: Part | None, *, is_class: bool = False) -> Part:
        part = Part(is_class=is_class)
        self._begun.append((parts, name, part, outer))
        return part

    def _end(self) -> None:
        """Have what is around others mention what these mention, and put together what has the same name."""
        for _, _, part, outer in reversed(self._begun):
            if outer is not None:
                outer.add(part)
        for parts, name, part, _ in self._begun:
            known = parts.setdefault(name, part)
            if known is not part:
                known.add(part)

    def _attribute(self, node: ast.Attribute, part: Part | None, evaluated: bool) -> Part | None:
        word, between = node.attr, list[str]()
        owner = owner_of(node, between)
        is_read = isinstance(node.ctx, ast.Load)
        says = evaluated and (
            (word in SAYING and is_read) or word in CLASSES or (word == "requires_grad" and not is_read)
        )
        if says and (is_of_python(node) or (word in EVIDENCE and _is_super(owner))):
            says = False
        if part is not None:
            part.names.add(word)
            part.names.update(between)
            part.begins = part.begins or says
            if evaluated and word in IN_FRONT:
                part.plain.add(word)
            elif evaluated and word == "grad":
                part.plain.add(grad_of(node))
            if isinstance(owner, ast.Name):
                part.names.add(owner.id)
        if not isinstance(owner, ast.Name):
            self._pending.append((owner, part, evaluated))
        return _DONE

    def _constant(self, node: ast.Constant, part: Part | None, evaluated: bool) -> Part | None:
        value = node.value
        if isinstance(value, str) and len(value) < 40:
            if value == "requires_grad":
                if part is not None:
                    part.begins = True
            elif value in SAYING or value in CLASSES:
                self._found.strings = True
        return _DONE

    def _keyword(self, node: ast.keyword, part: Part | None, evaluated: bool) -> Part | None:
        is_off = isinstance(node.value, ast.Constant) and node.value.value is False
        if part is not None and node.arg == "requires_grad" and not (is_off or is_copied(node.value)):
            part.begins = True
        return part

    def _loop(self, node: ast.AST, part: Part | None, evaluated: bool) -> Part | None:
        if part is not None:
            part.loops = True
        return part

    def _call(self, node: ast.Call, part: Part | None, evaluated: bool) -> Part | None:
        name = imported_by_call(node)
        if name:
            # Who mentions the function that imports may have all that is imported.
            self._note_import(ast.Import([ast.alias(name, last_word(node.func))]), part)
        word = "" if _is_own_look_up(node) else looked_up(node)
        if word and _is(node.func, "setattr"):
            self._found.set_on_others.add(word)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ADDS:
            self._note_set(node.func.value)
        if word is not None and word not in TELLING:
            if part is not None:
                part.names.add(word)
            self._pending += ((argument, part, evaluated) for argument in node.args)
            return _DONE
        if not isinstance(node.func, ast.Name) or node.func.id not in TESTS:
            return part
        self._pending += ((argument, part, evaluated and n == 0) for n, argument in enumerate(node.args))
        return _DONE

    def _assigned(self, node: ast.Assign, part: Part | None, evaluated: bool) -> Part | None:
        if not _is_empty(node.value):
            for target in node.targets:
                for one in target.elts if isinstance(target, (ast.Tuple, ast.List)) else (target,):
                    self._note_set(one)
        return part

    def _added(self, node: ast.AugAssign, part: Part | None, evaluated: bool) -> Part | None:
        self._note_set(node.target)
        return part

    def _note_set(self, target: ast.expr) -> None:
        if isinstance(target, ast.Attribute) and not _is_own(target.value):
            self._found.set_on_others.add(target.attr)

    def _annotated(self, node: ast.AnnAssign, part: Part | None, evaluated: bool) -> Part | None:
        self._pending.append((node.annotation, part, False))
        self._pending.append((node.target, part, evaluated))
        if node.value is not None:
            self._pending.append((node.value, part, evaluated))
        return _DONE

    def _argument(self, node: ast.arg, part: Part | None, evaluated: bool) -> Part | None:
        if node.annotation is not None:
            self._pending.append((node.annotation, part, False))
        return _DONE

    def _function(self, node: FunctionNode, part: Part | None, evaluated: bool) -> Part | None:
        self._note_top(node, part)
        is_method = part is not None and part.is_class
        inner = self._begin(self._found.methods if is_method else self._found.functions, node.name, part)
        if node.returns is not None:
            self._pending.append((node.returns, inner, False))
        self._pending.append((node.args, inner, True))
        self._pending += ((one, inner, True) for one in (*node.decorator_list, *node.body))
        return _DONE

    def _note_top(self, node: FunctionNode | ast.ClassDef, part: Part | None) -> None:
        if part is None:
            self._found.tops.add(node.name)

    def _class(self, node: ast.ClassDef, part: Part | None, evaluated: bool) -> Part | None:
        self._note_top(node, part)
        base = {word for one in (*node.bases, *node.keywords) for word in words_in(one)}
        # A `torch.autograd.Function` begins no history.
        self._found.bases.append((node.name, frozenset(base - {"autograd"})))
        return self._begin(self._found.classes, node.name, part, is_class=True)

    def _import_from(self, node: ast.ImportFrom, part: Part | None, evaluated: bool) -> Part | None:
        origin = (node.module or "").split(".")
        self._note_import(node, part)
        for alias in node.names:
            if alias.name == "*":
                self._found.is_clear = self._found.is_clear and "torch" not in origin
            elif (
                alias.name in ("backward", "grad", "Variable") or alias.name in IN_FRONT
                or is_class_of_nn(origin, alias.name)
                or "Module" in alias.name
            ):
                self._found.aliases.add(alias.asname or alias.name)
            if part is not None:
                part.names.add(alias.name)
        return _DONE

    def _note_import(self, node: Import, part: Part | None) -> None:
        self._found.imports.append(node)
        if part is not None:
            self._found.imports_inside.append(node)

    def _import(self, node: ast.Import, part: Part | None, evaluated: bool) -> Part | None:
        self._note_import(node, part)
        self._found.aliases.update(
            a.asname for a in node.names if a.asname is not None and not IN_FRONT.isdisjoint(a.name.split("."))
        )
        return _DONE


_DONE = Part()
"""Says that all of a node has been looked at."""
_SPECIAL: dict[type[ast.AST], Callable[..., Part | None]] = {
    ast.Attribute: _Walk._attribute,
    ast.Constant: _Walk._constant,
    ast.keyword: _Walk._keyword,
    ast.Call: _Walk._call,
    ast.Assign: _Walk._assigned,
    ast.AugAssign: _Walk._added,
    ast.AnnAssign: _Walk._annotated,
    ast.arg: _Walk._argument,
    ast.FunctionDef: _Walk._function,
    ast.AsyncFunctionDef: _Walk._function,
    ast.ClassDef: _Walk._class,
    ast.ImportFrom: _Walk._import_from,
    ast.Import: _Walk._import,
    **dict.fromkeys((*LOOPS, *COMPREHENSIONS), _Walk._loop),
}


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_super(node: ast.expr) -> bool:
    """Whether it is `super()`, which is known to be a module, or not, by the bases of its class."""
    return isinstance(node, ast.Call) and _is(node.func, "super")


def _is_own_look_up(call: ast.Call) -> bool:
    """Whether a method asks for an attribute by a string of an object of its own class: one that the class mentions."""
    is_look_up = len(call.args) > 1 and (_is(call.func, "getattr") or _is(call.func, "setattr"))
    return is_look_up and _is_own(call.args[0])


def _is_empty(node: ast.expr) -> bool:
    """Whether it is None, zero, or a container with nothing in it, written out."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in CONTAINERS and not (node.args or node.keywords)
    if isinstance(node, (ast.List, ast.Tuple)):
        return not node.elts
    return (isinstance(node, ast.Constant) and not node.value) or (isinstance(node, ast.Dict) and not node.keys)


def _is_own(node: ast.expr) -> bool:
    """Whether something is the object, or the class, to which the method belongs that asks for it."""
    return _is(node, "self") or _is(node, "cls")
