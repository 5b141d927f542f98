"""Whether a program can have a finding at all, told by its words: most files cannot, and need not be run, or even read.

The argument, which the tests hold against the machine:

1. Every rule speaks of a differentiation (AD103, AD2xx, AD3xx, AD501), of a value with history (AD101, AD102, AD104,
   AD302, AD305, AD402, AD404), of a leaf (AD304), of `.data` of a scalar (AD401) or of a read of `.grad` (AD303).
2. The machine differentiates where something called `backward` or `manual_backward` is called, where `grad` of
   `torch.autograd` is, and for what a `training_step` returns; nowhere else. The `grad` of a tensor is only read.
3. History begins at a leaf, or at a differentiation. The machine makes a leaf for `requires_grad` in any form, for
   `Variable`, for what `torch.nn` has, for a class with a base of `torch.nn` or called `...Module`, and for an object
   that is seen to be a module since one of `EVIDENCE` is called of it; nowhere else.
4. It learns each of these names from a name, an attribute, a keyword or a string of the program, that is of the file or
   of what it imports, directly or not. So a program without any of these words has no finding.

Where a file has neither `torch` nor `backward` in it, it is likely to have nothing to do with PyTorch, and is not run.
But if it is what is run of a program, whose parts it only puts together, one of the few files that it imports first may
import PyTorch: then it is asked for the words, as all others are.

`in_bytes` looks for the words anywhere; `in_tree` only where they are evaluated: not in comments, docstrings,
annotations, the classes of an `isinstance`, nor where a method is only defined, or looked at where it had to be called.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from autodetach.machine.words import (
    BY_STRING,
    DIFFERENTIATIONS,
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
from autodetach.node_types import FunctionNode

MAX_FILES = 200
MAX_FILES_BEFORE_TORCH = 20
"""Among how many files that are imported, the nearest first, one has to import PyTorch if the first does not."""

_WORDS = re.compile(
    rb"backward|training_step|requires_grad|\bVariable\b|Module|\bnn\b|autograd\b(?!\.(?!grad\b))"
    rb"|[.'\"][\s\\]*(?:parameters|named_parameters|train|eval|state_dict|load_state_dict|modules|named_modules|children"
    rb"|named_children)\b(?![\s\\]*[.\[:=])"
    rb"|\.[\s\\]*data\b[\s)\\]*[\[#]"
)
_OTHERS = re.compile(
    rb"^[ \t]*(?:import|from)[ \t]+(?:caffe|chainer|dynet|jax|mindspore|mxnet|nnabla|paddle|tensorflow|tinygrad)\b",
    re.MULTILINE,
)
"""Other frameworks that differentiate, some of them by a method `backward`."""
_TORCH = re.compile(rb"\b(?:import|from)\b[^\n]*torch")
_RUNS = re.compile(rb"^(?:if[ \t(]+__name__[ \t]*==|(?:for|while|with)\b|[A-Za-z_][\w.]*[ \t]*\()", re.MULTILINE)
"""What is done where a file is run, or imported: a loop, or a call whose result nobody keeps."""
_IMPORT = re.compile(
    rb"\bfrom[ \t\\]+([.\w \t]+?)[ \t\\]+import\b[ \t\\]*(\([^)]*\)?|[^\n;]*)|\bimport\b[ \t\\]*([^\n;]*)"
)
_CALLED = re.compile(
    rb"\b(?:import_module|__import__)[ \t]*\(\s*(?:name\s*=\s*)?['\"]([.\w]+)['\"]"
    rb"(?:\s*,\s*(?:package\s*=\s*)?['\"]([.\w]+)['\"])?"
)
_NAME = re.compile(rb"[.\w]+")
_JOINED = re.compile(rb"\\\r?\n")

_LEAVES = frozenset({"requires_grad", "requires_grad_", "Variable"})
_SAYING = DIFFERENTIATIONS | _LEAVES | EVIDENCE
_IMPORTED = frozenset({"backward", "Variable"})


def may_matter(raw: bytes) -> bool:
    """Whether a file can have anything to do with autograd: cheap, on its bytes.

    One that imports another framework, and nothing with `torch` in its name, means the `backward` of that.
    """
    if b"torch" not in raw and b"backward" not in raw:
        return False
    return _TORCH.search(raw) is not None or _OTHERS.search(raw) is None  # the first is mostly found at once


def in_bytes(raw: bytes) -> bool:
    """Whether any of the words stands in a file."""
    return _WORDS.search(raw) is not None


def imports_in(raw: bytes) -> Iterator[str]:
    """All that a file may import, in the words of `project.Finder.find`: too much rather than too little."""
    if b"import" not in raw:
        return
    for name, package in _CALLED.findall(raw):
        yield name.decode("ascii", "replace")
        if package:
            yield (package + name).decode("ascii", "replace")
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
    """Finds the files that others import, and their bytes; see `autodetach.projects.imports`."""

    def find(self, name: str, importer: str) -> str | None: ...

    def peek(self, path: str) -> bytes | None: ...


def is_idle(
    raw: bytes, path: str, finder: Finder | None, changed: Mapping[str, bytes], tree: ast.Module | None = None
) -> bool:
    """Whether the program of a file cannot have a finding: neither the file nor anything that it imports says a word.

    Of the file at the absolute path, `tree` is looked at if it is given, else its bytes. `changed` has the bytes of
    files that are to be taken instead of what `finder` reads. When in doubt, it is not idle.
    """
    if not may_matter(raw) and (finder is None or not puts_together(raw, path, finder, changed)):
        return True
    if in_bytes(raw) if tree is None else in_tree(tree, imports=finder is not None and b"import" in raw):
        return False
    if finder is None:
        return True
    imported = (finder.find(name, path) for name in imports_in(raw))
    return not says((found for found in imported if found is not None), finder, changed, seen={path})


def puts_together(raw: bytes, path: str, finder: Finder, changed: Mapping[str, bytes]) -> bool:
    """Whether a file without a word of PyTorch runs a program whose other files, those near to it, import it."""
    if b"import" not in raw or _RUNS.search(raw) is None or _OTHERS.search(raw) is not None:
        return False
    known = {path}
    pending = deque([(raw, path)])
    while pending:
        text, importer = pending.popleft()
        for name in imports_in(text):
            found = finder.find(name, importer)
            if found is None or found in known:
                continue
            if len(known) > MAX_FILES_BEFORE_TORCH:
                return False
            known.add(found)
            imported = changed[found] if found in changed else finder.peek(found)
            if imported is not None and _TORCH.search(imported) is not None:
                return True
            pending.append((imported or b"", found))
    return False


def says(paths: Iterable[str], finder: Finder, changed: Mapping[str, bytes], *, seen: Iterable[str] = ()) -> bool:
    """Whether any of the words stands in some files, or in what they import, directly or not; none in those `seen`."""
    known = set(seen)
    pending = list(paths)
    while pending:
        path = pending.pop()
        if path in known:
            continue
        known.add(path)
        raw = changed[path] if path in changed else finder.peek(path)
        if raw is None or len(known) > MAX_FILES or in_bytes(raw):
            return True
        pending += (found for name in imports_in(raw) if (found := finder.find(name, path)) is not None)
    return False


def in_tree(tree: ast.Module, *, imports: bool = False) -> bool:
    """Whether any of the words is evaluated in a file; with `imports`, others may look up what it has in strings."""
    from autodetach.machine.torch_modules import MODULES

    look = _Look(frozenset(MODULES))
    return look.at(tree) or (imports and look.strings)


class _Look:
    """One look at a file. What depends on the whole of it is put together at the end: see `at`."""

    def __init__(self, modules: frozenset[str]) -> None:
        self._modules = (modules - {"Module"}) | {"Parameter"}
        # What is imported from `torch.nn`, or is called `autograd`; what is named otherwise than in front of a dot, or
        # in front of `grad`; what classes derive from.
        self._from_torch: set[str] = set(IN_FRONT)
        self._named: set[str] = set()
        self._bases: set[str] = set()
        # Strings that are names of what matters, which count where something looks attributes up by strings.
        self.strings = False

    def at(self, tree: ast.Module) -> bool:
        """Whether something that matters is evaluated."""
        stack: list[ast.AST] = [tree]
        asked: dict[type[ast.AST], Callable[..., bool | None]] = {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Constant: self._constant,
            ast.keyword: self._keyword,
            ast.ImportFrom: self._import_from,
            ast.Import: self._import,
            ast.Dict: self._dict,
            ast.Subscript: self._subscript,
            ast.Assign: self._assign,
            ast.ClassDef: self._class,
            ast.FunctionDef: _is_called_by_trainers,
            ast.AsyncFunctionDef: _is_called_by_trainers,
        }
        evaluated: dict[type[ast.AST], Callable[..., Sequence[ast.AST]]] = {
            ast.Name: _nothing,
            ast.Attribute: _in_attribute,
            ast.Constant: _nothing,
            ast.ClassDef: _in_class,
            ast.FunctionDef: _in_function,
            ast.AsyncFunctionDef: _in_function,
            ast.AnnAssign: _in_annotated,
            ast.Call: self._in_call,
        }
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind in asked and asked[kind](node):
                return True
            stack += evaluated[kind](node) if kind in evaluated else reached(node)
        return (
            not self._named.isdisjoint(self._from_torch)
            or not self._bases.isdisjoint(self._from_torch)
            or (self.strings and not self._named.isdisjoint(BY_STRING))
        )

    def _in_call(self, node: ast.Call) -> list[ast.AST]:
        if isinstance(node.func, ast.Name) and node.func.id in TESTS:
            return [*node.args[:1]]
        word = looked_up(node)
        return reached(node) if word is None or self._tells(word) else [*node.args]

    def _tells(self, string: str) -> bool:
        """Whether a string is a name that matters where attributes are looked up by strings."""
        return string in _SAYING or string in self._modules

    def _name(self, node: ast.Name) -> bool:
        self._named.add(node.id)
        return node.id in self._modules or node.id == "Variable"

    def _attribute(self, node: ast.Attribute) -> bool:
        word = node.attr
        if is_of_python(node):
            return False
        if word in ("nn", "autograd", "methodcaller", "attrgetter"):
            self._named.add(word)
        if word == "grad":
            self._named.add(grad_of(node))
        if word == "requires_grad":
            return not isinstance(node.ctx, ast.Load)
        return (word in _SAYING and isinstance(node.ctx, ast.Load)) or word in self._modules

    def _constant(self, node: ast.Constant) -> None:
        """Note a name that may be looked up by a string; in a table, `{"requires_grad": True}`, it is given by that."""
        if isinstance(node.value, str):
            self.strings |= self._tells(node.value)

    def _keyword(self, node: ast.keyword) -> bool:
        """Whether a leaf is made."""
        is_off = isinstance(node.value, ast.Constant) and node.value.value is False
        return node.arg == "requires_grad" and not (is_off or is_copied(node.value))

    def _import_from(self, node: ast.ImportFrom) -> bool:
        parts = (node.module or "").split(".")
        for alias in node.names:
            if alias.name in _IMPORTED or (alias.name == "*" and ("autograd" in parts or "torch" in parts)):
                return True
            if alias.asname is not None and (alias.name in self._modules or "Module" in alias.name):
                return True
            is_grad = alias.name == "grad" and "autograd" in parts
            if is_grad or is_class_of_nn(parts, alias.name) or alias.name in IN_FRONT:
                self._from_torch.add(alias.asname or alias.name)
        return False

    def _import(self, node: ast.Import) -> None:
        self._from_torch.update(
            a.asname for a in node.names if a.asname is not None and not IN_FRONT.isdisjoint(a.name.split("."))
        )

    def _dict(self, node: ast.Dict) -> bool:
        return any(_is_requires_grad(key) for key in node.keys)

    def _subscript(self, node: ast.Subscript) -> bool:
        is_given = _is_requires_grad(node.slice) and not isinstance(node.ctx, ast.Load)
        return is_given or (isinstance(node.value, ast.Attribute) and node.value.attr == "data")

    def _assign(self, node: ast.Assign) -> bool:
        """Whether a class of modules gets another name."""
        names = (word for word in words_in(node.value) if " " not in word)
        return not isinstance(node.value, ast.Call) and any("Module" in name for name in names)

    def _class(self, node: ast.ClassDef) -> bool:
        words = {word for base in (*node.bases, *node.keywords) for word in words_in(base)}
        self._bases |= words - {"autograd"}  # a `torch.autograd.Function` begins no history
        return any("Module" in word for word in words)


def _is_requires_grad(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value == "requires_grad"


def _is_called_by_trainers(node: FunctionNode) -> bool:
    return node.name == "training_step"


def _nothing(node: ast.AST) -> tuple[ast.AST, ...]:
    return ()


def _in_attribute(node: ast.Attribute) -> tuple[ast.AST, ...]:
    owner = owner_of(node)
    return () if isinstance(owner, ast.Name) else (owner,)


def _in_class(node: ast.ClassDef) -> list[ast.AST]:
    return [*node.bases, *node.keywords, *node.decorator_list, *_without_docstring(node.body)]


def _in_function(node: FunctionNode) -> list[ast.AST]:
    defaults = [default for default in node.args.kw_defaults if default is not None]
    return [*node.decorator_list, *node.args.defaults, *defaults, *_without_docstring(node.body)]


def _in_annotated(node: ast.AnnAssign) -> list[ast.AST]:
    return [node.target] if node.value is None else [node.target, node.value]


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if is_text else body
