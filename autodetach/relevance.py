"""Whether a program can have a finding at all, told by its words: most files cannot, and need not be run, or even read.

The argument, which the tests hold against the machine:

1. Every rule speaks of a differentiation (AD103, AD2xx, AD3xx), of a value with history (AD101, AD102, AD302, AD402),
   of `.data` of a scalar (AD401) or of a read of `.grad` (AD303).
2. The machine differentiates where something called `backward` or `manual_backward` is called, where `grad` of
   `torch.autograd` is, and for what a `training_step` returns; nowhere else.
3. History begins at a leaf, or at a differentiation. The machine makes a leaf for `requires_grad` in any form, for
   `Variable`, for what `torch.nn` has, for a class with a base of `torch.nn` or called `...Module`, and for an object
   that is seen to be a module since one of `MODULE_EVIDENCE` is asked of it; nowhere else.
4. It learns each of these names from a name, an attribute, a keyword or a string of the program, that is of the file or
   of what it imports, directly or not. So a program without any of these words has no finding.

`in_bytes` looks for the words anywhere; `in_tree` only where they are evaluated: not in comments, docstrings,
annotations, the classes of an `isinstance`, nor where a method is only defined.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

MAX_FILES = 200

EVIDENCE = "parameters named_parameters train eval state_dict load_state_dict modules named_modules children"
"""As `machine.unknown.MODULE_EVIDENCE`, which is not loaded for files that do not matter."""

_WORDS = re.compile(
    rb"backward|training_step|requires_grad|Variable|Module|\bnn\b|\bgrad\b"
    rb"|\b(?:parameters|named_parameters|train|eval|state_dict|load_state_dict|modules|named_modules|children)\b"
    rb"|\bdata\b[\s)\\]*[\[.#]"
)
_IMPORT = re.compile(
    rb"\bfrom[ \t\\]+([.\w \t]+?)[ \t\\]+import\b[ \t\\]*(\([^)]*\)?|[^\n;]*)|\bimport\b[ \t\\]*([^\n;]*)"
)
_NAME = re.compile(rb"[.\w]+")
_JOINED = re.compile(rb"\\\r?\n")

_DIFFERENTIATIONS = frozenset({"backward", "manual_backward", "training_step"})
_LEAVES = frozenset({"requires_grad", "requires_grad_", "Variable"})
_ASKED = frozenset(EVIDENCE.split())
_SAYING = _DIFFERENTIATIONS | _LEAVES | _ASKED | {"grad"}
_TESTS = frozenset({"isinstance", "issubclass"})


def may_matter(raw: bytes) -> bool:
    """Whether a file can have anything to do with autograd: cheap, on its bytes."""
    return b"torch" in raw or b"backward" in raw


def in_bytes(raw: bytes) -> bool:
    """Whether any of the words stands in a file."""
    return _WORDS.search(raw) is not None


def imports_in(raw: bytes) -> Iterator[str]:
    """All that a file may import, in the words of `project.Finder.find`: too much rather than too little."""
    if b"import" not in raw:
        return
    for match in _IMPORT.finditer(_JOINED.sub(b" ", raw)):
        origin, names, plain = match.groups()
        if plain is not None:
            yield from (name.decode("ascii", "replace") for name in _NAME.findall(plain))
            continue
        base = b"".join(origin.split()).decode("ascii", "replace")
        yield base
        dot = "" if base.endswith(".") else "."
        yield from (f"{base}{dot}{name.decode('ascii', 'replace')}" for name in _NAME.findall(names))


class Finder(Protocol):
    """Finds the files that others import, and their bytes; see `autodetach.imports`."""

    def find(self, name: str, importer: str) -> str | None: ...

    def peek(self, path: str) -> bytes | None: ...


def is_idle(
    raw: bytes, path: str, finder: Finder | None, changed: Mapping[str, bytes], tree: ast.Module | None = None
) -> bool:
    """Whether the program of a file cannot have a finding: neither the file nor anything that it imports says a word.

    Of the file at the absolute path, `tree` is looked at if it is given, else its bytes. `changed` has the bytes of
    files that are to be taken instead of what `finder` reads. When in doubt, it is not idle.
    """
    if not may_matter(raw):
        return True
    if in_bytes(raw) if tree is None else in_tree(tree):
        return False
    if finder is None:
        return True
    seen = {path}
    pending = [(path, raw)]
    while pending:
        importer, text = pending.pop()
        for name in imports_in(text):
            found = finder.find(name, importer)
            if found is None or found in seen:
                continue
            seen.add(found)
            inner = changed[found] if found in changed else finder.peek(found)
            if inner is None or len(seen) > MAX_FILES or in_bytes(inner):
                return False
            pending.append((found, inner))
    return True


def in_tree(tree: ast.Module) -> bool:
    """Whether any of the words is evaluated in a file."""
    from autodetach.machine.torch_modules import MODULES

    return _Look(frozenset(MODULES)).at(tree)


class _Look:
    def __init__(self, modules: frozenset[str]) -> None:
        self._modules = modules - {"Module"}
        # What is imported from `torch.nn`, and all names: where an import stands is no matter.
        self._from_nn: set[str] = {"nn"}
        self._named: set[str] = set()

    def at(self, tree: ast.Module) -> bool:
        """Whether something that matters is evaluated."""
        stack: list[ast.AST] = [tree]
        handlers: dict[type[ast.AST], Callable[..., bool | None]] = {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Constant: self._constant,
            ast.keyword: self._keyword,
            ast.ImportFrom: self._import_from,
            ast.Import: self._import,
            ast.Subscript: self._subscript,
        }
        while stack:
            node = stack.pop()
            handler = handlers.get(type(node))
            if handler is not None and handler(node):
                return True
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if node.name == "training_step":
                    return True
                stack += node.decorator_list
                stack += node.args.defaults
                stack += (default for default in node.args.kw_defaults if default is not None)
                stack += _without_docstring(node.body)
            elif isinstance(node, ast.ClassDef):
                stack += (*node.bases, *node.keywords, *node.decorator_list)
                stack += _without_docstring(node.body)
            elif isinstance(node, ast.AnnAssign):
                stack += (node.target, *([node.value] if node.value is not None else ()))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _TESTS:
                stack += node.args[:1]
            elif not isinstance(node, (ast.Name, ast.Constant)):
                stack += ast.iter_child_nodes(node)
        return not self._named.isdisjoint(self._from_nn)

    def _says(self, word: str) -> bool:
        return word in _SAYING or word in self._modules or "Module" in word

    def _name(self, node: ast.Name) -> bool:
        self._named.add(node.id)
        return self._says(node.id)

    def _attribute(self, node: ast.Attribute) -> bool:
        if node.attr == "modules" and isinstance(node.value, ast.Name) and node.value.id == "sys":
            return False
        # `from torch import nn` is said by its name, `torch.nn` that is handed on by its attribute.
        self._named.add(node.attr)
        return self._says(node.attr)

    def _constant(self, node: ast.Constant) -> bool:
        return isinstance(node.value, str) and self._says(node.value)

    def _keyword(self, node: ast.keyword) -> bool:
        is_off = isinstance(node.value, ast.Constant) and node.value.value is False
        return node.arg == "requires_grad" and not is_off

    def _import_from(self, node: ast.ImportFrom) -> bool:
        inside = "nn" in (node.module or "").split(".")
        for alias in node.names:
            if alias.name in _SAYING or (alias.asname is not None and self._says(alias.name)):
                return True
            if inside or alias.name == "nn":
                self._from_nn.add(alias.asname or alias.name)
        return False

    def _import(self, node: ast.Import) -> None:
        self._from_nn.update(a.asname for a in node.names if a.asname is not None and "nn" in a.name.split("."))

    def _subscript(self, node: ast.Subscript) -> bool:
        return isinstance(node.value, ast.Attribute) and node.value.attr == "data"


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if is_text else body
