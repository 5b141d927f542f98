"""The syntax tree of a text that is being edited: what an edit does not touch stays, and is moved to where it now is.

An edit touches a statement or two of one block. Only these are parsed again, in a text that has them where they are;
all others keep their nodes, and whatever is kept with these need not be found out again.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from autodetach.incremental.reparse import common_lines, end_of, ends_its_line, start_of
from autodetach.kept import forget, kept
from autodetach.source import Source

BLOCKS = ("body", "orelse", "finalbody")
HOLDERS = ("handlers", "cases")
"""Fields whose items have blocks themselves."""


@dataclass(frozen=True, slots=True)
class Patch:
    """What an edit does to a tree: `fresh` in the place of `block[begin:stop]`; the nodes of `around` lead there.

    Whatever begins behind the line `cut` moves by `moves` lines.
    """

    around: tuple[ast.AST, ...]
    block: list[ast.stmt]
    begin: int
    stop: int
    fresh: list[ast.stmt]
    cut: int
    moves: int

    @property
    def old(self) -> list[ast.stmt]:
        return self.block[self.begin : self.stop]

    def make_room(self) -> None:
        """Move what stands behind the edit."""
        for node in self.around:
            forget(node, _placed)
        if self.moves:
            inside = set(self.around)
            for node in self.around:
                for child in _parts(node, inside):
                    if getattr(child, "lineno", 0) > self.cut:
                        move(child, self.moves)

    def put(self, statements: list[ast.stmt]) -> None:
        """Put statements into the block where room was made: the fresh ones, or others that have their places."""
        is_end = self.stop == len(self.block)
        self.block[self.begin : self.stop] = statements
        if not self.block:
            return  # nothing is left of the module
        last: ast.AST = self.block[-1]
        inner = last
        for node in reversed(self.around[1:]):
            is_end = is_end and inner is _last(node)
            if isinstance(node, ast.match_case):
                continue  # has no place of its own
            if is_end:
                node.end_lineno, node.end_col_offset = last.end_lineno, last.end_col_offset  # type: ignore[attr-defined]
            else:
                node.end_lineno += self.moves  # type: ignore[attr-defined]
            inner = node


def followed(tree: ast.Module, old: Source, new: Source) -> Patch | None:
    """What makes the tree of `new` of that of `old`; None where the text must be parsed as a whole."""
    if old.bom or new.bom or old.encoding != new.encoding or not tree.body:
        return None
    before, after = old.raw.splitlines(keepends=True), new.raw.splitlines(keepends=True)
    head, tail = common_lines(before, after)
    ways = list(_ways(tree, before, head, len(before) - tail))
    for around, block in reversed(ways):
        patch = _patch(around, block, before, after, head, tail, new)
        if patch is not None:
            return patch
    return None


def _ways(
    tree: ast.Module, before: list[bytes], head: int, hi: int
) -> Iterator[tuple[tuple[ast.AST, ...], list[ast.stmt]]]:
    """The blocks around the lines behind `head` up to `hi`, outermost first, each with the nodes that lead there."""
    around: tuple[ast.AST, ...] = (tree,)
    block: list[ast.stmt] | None = tree.body
    while block is not None:
        yield around, block
        inner, block = block, None
        for owner in inner:
            if start_of(owner) <= head and end_of(owner) >= hi:
                for steps, found in _blocks(owner):
                    first = found[0]
                    if _begins_its_line(first, before) and start_of(first) - 1 <= head and end_of(found[-1]) >= hi:
                        around, block = (*around, *steps), found


def _begins_its_line(statement: ast.stmt, lines: list[bytes]) -> bool:
    """Whether nothing stands before a statement, on its own line or, by a backslash, on the one that this continues."""
    at = start_of(statement) - 1
    is_continued = at > 0 and lines[at - 1].rstrip(b"\r\n").endswith(b"\\")
    return not is_continued and not lines[at][: statement.col_offset].strip()


def _blocks(owner: ast.stmt) -> Iterator[tuple[tuple[ast.AST, ...], list[ast.stmt]]]:
    for name in BLOCKS:
        block = getattr(owner, name, None)
        # An `elif` is a statement in a block of its own, and begins no line of it.
        if isinstance(block, list) and block and not _is_elif(owner, name, block):
            yield (owner,), block
    for name in HOLDERS:
        for holder in getattr(owner, name, ()):
            yield (owner, holder), holder.body


def _is_elif(owner: ast.stmt, name: str, block: list[ast.stmt]) -> bool:
    return name == "orelse" and isinstance(owner, ast.If) and block[0].col_offset == owner.col_offset


def _patch(
    around: tuple[ast.AST, ...],
    block: list[ast.stmt],
    before: list[bytes],
    after: list[bytes],
    head: int,
    tail: int,
    new: Source,
) -> Patch | None:
    hi = len(before) - tail
    begin = 0
    while begin < len(block) and end_of(block[begin]) <= head:
        begin += 1
    while begin and not ends_its_line(block, begin - 1, before):
        begin -= 1
    stop = len(block)
    while stop > begin and start_of(block[stop - 1]) > hi:
        stop -= 1
    while stop < len(block) and stop and not ends_its_line(block, stop - 1, before):
        stop += 1
    if stop < len(block) and not _begins_its_line(block[stop], before):
        return None  # a backslash over it may be what the edit takes away
    is_nested = len(around) > 1
    for first in (begin, begin - 1):  # what is written behind a statement may belong to it
        if first < 0 or (first < begin and not ends_its_line(block, first - 1, before)):
            break
        above = end_of(block[first - 1]) if first else start_of(block[0]) - 1 if is_nested else 0
        if stop < len(block):
            cut = start_of(block[stop]) - 1
        else:
            cut = max(end_of(block[-1]), hi) if is_nested else len(before)
        if above > head or (above and before[above - 1].rstrip(b"\r\n").endswith(b"\\")):
            return None
        lines = after[above : len(after) - (len(before) - cut)]
        indent = before[start_of(block[0]) - 1][: block[0].col_offset]
        fresh = _parsed(lines, above, indent if is_nested else None, new)
        if not fresh and is_nested and stop == len(block):
            # The block ends with what stood over the lines, and with the semicolon behind it.
            fresh = None if not first or b";" in before[above - 1] else fresh
        if fresh is not None:
            return Patch(around, block, first, stop, fresh, cut, len(after) - len(before))
    return None


def _parsed(lines: list[bytes], above: int, indent: bytes | None, new: Source) -> list[ast.stmt] | None:
    """The statements in some lines, `above` lines being over them; indented by `indent`, if they stand in a block."""
    if all(not line.strip() or line.lstrip().startswith(b"#") for line in lines):
        return []
    if indent is not None and any(b";" in line for line in lines):
        return None  # what ends with such a line may end behind the semicolon
    text = b"".join(lines).decode(new.encoding)
    text = "\n" * above + text if indent is None else "\n" * (above - 1) + "if 1:\n" + text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ast.parse(text, new.path).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None  # as a whole it may be right, or the error is told with its place
    if indent is None:
        return found
    (first, *more) = found
    if more or not isinstance(first, ast.If) or first.orelse:
        return None
    is_alike = all(lines[start_of(one) - above - 1][: one.col_offset].endswith(indent) for one in first.body[:1])
    return first.body if is_alike and first.body[0].col_offset == len(indent) else None


def _parts(node: ast.AST, inside: set[ast.AST]) -> Iterator[ast.AST]:
    """What stands in a node, and has a place; but for what is `inside`."""
    for child in ast.iter_child_nodes(node):
        if child in inside:
            continue
        if hasattr(child, "lineno"):
            yield child
        else:
            yield from _parts(child, inside)


def _last(node: ast.AST) -> ast.AST | None:
    """The last statement, or handler, in a node with blocks."""
    for name in ("finalbody", "orelse", "handlers", "cases", "body"):
        items = getattr(node, name, None)
        if isinstance(items, list) and items:
            last: ast.AST = items[-1]
            return last.body[-1] if isinstance(last, ast.match_case) else last
    return None


def move(node: ast.AST, lines: int) -> None:
    """Move a node, and all that stands in it, some lines down."""
    for one in _placed(node):
        one.lineno += lines  # type: ignore[attr-defined]
        one.end_lineno += lines  # type: ignore[attr-defined]


@kept
def _placed(node: ast.AST) -> list[ast.AST]:
    """All nodes with a place in a node; kept, since one edit comes after the other."""
    found, pending = list[ast.AST](), [node]
    while pending:
        at = pending.pop()
        if hasattr(at, "lineno"):
            found.append(at)
        pending += ast.iter_child_nodes(at)
    return found
