"""`w = w - lr * w.grad` -> `with torch.no_grad():` / `w -= lr * w.grad`."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods.move_statements import inside_strings, reindented
from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class UpdateInPlace:
    """Turn consecutive assignments `x = x + ...` into in-place ones.

    `wrap` puts them into a `torch.no_grad()` block; `forget` are texts of parameters whose `.grad` is set to None
    behind it.
    """

    statements: tuple[ast.Assign, ...]
    wrap: bool
    forget: tuple[str, ...] = ()

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        if not self.wrap:
            return tuple(edit for s in self.statements for edit in self._in_place(tree, s))
        source = tree.source
        first, last = self.statements[0], self.statements[-1]
        for s in self.statements:
            if tree.company(s) != "none":
                raise Refused("a statement shares its line with others")
        begin = source.line_span(tree.line(first)).start
        stop = source.line_span(source.position(tree.span(last)[1]).line).end
        indent = source.indent_of(tree.line(first))
        text = source.raw[begin:stop].decode(source.encoding)
        changes = [e for s in self.statements for e in self._in_place(tree, s)]
        for e in sorted(changes, key=lambda e: -e.start):
            at = len(source.raw[begin : e.start].decode(source.encoding))
            to = len(source.raw[begin : e.end].decode(source.encoding))
            text = text[:at] + e.replacement + text[to:]
        strings = {n for s in self.statements for n in inside_strings(s, first.lineno)}
        body = reindented(text, indent, indent + tree.unit(first), strings)
        if not body.endswith(("\n", "\r")):
            body += "\n"
        block = f"{indent}with torch.no_grad():\n{body}" + "".join(
            f"{indent}{name}.grad = None\n" for name in self.forget
        )
        if not text.endswith(("\n", "\r")):
            block = block[:-1]
        return (Edit(begin, stop, block),)

    def _in_place(self, tree: Tree, statement: ast.Assign) -> tuple[Edit, ...]:
        """`w = w - x` -> `w -= x`: the second `w`, the operator and the white space around it go."""
        source = tree.source
        value = statement.value
        if not isinstance(value, ast.BinOp) or not isinstance(value.op, (ast.Add, ast.Sub)):
            raise Refused("not a sum")
        target_end = tree.span(statement.targets[0])[1]
        left_end = tree.span(value.left)[1]
        rest = source.raw[left_end:].decode(source.encoding)
        stripped = rest.lstrip(" \t")
        sign = "+" if isinstance(value.op, ast.Add) else "-"
        if not stripped.startswith(sign) or source.position(target_end).line != source.position(left_end).line:
            raise Refused("a comment or a line break stands before the operator")
        after = stripped[1:].lstrip(" \t")
        end = left_end + len(rest[: len(rest) - len(after)].encode(source.encoding))
        return (Edit(target_end, end, f" {sign}= "),)
