"""Programs from before Python 3.7, in which `async` was an ordinary name, as in `x.cuda(async=True)` of PyTorch 0.3."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from itertools import pairwise

NAME = "async"
MESSAGE = f"`{NAME}` is a keyword since Python 3.7, and is read as a name here: nothing newer runs this file"
_STAND_IN = "asynC"  # as long, so that all columns are what they were
_KEYWORD_OF = frozenset({"def", "for", "with"})
_HAS_NAME = "_autodetach.old_names"
"""Of a statement: it has such a name, or had one before it was edited."""


def parsed(text: str, path: str = "<unknown>") -> ast.Module:
    """The tree of a program, whatever Python 3 it is for. Raises what `ast.parse` raises of it as it stands."""
    try:
        return ast.parse(text, path)
    except SyntaxError as error:
        try:
            tree = ast.parse(readable(text), path)
        except SyntaxError:
            raise error from None
    renamed = {node for node in ast.walk(tree) if _rename(node)}
    for statement in (node for node in ast.walk(tree) if isinstance(node, ast.stmt)):
        if not renamed.isdisjoint(ast.walk(statement)):
            setattr(statement, _HAS_NAME, True)
    return tree


def _rename(node: ast.AST) -> bool:
    """Give the name back that `readable` has taken, if a node has it."""
    is_found = False
    for field, value in ast.iter_fields(node):
        if isinstance(value, str) and _STAND_IN in value:
            setattr(node, field, value.replace(_STAND_IN, NAME))
            is_found = True
        elif isinstance(value, list) and _STAND_IN in value:  # `global async`
            value[:] = [NAME if name == _STAND_IN else name for name in value]
            is_found = True
    return is_found


def readable(text: str) -> str:
    """The program with another name for `async` where that is one, or itself: columns stay what they are."""
    if NAME not in text or _STAND_IN in text:
        return text
    import io
    import tokenize

    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text, newline="").readline))
    except (tokenize.TokenError, SyntaxError):
        return text
    at = [
        token.start
        for token, following in pairwise(tokens)
        if token.type == tokenize.NAME and token.string == NAME and following.string not in _KEYWORD_OF
    ]
    lines = io.StringIO(text, newline="").readlines()
    for line, column in at:
        old = lines[line - 1]
        lines[line - 1] = f"{old[:column]}{_STAND_IN}{old[column + len(NAME) :]}"
    return "".join(lines) if at else text


def first_line(tree: ast.Module) -> int | None:
    """The line, from 1, in which `async` first is a name, as no Python from 3.7 on reads it; None if it nowhere is.

    What `parsed` has read as it stands has none; where that is edited, what is read anew has none, either.
    """
    nodes = (node for one in tree.body if hasattr(one, _HAS_NAME) for node in ast.walk(one))
    named = (node for node in nodes if not isinstance(node, ast.Constant) and _names_it(node))
    return min((getattr(node, "lineno", 1) for node in named), default=None)


def hand_on(edited: ast.AST, around: Iterable[ast.AST]) -> None:
    """Have what is around the body of a function be looked through, if that is now the one of `edited`, with names."""
    if hasattr(edited, _HAS_NAME):
        for node in around:
            setattr(node, _HAS_NAME, True)


def _names_it(node: ast.AST) -> bool:
    return any(value == NAME or (isinstance(value, list) and NAME in value) for _, value in ast.iter_fields(node))
