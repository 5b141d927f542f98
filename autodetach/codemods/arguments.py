"""The arguments of a call in concrete syntax: one changed, added or removed, with its comma, lines and comments."""

from __future__ import annotations

import libcst as cst


def changed(call: cst.Call, name: str, value: str | None) -> cst.Call:
    """A call with the value of a keyword changed, with it added, or without it where `value` is None."""
    args = list(call.args)
    at = next((i for i, a in enumerate(args) if a.keyword is not None and a.keyword.value == name), None)
    if value is None:
        return call if at is None else _removed(call, args, at)
    if at is not None:
        args[at] = args[at].with_changes(value=cst.parse_expression(value))
        return call.with_changes(args=args)
    return _added(call, args, name, value)


def _removed(call: cst.Call, args: list[cst.Arg], at: int) -> cst.Call:
    gone = args.pop(at)
    if at == len(args) and args:  # the last one: its predecessor takes over how the list ends
        args[-1] = _ending_like(args[-1], gone)
    if not args:
        return call.with_changes(args=args, whitespace_before_args=cst.SimpleWhitespace(""))
    return call.with_changes(args=args)


def _added(call: cst.Call, args: list[cst.Arg], name: str, value: str) -> cst.Call:
    new = cst.Arg(
        value=cst.parse_expression(value),
        keyword=cst.Name(name),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    at = next((i for i, a in enumerate(args) if a.star == "**"), len(args))
    if at < len(args):
        new = new.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
        return call.with_changes(args=[*args[:at], new, *args[at:]])
    if args:
        last = args[-1]
        before = args[-2].comma if len(args) > 1 else None
        space = before.whitespace_after if isinstance(before, cst.Comma) else call.whitespace_before_args
        ending = last.comma.whitespace_after if isinstance(last.comma, cst.Comma) else last.whitespace_after_arg
        if isinstance(space, cst.ParenthesizedWhitespace):
            # One argument to the line: the new one stands under the last, whose comment stays with it.
            own = ending.first_line if isinstance(ending, cst.ParenthesizedWhitespace) else cst.TrailingWhitespace()
            space = space.with_changes(first_line=own, empty_lines=())
            if isinstance(ending, cst.ParenthesizedWhitespace):
                ending = ending.with_changes(first_line=cst.TrailingWhitespace(newline=own.newline))
        else:
            space = cst.SimpleWhitespace(" ")
        nothing = cst.SimpleWhitespace("")
        if isinstance(last.comma, cst.Comma):
            new = new.with_changes(comma=last.comma.with_changes(whitespace_after=ending))
        else:
            new = new.with_changes(whitespace_after_arg=ending)
        args[-1] = last.with_changes(comma=cst.Comma(whitespace_after=space), whitespace_after_arg=nothing)
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
