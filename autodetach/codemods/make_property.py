"""What a constructor sets once becomes a property, which makes it anew whenever it is read."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods import Codemod
from autodetach.codemods.move_statements import edited, lines_of
from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class MakeProperty:
    """Statements of a `constructor`, of which the last one sets the attribute, go into a property behind it.

    The `copied` ones stay where they are, too. `changes` are made in the property, and the constructor keeps what it is
    `given`: attributes, each with its parameter.
    """

    constructor: ast.FunctionDef
    statements: tuple[ast.stmt, ...]
    copied: tuple[ast.stmt, ...] = ()
    changes: tuple[Codemod, ...] = ()
    given: tuple[tuple[str, str], ...] = ()

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        source, home, last = tree.source, self.constructor, self.statements[-1]
        if any(tree.company(statement) != "none" for statement in (*self.statements, home.body[-1])):
            raise Refused("a statement shares its line with others")
        name, returned = _returned(tree, last)
        changes = [returned, *(edit for change in self.changes for edit in change.edits(tree))]
        indent, inner = (source.indent_of(tree.line(s)) for s in (home, last))
        this = home.args.args[0].arg
        kept = "".join(f"{inner}{this}.{attribute} = {parameter}\n" for attribute, parameter in self.given)
        if len(self.statements) - len(self.copied) == len(home.body) and not kept:
            raise Refused("nothing would be left of the constructor")
        body, removals = f"\n{indent}@property\n{indent}def {name}({this}):\n", []
        for statement in self.statements:
            begin, stop = lines_of(tree, statement)
            text = edited(source.raw, begin, stop, changes).decode(source.encoding)
            body += text if text.endswith(("\n", "\r")) else f"{text}\n"
            if statement not in self.copied:
                removals.append(Edit(begin, stop, kept if statement is last else ""))
        at = source.line_span(source.position(tree.span(home)[1]).line).end
        ended = source.raw[:at].endswith((b"\n", b"\r")) or removals[-1].end == at
        return (*removals, Edit(at, at, body if ended else "\n" + body.rstrip("\r\n")))


def _returned(tree: Tree, statement: ast.stmt) -> tuple[str, Edit]:
    """The attribute that an assignment sets, and the edit that makes it a `return`."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    if not isinstance(target, ast.Attribute) or not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        raise Refused("the last statement sets no attribute")
    assert statement.value is not None
    bound = statement.annotation if isinstance(statement, ast.AnnAssign) else target
    raw = tree.source.raw
    sign = raw.index(b"=", tree.span(bound)[1], tree.span(statement.value)[0])
    rest = raw[sign + 1 : tree.span(statement.value)[0]]
    return target.attr, Edit(tree.span(statement)[0], sign + 1 + len(rest) - len(rest.lstrip(b" \t")), "return ")
