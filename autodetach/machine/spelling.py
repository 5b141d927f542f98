"""The text of a syntax node, as `ast` writes it."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any

from autodetach.kept import keep, kept
from autodetach.machine.children import nodes_in

DEEP = 100
"""Levels of an expression, of one that is too deep to be written, that are written all the same."""

_ALIKE = frozenset({ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.UnaryOp, ast.Compare, ast.List, ast.Dict})
"""What is written in a call as it is by itself."""


@kept
def spelled(node: ast.AST) -> str:
    """The text of an expression or a statement, the same with all Pythons; of anything else, the name of its kind."""
    return _written(node) if isinstance(node, (ast.expr, ast.stmt)) else type(node).__name__


def last_word(callee: ast.expr) -> str:
    """`step` of `optimizer.step` and of `step`; nothing of what has no name."""
    return callee.attr if isinstance(callee, ast.Attribute) else callee.id if isinstance(callee, ast.Name) else ""


def root_of(node: ast.expr) -> ast.expr:
    """`self` of `self.losses[0]`, `torch` of `torch.mean(x)`."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node


def arguments_of(call: ast.Call) -> list[ast.expr]:
    """What a call is given, by place and by name; what `*` and `**` spread, as a whole."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def called_name(expression: ast.expr) -> str:
    """The last word of the name of what an expression calls; nothing where it is no call."""
    return last_word(expression.func) if isinstance(expression, ast.Call) else ""


def names_called(node: ast.AST) -> set[str]:
    """The last words of the names of all that is called in a node; an empty one of what has no name."""
    return {last_word(n.func) for n in nodes_in(node) if isinstance(n, ast.Call)}


def is_dotted(node: ast.AST) -> bool:
    """Whether it is a name, or an attribute of one, `self.net.weight`: nothing that is called."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


IMPORTING = frozenset({"import_module", "__import__"})


def imported_by_call(call: ast.Call) -> str:
    """The dotted name of what `importlib.import_module("lib")` imports, if that is written there; else nothing.

    A name with leading dots is relative to a package that is written behind it, or to that of the file itself.
    https://docs.python.org/3/library/importlib.html#importlib.import_module
    """
    if last_word(call.func) not in IMPORTING:
        return ""
    given = dict(zip(("name", "package"), call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    name, package = given.get("name"), given.get("package")
    if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
        return ""
    if not name.value.startswith("."):
        return name.value
    if isinstance(package, ast.Constant) and isinstance(package.value, str):
        return "" if name.value.startswith("..") else package.value + name.value
    return name.value if isinstance(package, ast.Name) and package.id == "__package__" else ""


def is_none(node: ast.AST | None) -> bool:
    """Whether it is `None`, written out."""
    return isinstance(node, ast.Constant) and node.value is None


def _written(node: ast.AST) -> str:
    try:
        composed = _composed(node)
        text: str = _unparse(node) if composed is None else composed
    # Before 3.12 some f-strings can be read, but not written.
    except ValueError:
        return type(node).__name__
    except RecursionError:
        return _of_parts(node)
    return text


def _composed(node: ast.AST) -> str | None:
    """The text of `a.b(c).d` of those of its parts: all of a long chain would be written anew for each link."""
    links: list[str] = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            links.append("." + node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            given = _given(node)
            if given is None:
                return None
            links.append(given)
            node = node.func
        else:
            return None
    return node.id + "".join(reversed(links))


@kept
def _given(call: ast.Call) -> str | None:
    """The arguments of a call; None where they are written in another way than by themselves."""
    if not all(type(given) in _ALIKE for given in arguments_of(call)):
        return None
    return f"({', '.join([*map(spelled, call.args), *map(_keyword, call.keywords)])})"


def _keyword(keyword: ast.keyword) -> str:
    return f"**{spelled(keyword.value)}" if keyword.arg is None else f"{keyword.arg}={spelled(keyword.value)}"


def _of_parts(node: ast.AST) -> str:
    """In place of a text that is too deep to be written: the same for the same, another for others, and no Python.

    What is deep in it is given such a text as well: to try each of its parts in turn would take the square of its size.
    """
    from hashlib import blake2b

    marks: dict[ast.AST, tuple[int, bytes]] = {}
    for inner in reversed(list(ast.walk(node))):
        plain = [value for _, value in ast.iter_fields(inner) if not isinstance(value, (ast.AST, list))]
        below = [marks[child] for child in ast.iter_child_nodes(inner)]
        depth = 1 + max((depth for depth, _ in below), default=0)
        own = repr((type(inner).__name__, plain, len(below))).encode("utf-8", "surrogatepass")
        mark = blake2b(own + b"".join(mark for _, mark in below), digest_size=8).digest()
        marks[inner] = depth, mark
        if depth > DEEP:
            keep(spelled, inner, f"<{type(inner).__name__} {mark.hex()}>")
    return f"<{type(node).__name__} {marks[node][1].hex()}>"


if TYPE_CHECKING or sys.version_info[:2] == (3, 11) or sys.version_info >= (3, 14):
    _unparse = ast.unparse
elif sys.version_info >= (3, 12):
    # Python 3.12 writes f'{f('a')}', which is the same to it as f"{f('a')}".
    _QUOTES = ("'", '"', '"""', "'''")

    class _AsBefore(ast._Unparser):
        def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
            with self.buffered() as buffer:
                super().visit_JoinedStr(node)
            text = "".join(buffer)
            mark = text[1:4] if text[1:4] in _QUOTES else text[1]
            body = text[1 + len(mark) : -len(mark)]
            if mark in body:
                mark = next((quotes for quotes in _QUOTES if quotes not in body), mark)
            self.write("f", mark, body, mark)

    def _unparse(node: ast.AST) -> str:
        return _AsBefore().visit(node)
else:
    # Python 3.10 writes `for (a, b) in c`, `(a, b) = c` and `lambda : a`.
    _Unparser: Any = ast._Unparser
    _TUPLE = ast._Precedence.TUPLE

    class _AsLater(_Unparser):
        def visit_Assign(self, node: ast.Assign) -> None:
            for target in node.targets:
                self.set_precedence(_TUPLE, target)
            super().visit_Assign(node)

        def _for_helper(self, fill: str, node: ast.For | ast.AsyncFor) -> None:
            self.set_precedence(_TUPLE, node.target)
            super()._for_helper(fill, node)

        def visit_Tuple(self, node: ast.Tuple) -> None:
            with self.delimit_if("(", ")", not node.elts or self.get_precedence(node) > _TUPLE):
                self.items_view(self.traverse, node.elts)

        def visit_Lambda(self, node: ast.Lambda) -> None:
            with self.require_parens(ast._Precedence.TEST, node):
                self.write("lambda")
                self.write(*([" "] if ast.unparse(node.args) else [""]))
                self.traverse(node.args)
                self.write(": ")
                self.set_precedence(ast._Precedence.TEST, node.body)
                self.traverse(node.body)

    def _unparse(node: ast.AST) -> str:
        return _AsLater().visit(node)
