"""The words at which history begins, or a graph is walked, as they stand in a program.

Apart from all that knows what they mean, so that what only looks for words loads nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

EVIDENCE = frozenset(
    """
    parameters named_parameters train eval state_dict load_state_dict modules named_modules children named_children
    """.split()
)
"""What only modules are asked for: an object that is asked is one."""
DIFFERENTIATIONS = frozenset({"backward", "manual_backward", "training_step"})
BY_STRING = frozenset({"getattr", "setattr", "methodcaller", "attrgetter"})
TESTS = frozenset({"isinstance", "issubclass"})


def words_in(node: ast.AST) -> Iterator[str]:
    """The names, attributes and strings of an expression."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Attribute):
            yield inner.attr
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value


def names_loader(node: ast.AST) -> bool:
    """Whether an expression says that it goes through a loader: `enumerate(self.val_loader)`."""
    return any(word.lower().endswith("loader") for word in words_in(node))
