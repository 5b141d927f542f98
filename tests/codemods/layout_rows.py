"""The rows of the table of layouts: a rewrite, with what it is given (by the text that `ast` writes for it), a program,
and the program after it. None in its place: it is refused, or what it makes is no Python, and so nothing is offered.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from autodetach.codemods import Codemod
from autodetach.codemods.append_method import AppendMethod
from autodetach.codemods.as_generator import AsGenerator
from autodetach.codemods.assign_result import AssignResult
from autodetach.codemods.copy_statements import CopyStatements
from autodetach.codemods.define_as import DefineAs
from autodetach.codemods.drop_context import DropContext
from autodetach.codemods.drop_decorator import DropDecorator
from autodetach.codemods.drop_guard import DropGuard
from autodetach.codemods.enter_inside import EnterInside
from autodetach.codemods.inline_element import InlineElement
from autodetach.codemods.inline_name import InlineName
from autodetach.codemods.insert_statement import InsertStatement
from autodetach.codemods.keep_part import KeepPart
from autodetach.codemods.lift_call import LiftCall
from autodetach.codemods.make_property import MakeProperty
from autodetach.codemods.move_part_of_branch import MovePartOfBranch
from autodetach.codemods.move_statements import MoveStatements
from autodetach.codemods.rename_keyword import RenameKeyword
from autodetach.codemods.rename_method import RenameMethod
from autodetach.codemods.replace_expression import ReplaceExpression
from autodetach.codemods.replace_parameters import ReplaceParameters
from autodetach.codemods.replace_statement import ReplaceStatement
from autodetach.codemods.replace_tail import ReplaceTail
from autodetach.codemods.set_keyword import SetKeyword
from autodetach.codemods.sum_when_read import SumWhenRead
from autodetach.codemods.under_no_grad import UnderNoGrad
from autodetach.codemods.update_in_place import UpdateInPlace

Make = Callable[[ast.Module], Codemod]
Row = tuple[Make, str | bytes, str | bytes | None]


def expression(tree: ast.AST, text: str) -> ast.expr:
    """The last expression with this text."""
    return [n for n in ast.walk(tree) if isinstance(n, ast.expr) and ast.unparse(n) == text][-1]


def call(tree: ast.AST, text: str) -> ast.Call:
    found = expression(tree, text)
    assert isinstance(found, ast.Call)
    return found


def statement(tree: ast.AST, text: str) -> ast.stmt:
    """The last statement whose text begins so."""
    return [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and ast.unparse(n).startswith(text)][-1]


def item(text: str = "loss") -> Make:
    return lambda tree: AppendMethod(expression(tree, text), "item")


def asked(text: str = "[f(k) for k in r]") -> Make:
    def make(tree: ast.Module) -> AsGenerator:
        found = expression(tree, text)
        assert isinstance(found, ast.ListComp)
        return AsGenerator(found)

    return make


def keyword(text: str, value: str | None = "True") -> Make:
    return lambda tree: SetKeyword(call(tree, text), "retain_graph", value)


def renamed(text: str = "a.backward(retain_variables=True)") -> Make:
    return lambda tree: RenameKeyword(call(tree, text).keywords[-1], "retain_graph")


def method(text: str = "h.detach_") -> Make:
    def make(tree: ast.Module) -> Codemod:
        found = expression(tree, text)
        assert isinstance(found, ast.Attribute)
        return RenameMethod(found, "detach")

    return make


def insert(anchor: str, text: str = "h = h.detach()", *, before: bool = False) -> Make:
    return lambda tree: InsertStatement(statement(tree, anchor), text, "before" if before else "after")


def move(*texts: str, to: str, before: bool = True) -> Make:
    return lambda tree: MoveStatements(tuple(statement(tree, t) for t in texts), statement(tree, to), before)


def part(*texts: str, of: str, to: str, leading: tuple[str, ...] = ()) -> Make:
    """The first statements of an `if`, with others that lead them."""

    def make(tree: ast.Module) -> Codemod:
        branch = statement(tree, of)
        assert isinstance(branch, ast.If)
        moved, before = (tuple(statement(tree, t) for t in some) for some in (texts, leading))
        return MovePartOfBranch(branch, moved, statement(tree, to), before)

    return make


def property_of(*texts: str, copied: tuple[str, ...] = (), given: tuple[str, ...] = ()) -> Make:
    """Names that the constructor is `given` are read from the object."""

    def make(tree: ast.Module) -> Codemod:
        home = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))
        found = tuple(statement(tree, t) for t in texts)
        names = [n for one in found for n in ast.walk(one) if isinstance(n, ast.Name) and n.id in given]
        changes = tuple(ReplaceExpression(n, f"self.{n.id}") for n in names)
        kept = tuple((name, name) for name in given)
        return MakeProperty(home, found, tuple(statement(tree, t) for t in copied), changes, kept)

    return make


def summed(begin: str, *texts: str, given: tuple[tuple[str, str], ...] = (("ws", "list(ws)"),)) -> Make:
    """The sum begins with `begin`, and the last statement of the method adds to it."""

    def make(tree: ast.Module) -> Codemod:
        found = tuple(statement(tree, t) for t in texts)
        method = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and found[-1] in n.body)
        first = statement(tree, begin)
        assert isinstance(first, ast.Assign)
        return SumWhenRead(first, method, found, given, "x_terms", "total")

    return make


def copy(*texts: str, to: str, detached: tuple[str, ...] = ()) -> Make:
    def make(tree: ast.Module) -> Codemod:
        found = tuple(statement(tree, t) for t in texts)
        parts = tuple(expression(one, part) for one in found for part in detached)
        return CopyStatements(found, statement(tree, to), parts)

    return make


def defined_as(text: str = "def early(", new: str = "late") -> Make:
    def make(tree: ast.AST) -> DefineAs:
        found = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and text in ast.unparse(n))
        return DefineAs(found, new)

    return make


def copy_renamed(text: str, name: str, new: str, *, to: str) -> Make:
    def make(tree: ast.Module) -> Codemod:
        found = statement(tree, text)
        names = [n for n in ast.walk(found) if isinstance(n, ast.Name) and n.id == name]
        changes = tuple(ReplaceExpression(n, new) for n in names)
        return CopyStatements((found,), statement(tree, to), changes=changes)

    return make


def bind(text: str = "h.detach()", target: str = "h") -> Make:
    def make(tree: ast.Module) -> Codemod:
        found = statement(tree, text)
        assert isinstance(found, ast.Expr)
        return AssignResult(found, (expression(found, target),))

    return make


def undecorated(text: str = "lru_cache") -> Make:
    return lambda tree: DropDecorator(expression(tree, text))


def unguarded(text: str = "if") -> Make:
    def make(tree: ast.Module) -> Codemod:
        found = statement(tree, text)
        assert isinstance(found, (ast.If, ast.With))
        return DropGuard(found)

    return make


def without_context(text: str = "c()") -> Make:
    def make(tree: ast.Module) -> Codemod:
        found = next(n for n in ast.walk(tree) if isinstance(n, ast.With))
        return DropContext(found, next(i for i in found.items if ast.unparse(i.context_expr) == text))

    return make


def replaced(text: str, template: str) -> Make:
    return lambda tree: ReplaceExpression(expression(tree, text), template)


def taking(*names: str) -> Make:
    def make(tree: ast.Module) -> Codemod:
        return ReplaceParameters(tuple(n for n in ast.walk(tree) if isinstance(n, ast.arg) and n.arg in names), "loss")

    return make


def rewritten(text: str, new: str, *parts: str) -> Make:
    def make(tree: ast.Module) -> Codemod:
        return ReplaceStatement(statement(tree, text), new, tuple(expression(tree, part) for part in parts))

    return make


def kept(whole: str = "P(x).exp()", part: str = "P(x)", *reads: str) -> Make:
    def make(tree: ast.Module) -> Codemod:
        found = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and ast.unparse(n) in (reads or ("self.s",))]
        reading = tuple(n for n in found if isinstance(n.ctx, ast.Load))
        return KeepPart(expression(tree, whole), expression(tree, part), reading)

    return make


def tail(text: str = "loss.data[0]", head: str = "loss") -> Make:
    def make(tree: ast.Module) -> Codemod:
        whole = expression(tree, text)
        return ReplaceTail(whole, expression(whole, head), ".item()")

    return make


def inlined(text: str = "t[i]") -> Make:
    def make(tree: ast.Module) -> Codemod:
        read = expression(tree, text)
        made = next(n for n in ast.walk(tree) if isinstance(n, ast.ListComp))
        assert isinstance(read, ast.Subscript)
        return InlineElement(read, made)

    return make


def lifted(inner: str, whole: str) -> Make:
    return lambda tree: LiftCall(call(tree, inner), expression(tree, whole))


def named(value: str, *, alone: bool = False) -> Make:
    def make(tree: ast.Module) -> Codemod:
        read = expression(tree, "t")
        assert isinstance(read, ast.Name)
        return InlineName(read, expression(tree, value), alone)

    return make


def no_grad(*texts: str, context: str = "torch.no_grad()") -> Make:
    return lambda tree: UnderNoGrad(tuple(statement(tree, t) for t in texts), context)


def entered() -> Make:
    def make(tree: ast.Module) -> Codemod:
        around = next(n for n in ast.walk(tree) if isinstance(n, ast.With))
        loop = next(n for n in ast.walk(around) if isinstance(n, (ast.For, ast.While)))
        return EnterInside(around, loop)

    return make


def in_place(*texts: str, wrap: bool = True, forget: tuple[str, ...] = ()) -> Make:
    def make(tree: ast.Module) -> Codemod:
        found = tuple(s for t in texts or ("w = ",) if isinstance(s := statement(tree, t), ast.Assign))
        return UpdateInPlace(found, wrap, forget)

    return make


BOM = b"\xef\xbb\xbf"
LATIN = "# -*- coding: latin-1 -*-\n"
KOREAN = "# coding: euc-kr\n"
