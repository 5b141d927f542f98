"""A statement replaced by others, given as text."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import dataclass
from functools import partial

from autodetach.codemods.tree import Refused, Tree, split_lines
from autodetach.source import Edit

LOOSE = (ast.IfExp, ast.BoolOp, ast.Compare, ast.Lambda, ast.NamedExpr, ast.Yield, ast.YieldFrom)
LOOSE_OPERATORS = (ast.Not, ast.LShift, ast.RShift, ast.BitAnd, ast.BitXor, ast.BitOr)
_HOLE = re.compile(r"\{(\d+)\}")
_NAMED = re.compile(r"\s*[\w.]+ = ")


@dataclass(frozen=True, eq=False, slots=True)
class ReplaceStatement:
    """Replace a statement by `text` (lines without indentation); an empty text removes its line.

    `{0}`, `{1}`, ... in the text stand for `parts` as they are written in the source, in parentheses where they need
    them. Comments inside of the statement stay, above it.
    """

    statement: ast.stmt
    text: str
    parts: tuple[ast.expr, ...] = ()

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        source = tree.source
        start, end = tree.span(self.statement)
        crowded = tree.company(self.statement) != "none"
        text = self.text
        if crowded and ("\n" in text or not text):
            raise Refused("the statement shares its line with others")
        if not text:
            first, last = source.position(start).line, source.position(end).line
            return (Edit(source.line_span(first).start, source.line_span(last).end, ""),)
        indent = source.indent_of(source.position(start).line)
        body = text.replace("\n", f"\n{indent}")
        comments = self._comments(tree, start, end)
        if comments and crowded:
            raise Refused("a comment in the statement has no line to go to")
        body = "".join(f"{comment}\n{indent}" for comment in comments) + _HOLE.sub(partial(self._filled, tree), body)
        return (Edit(start, end, body),)

    def _filled(self, tree: Tree, hole: re.Match[str]) -> str:
        part = self.parts[int(hole[1])]
        text, before, after = tree.text(part), hole.string[: hole.start()], hole.string[hole.end() :]
        if before.endswith("(") and after.startswith(")"):
            return text
        if _NAMED.fullmatch(before.rpartition("\n")[2]) and after[:1] in ("", "\n"):
            loose = len(text.splitlines()) > 1 and isinstance(part, (ast.BinOp, *LOOSE))
        else:
            loose = isinstance(part, LOOSE) or isinstance(getattr(part, "op", None), LOOSE_OPERATORS)
        return f"({text})" if loose else text

    def _comments(self, tree: Tree, start: int, end: int) -> list[str]:
        """The comments inside of the statement, but for those in the parts. Raises Refused."""
        source = tree.source
        if b"#" not in source.raw[start:end]:
            return []
        kept = [tree.span(part) for part in self.parts]
        text = source.raw[start:end].decode(source.encoding)
        found = []
        try:
            for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
                if token.type == tokenize.COMMENT:
                    line, column = token.start
                    before = "".join(split_lines(text)[: line - 1])
                    at = start + len((before + token.line[:column]).encode(source.encoding))
                    if not any(first <= at < last for first, last in kept):
                        found.append(token.string)
        except (tokenize.TokenError, SyntaxError) as error:
            raise Refused("the comments of the statement were not found") from error
        return found
