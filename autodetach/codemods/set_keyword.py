"""`retain_graph=True` into a call, or out of it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import libcst as cst

from autodetach.codemods.tree import Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class SetKeyword:
    """Give a call's keyword a value (Python text), or remove the keyword where `value` is None."""

    call: ast.Call
    name: str
    value: str | None

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        return tree.rewritten(tree.call(self.call), self._changed)

    def _changed(self, call: cst.Call) -> cst.Call:
        args = list(call.args)
        at = next((i for i, a in enumerate(args) if a.keyword is not None and a.keyword.value == self.name), None)
        if self.value is None:
            return call if at is None else self._removed(call, args, at)
        if at is not None:
            args[at] = args[at].with_changes(value=cst.parse_expression(self.value))
            return call.with_changes(args=args)
        return self._added(call, args)

    def _removed(self, call: cst.Call, args: list[cst.Arg], at: int) -> cst.Call:
        gone = args.pop(at)
        if at == len(args) and args:  # the last one: its predecessor takes over how the list ends
            args[-1] = _ending_like(args[-1], gone)
        if not args:
            return call.with_changes(args=args, whitespace_before_args=cst.SimpleWhitespace(""))
        return call.with_changes(args=args)

    def _added(self, call: cst.Call, args: list[cst.Arg]) -> cst.Call:
        assert self.value is not None
        new = cst.Arg(
            value=cst.parse_expression(self.value),
            keyword=cst.Name(self.name),
            equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
        )
        at = next((i for i, a in enumerate(args) if a.star == "**"), len(args))
        if at < len(args):
            new = new.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
            return call.with_changes(args=[*args[:at], new, *args[at:]])
        if args:
            last = args[-1]
            new = new.with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
            between = args[-2].comma if len(args) > 1 else None
            if isinstance(last.comma, cst.Comma) and not isinstance(between, cst.Comma):
                # One argument to the line: the new one stands under it.
                between = cst.Comma(whitespace_after=call.whitespace_before_args)
            elif not isinstance(between, cst.Comma):
                between = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
            args[-1] = last.with_changes(comma=between, whitespace_after_arg=cst.SimpleWhitespace(""))
        return call.with_changes(args=[*args, new])


def _ending_like(arg: cst.Arg, gone: cst.Arg) -> cst.Arg:
    """An argument that ends the list as `gone` did, with its own comment kept."""
    own, last = arg.comma, gone.comma
    if isinstance(own, cst.Comma) and isinstance(own.whitespace_after, cst.ParenthesizedWhitespace):
        space = own.whitespace_after
        if isinstance(last, cst.Comma) and isinstance(last.whitespace_after, cst.ParenthesizedWhitespace):
            end = last.whitespace_after
            kept = space.with_changes(last_line=end.last_line, indent=end.indent)
            return arg.with_changes(comma=own.with_changes(whitespace_after=kept))
        if space.first_line.comment is not None and isinstance(gone.whitespace_after_arg, cst.ParenthesizedWhitespace):
            end = gone.whitespace_after_arg
            kept = space.with_changes(last_line=end.last_line, indent=end.indent)
            return arg.with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=kept)
    return arg.with_changes(comma=last, whitespace_after_arg=gone.whitespace_after_arg)
