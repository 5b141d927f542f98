"""`nn.Parameter(x) * 2` -> `nn.Parameter(x * 2)`: a call around what is computed of its result."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods.append_method import ATOMS
from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class LiftCall:
    """Put a call with one argument around an expression of which it is a part, in the place of that argument."""

    call: ast.Call
    whole: ast.expr

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        if len(self.call.args) != 1 or isinstance(self.call.args[0], ast.Starred):
            raise Refused("the call takes more than one argument")
        argument = self.call.args[0]
        tree.expect(self.call)
        start, end = tree.span(self.whole)
        begin, stop = tree.span(self.call)
        first, last = tree.span(argument)
        raw, encoding = tree.source.raw, tree.source.encoding
        opening = raw[begin:first].decode(encoding)
        closing = raw[last:stop].decode(encoding)
        func = raw[slice(*tree.span(self.call.func))].decode(encoding)
        if opening != f"{func}(" or not closing.startswith((")", ",")) or {"#", "\n", "\r"} & set(closing):
            raise Refused("the call is not written in one line around its argument")
        is_whole = isinstance(argument, ATOMS)
        begins = Edit(begin, first, "" if is_whole else "(")
        ends = Edit(last, stop, "" if is_whole else ")")
        edits = [Edit(start, start, opening), begins, ends, Edit(end, end, closing)]
        if begin == start:
            edits[:2] = [Edit(begin, first, opening + begins.replacement)]
        if stop == end:
            edits[-2:] = [Edit(last, stop, ends.replacement + closing)]
        return tuple(edits)
