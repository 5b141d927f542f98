"""The syntax tree of an edited text: of the statements that the edit does not touch, those of the first tree.

An edit touches one statement of a module or two. The others are shared with the tree of the first text, lines included,
which therefore are those of the first text; whatever is kept with them need not be found out again.
"""

from __future__ import annotations

import ast
import warnings

from autodetach.source import Source


def reparsed(tree: ast.Module, old: Source, new: Source, first: int = 0) -> ast.Module | None:
    """The tree of `new`, given that of `old` (lines `first` ahead); None where it must be parsed as a whole."""
    if old.bom or new.bom or old.encoding != new.encoding:
        return None
    before, after = old.raw.splitlines(keepends=True), new.raw.splitlines(keepends=True)
    head, tail = common_lines(before, after)
    body = tree.body
    begin = 0
    while begin < len(body) and end_of(body[begin], first) <= head:
        begin += 1
    while begin and not ends_its_line(body, begin - 1, before, first):
        begin -= 1
    stop = len(body)
    while stop > begin and start_of(body[stop - 1], first) > len(before) - tail:
        stop -= 1
    while stop < len(body) and stop and not ends_its_line(body, stop - 1, before, first):
        stop += 1
    above = end_of(body[begin - 1], first) if begin else 0
    below = len(before) - start_of(body[stop], first) + 1 if stop < len(body) else 0
    text = b"".join(after[above : len(after) - below]).decode(new.encoding)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Empty lines are read in no time; to count up the lines of all nodes takes longer than to parse.
            between = ast.parse("\n" * above + text, new.path)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None  # as a whole it may be right, or the error is told with its place
    if first:
        ast.increment_lineno(between, first)
    return ast.Module([*body[:begin], *between.body, *body[stop:]], [])


def common_lines(before: list[bytes], after: list[bytes]) -> tuple[int, int]:
    """How many lines two texts have in common at their beginning, and of the rest at their end."""
    head, limit = 0, min(len(before), len(after))
    while head < limit and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < limit - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return head, tail


def start_of(statement: ast.stmt, first: int = 0) -> int:
    """The line in which a statement begins, decorators included, `first` lines being ahead."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(d.lineno for d in decorators)]) - first


def end_of(statement: ast.stmt, first: int = 0) -> int:
    """The line in which a statement ends."""
    return (statement.end_lineno or statement.lineno) - first


def ends_its_line(body: list[ast.stmt], at: int, lines: list[bytes], first: int = 0) -> bool:
    """Whether the line in which a statement ends goes on with no other one, nor in the next line."""
    end = end_of(body[at], first)
    alone = at + 1 == len(body) or start_of(body[at + 1], first) > end
    return alone and not lines[end - 1].rstrip(b"\r\n").endswith(b"\\")
