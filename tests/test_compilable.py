"""The machine can be compiled by mypyc, and does then what it does in Python.

Whether it does, `python -m tests.compiled` tells, which takes minutes. Here stands what mypyc accepts, but does not do
as Python does: https://mypyc.readthedocs.io/en/latest/differences_from_python.html, and what was found out besides.
"""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, TypeGuard

import pytest

ROOT = Path(__file__).parent.parent
TOML: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
BUILD = TOML.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
HOOK = BUILD["targets"]["wheel"]["hooks"]["mypyc"]
COMPILED = sorted({*(ROOT / "autodetach" / "machine").glob("*.py")} - {ROOT / name[1:] for name in HOOK["exclude"]})
GENERATE = """
import sys
from mypyc.build import mypycify
mypycify(sys.argv[2:], target_dir=sys.argv[1], multi_file=True)
"""
ITERATORS = ("Iterator", "Generator", "Iterable")
CLOSED = {"loops.passes", "comprehensions.comprehension"}
"""Generators that all who ask them close by themselves."""


def test_mypyc_accepts_the_machine(tmp_path: Path) -> None:
    """It is translated to C, which is not compiled here."""
    names = [str(path.relative_to(ROOT)) for path in COMPILED]
    line = (sys.executable, "-c", GENERATE, str(tmp_path), *HOOK["mypy-args"], *names)
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list(tmp_path.glob("**/__native_*.c"))) >= len(COMPILED)


def test_what_is_not_compiled_is_there() -> None:
    assert all((ROOT / name[1:]).exists() for name in HOOK["exclude"])


@pytest.mark.parametrize("path", COMPILED, ids=lambda path: path.stem)
def test_nothing_is_done_otherwise(path: Path) -> None:
    """See the functions below."""
    tree = ast.parse(path.read_text())
    found = [unclosed(tree, path.stem), looked_for_in_generators(tree, path.stem), derived(tree), named_only(tree)]
    assert [*chain.from_iterable(found)] == []


def unclosed(tree: ast.Module, module: str) -> Iterator[str]:
    """What a generator has to do at its end is done as soon as nobody asks it any more in Python, and never in C."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or f"{module}.{function.name}" in CLOSED:
            continue
        if any(spelled(each) == "contextmanager" for each in function.decorator_list):
            continue
        for node in filter(is_statement, own(function)):
            at_end = isinstance(node, ast.With) or (isinstance(node, ast.Try) and (node.finalbody or catches_all(node)))
            if at_end and any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in ast.walk(node)):
                yield f"line {node.lineno}: {function.name} may be left in the middle"


def is_statement(node: ast.AST) -> TypeGuard[ast.stmt]:
    return isinstance(node, ast.stmt)


def catches_all(node: ast.Try) -> bool:
    return any(each.type is None or spelled(each.type) in ("BaseException", "GeneratorExit") for each in node.handlers)


def looked_for_in_generators(tree: ast.Module, module: str) -> Iterator[str]:
    """`x in generator` raises in C, where the generator is that of a compiled function."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Compare):
            continue
        for sign, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(sign, (ast.In, ast.NotIn)) and isinstance(right, ast.Call) and gives_iterator(right, module):
                yield f"line {node.lineno}: looks for something in {ast.unparse(right)}"


def derived(tree: ast.Module) -> Iterator[str]:
    """C asks a dict or a list by its own functions, whatever a class that derives from it says."""
    for node in classes(tree):
        if node.name not in PLAIN_VIEWS and any(spelled(base) in ("dict", "list", "set") for base in node.bases):
            yield f"line {node.lineno}: {node.name} derives from a builtin"


def named_only(tree: ast.Module) -> Iterator[str]:
    """A function that is only named in the body of a class becomes no method of it."""
    for each in (statement for node in classes(tree) for statement in node.body):
        is_name = isinstance(each, ast.Assign) and isinstance(each.value, (ast.Name, ast.Attribute))
        if is_name and not ast.unparse(each).endswith(".__hash__"):
            yield f"line {each.lineno}: {ast.unparse(each)}"


def classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def own(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions in it."""
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            pending += ast.iter_child_nodes(node)


def spelled(node: ast.expr) -> str:
    while isinstance(node, (ast.Subscript, ast.Call)):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def gives_iterator(call: ast.Call, module: str) -> bool:
    name = spelled(call.func)
    of_python = isinstance(call.func, ast.Attribute) and spelled(call.func.value) == "ast"
    return not of_python and (module if name.startswith("_") else "", name) in GIVE_ITERATORS


PLAIN_VIEWS = {"_TensorsView", "_ModulesView", "AttributeView"}
"""Kept where any mapping may be: `values.Mapping.items`."""
GIVE_ITERATORS = {
    (path.stem if node.name.startswith("_") else "", node.name)
    for path in COMPILED
    for node in ast.walk(ast.parse(path.read_text()))
    if isinstance(node, ast.FunctionDef) and node.returns is not None and spelled(node.returns) in ITERATORS
}
