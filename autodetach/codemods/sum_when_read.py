"""A sum to which a method adds a term becomes a property, which adds up the terms of all calls whenever it is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from autodetach.codemods import Codemod
from autodetach.codemods.move_statements import edited, inside_strings, lines_of, reindented
from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class SumWhenRead:
    """`begin` sets the attribute to a zero, the `statements` of `method` make a term and add it, by the last one.

    Instead, the method keeps what it is `given`: its parameters, and how each is written as an element of `kept`, the
    attribute for all calls. The property behind it adds up to `total`, a name. `changes` are made in its zero.
    """

    begin: ast.Assign
    method: ast.FunctionDef
    statements: tuple[ast.stmt, ...]
    given: tuple[tuple[str, str], ...]
    kept: str
    total: str
    changes: tuple[Codemod, ...] = ()

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        source, last = tree.source, self.statements[-1]
        if any(tree.company(statement) != "none" for statement in (self.begin, *self.statements)):
            raise Refused("a statement shares its line with others")
        summed = self.begin.targets[0]
        if not isinstance(summed, ast.Attribute):
            raise Refused("the sum is no attribute")
        for mention in (summed, *_mentions(last, summed)):
            tree.expect(mention)
        outer, inner = source.indent_of(tree.line(self.method)), source.indent_of(tree.line(last))
        deeper = inner + inner.removeprefix(outer)
        this = self.method.args.args[0].arg
        start, stop = lines_of(tree, self.statements[0])[0], lines_of(tree, last)[1]
        zero = edited(source.raw, *tree.span(self.begin.value), _all_edits(tree, self.changes)).decode(source.encoding)
        added = [Edit(*tree.span(mention), self.total) for mention in _mentions(last, summed)]
        text = edited(source.raw, start, stop, added).decode(source.encoding)
        ended = text.endswith(("\n", "\r"))
        first = source.position(start).line - tree.line(self.statements[0]) + self.statements[0].lineno
        protected = {n for s in self.statements for n in inside_strings(s, first)}
        names, values = ", ".join(name for name, _ in self.given), ", ".join(value for _, value in self.given)
        body = reindented(text if ended else text + "\n", inner, deeper, protected)
        new = (
            f"{inner}{this}.{self.kept}.append({values if len(self.given) == 1 else f'({values})'})\n\n"
            f"{outer}@property\n{outer}def {summed.attr}({this}):\n{inner}{self.total} = {zero}\n"
            f"{inner}for {names} in {this}.{self.kept}:\n{body}{inner}return {self.total}\n"
        )
        return (
            Edit(tree.span(summed)[0], tree.span(self.begin)[1], f"{tree.text(summed.value)}.{self.kept} = []"),
            Edit(start, stop, new if ended else new.rstrip("\n")),
        )


def _mentions(statement: ast.stmt, attribute: ast.Attribute) -> Iterator[ast.Attribute]:
    """Where a statement says the attribute."""
    return (n for n in ast.walk(statement) if isinstance(n, ast.Attribute) and n.attr == attribute.attr)


def _all_edits(tree: Tree, changes: tuple[Codemod, ...]) -> list[Edit]:
    return [edit for change in changes for edit in change.edits(tree)]
