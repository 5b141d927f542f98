"""Whether a program may compute with numbers of 16 bits: a sum of its tensors is rounded to these, and one of Python's
numbers is not.

https://docs.pytorch.org/docs/stable/amp.html
"""

from __future__ import annotations

import ast
import re

from autodetach.kept import kept
from autodetach.machine.children import walk
from autodetach.once import once
from autodetach.view.program import Program

_NAMED = re.compile(r"(?i)(?<![a-z])(bfloat16|float16|bf16|fp16|half|halftensor|16-(mixed|true))(?![a-z0-9])")
_MIXED = re.compile(r"(?i)autocast|gradscaler|bfloat16|(?<![a-z])amp(?![a-z])")


@once
def may_be_half(program: Program) -> bool:
    """Whether a file in view names a type of 16 bits, or mixed precision."""
    return any(_names_half(tree) for tree in program.analysis.trees)


@kept
def _names_half(tree: ast.Module) -> bool:
    return any(_is_half(node) for node in walk(tree))


def _is_half(node: ast.AST) -> bool:
    if isinstance(node, ast.keyword):
        is_16 = isinstance(node.value, ast.Constant) and node.value.value == 16
        return (node.arg == "precision" and is_16) or _says(node.arg or "", is_name=True)
    if isinstance(node, ast.Attribute):
        return _says(node.attr)
    if isinstance(node, ast.Name):
        return _says(node.id, is_name=True)
    if isinstance(node, ast.alias):
        return any(_says(word) for word in node.name.split("."))
    if isinstance(node, ast.ImportFrom):
        return any(_says(word, is_name=True) for word in (node.module or "").split("."))
    text = node.value if isinstance(node, ast.Constant) else None
    return isinstance(text, str) and len(text) < 40 and _says(text, is_name=text != "half")


def _says(word: str, *, is_name: bool = False) -> bool:
    """Whether a word says so; in a name, or a sentence, `half` says that something is divided by two."""
    if _MIXED.search(word):
        return True
    found = _NAMED.search(word)
    return found is not None and not (is_name and found[1].lower() == "half")
