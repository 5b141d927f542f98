"""Which names may mean the same memory as others, by what binds them: `base = torch.from_numpy(array)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.spelling import is_dotted, last_word, spelled
from autodetach.node_types import LOOPS
from autodetach.view.kept import LITERALS, is_sharing
from autodetach.view.program import Program, targets_of

HANDING_ON = frozenset(
    "buffers children enumerate get items iter keys modules parameters reversed values vars zip".split()
)
"""What gives parts of what it is called on, or is given."""


def names_of_same_memory(program: Program, home: ast.AST, begin: set[str]) -> set[str]:
    """The names and attributes, as they are written, that share memory with some in the block of a function or file."""
    pairs: list[tuple[str, str]] = []
    for node in ast.walk(home):
        for target, value in _bound(node):
            if program.scope(target) is home:
                pairs += [(spelled(target), spelled(source)) for source in memory_of(value)]
    imported = {
        alias.asname or alias.name.partition(".")[0]
        for s in ast.walk(program.file_of(home))
        if isinstance(s, (ast.Import, ast.ImportFrom))
        for alias in s.names
    }
    pairs = [(a, b) for a, b in pairs if b.partition(".")[0] not in imported]
    found = set(begin)
    while more := {b if a in found else a for a, b in pairs if (a in found) is not (b in found)}:
        found |= more
    return found - begin


def _bound(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a statement binds, with the value; of what a loop goes through, the whole."""
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        for target in targets_of(node):
            yield from _each(target, node.value)
    elif isinstance(node, ast.NamedExpr):
        yield node.target, node.value
    elif isinstance(node, LOOPS) and not isinstance(node, ast.While):
        yield from _each(node.target, node.iter)


def _each(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(target, (ast.Tuple, ast.List)):
        pairwise = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
        for n, part in enumerate(target.elts):
            yield from _each(part, value.elts[n] if pairwise and isinstance(value, (ast.Tuple, ast.List)) else value)
    elif is_dotted(target):
        yield target, value


def memory_of(value: ast.expr) -> Iterator[ast.expr]:
    """The names and attributes whose memory, or that of their parts, an expression may hand on."""
    if is_dotted(value):
        yield value
        if isinstance(value, ast.Attribute) and (value.attr == "__dict__" or is_sharing(value.attr)):
            yield from memory_of(value.value)
    elif isinstance(value, (ast.Subscript, ast.Starred, ast.NamedExpr, ast.Attribute)):
        yield from memory_of(value.value)
    elif isinstance(value, LITERALS):
        for part in ast.iter_child_nodes(value):
            if isinstance(part, ast.expr):
                yield from memory_of(part)
    elif isinstance(value, ast.IfExp):
        yield from memory_of(value.body)
        yield from memory_of(value.orelse)
    elif isinstance(value, ast.Call) and ((name := last_word(value.func)) in HANDING_ON or is_sharing(name)):
        for given in value.args:
            yield from memory_of(given)
        if isinstance(value.func, ast.Attribute):
            yield from memory_of(value.func.value)
