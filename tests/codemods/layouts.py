"""Programs as people lay them out, and what a careful person makes of each: the table of `test_layouts.py`.

A row is a rewrite, with what it is given (by the text that `ast` writes for it), the program, and the program after
it. None in its place: the rewrite is refused, or what it makes is no Python, and so nothing is offered.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from autodetach.codemods import Codemod
from autodetach.codemods.append_method import AppendMethod
from autodetach.codemods.assign_result import AssignResult
from autodetach.codemods.copy_statements import CopyStatements
from autodetach.codemods.drop_decorator import DropDecorator
from autodetach.codemods.drop_guard import DropGuard
from autodetach.codemods.insert_statement import InsertStatement
from autodetach.codemods.move_statements import MoveStatements
from autodetach.codemods.replace_expression import ReplaceExpression
from autodetach.codemods.replace_statement import ReplaceStatement
from autodetach.codemods.replace_tail import ReplaceTail
from autodetach.codemods.set_keyword import SetKeyword
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


def keyword(text: str, value: str | None = "True") -> Make:
    return lambda tree: SetKeyword(call(tree, text), "retain_graph", value)


def insert(anchor: str, text: str = "h = h.detach()", *, before: bool = False) -> Make:
    return lambda tree: InsertStatement(statement(tree, anchor), text, "before" if before else "after")


def move(*texts: str, to: str, before: bool = True) -> Make:
    return lambda tree: MoveStatements(tuple(statement(tree, t) for t in texts), statement(tree, to), before)


def copy(*texts: str, to: str) -> Make:
    return lambda tree: CopyStatements(tuple(statement(tree, t) for t in texts), statement(tree, to))


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
        assert isinstance(found, ast.If)
        return DropGuard(found)

    return make


def replaced(text: str, template: str) -> Make:
    return lambda tree: ReplaceExpression(expression(tree, text), template)


def rewritten(text: str, new: str, *parts: str) -> Make:
    def make(tree: ast.Module) -> Codemod:
        return ReplaceStatement(statement(tree, text), new, tuple(expression(tree, part) for part in parts))

    return make


def tail(text: str = "loss.data[0]", head: str = "loss") -> Make:
    def make(tree: ast.Module) -> Codemod:
        whole = expression(tree, text)
        return ReplaceTail(whole, expression(whole, head), ".item()")

    return make


def in_place(*texts: str, wrap: bool = True, forget: tuple[str, ...] = ()) -> Make:
    def make(tree: ast.Module) -> Codemod:
        found = tuple(s for t in texts or ("w = ",) if isinstance(s := statement(tree, t), ast.Assign))
        return UpdateInPlace(found, wrap, forget)

    return make


BOM = b"\xef\xbb\xbf"
LATIN = "# -*- coding: latin-1 -*-\n"
KOREAN = "# coding: euc-kr\n"

APPENDED: dict[str, Row] = {
    "plain": (item(), "total += loss\n", "total += loss.item()\n"),
    "no last newline": (item(), "total += loss", "total += loss.item()"),
    "comment behind": (item(), "total += loss  # why\n", "total += loss.item()  # why\n"),
    "comment at once": (item(), "total += loss# why\n", "total += loss.item()# why\n"),
    "semicolon": (item(), "a; total += loss; b\n", "a; total += loss.item(); b\n"),
    "one-line suite": (item(), "for loss in x: total += loss\n", "for loss in x: total += loss.item()\n"),
    "own parentheses": (item(), "total += (loss)\n", "total += (loss.item())\n"),
    "own lines": (item(), "total += (\n    loss  # why\n)\n", "total += (\n    loss.item()  # why\n)\n"),
    "backslash": (item(), "total = total + \\\n    loss\n", "total = total + \\\n    loss.item()\n"),
    "backslash behind": (item(), "total = loss \\\n    + total\n", "total = loss.item() \\\n    + total\n"),
    "last argument": (item(), "x.append(loss)\n", "x.append(loss.item())\n"),
    "trailing comma": (item(), "x.append(\n    loss,\n)\n", "x.append(\n    loss.item(),\n)\n"),
    "keyword": (item(), "f(a, loss=loss)\n", "f(a, loss=loss.item())\n"),
    "star": (item("losses"), "f(*losses)\n", "f(*losses.item())\n"),
    "sum": (item("a + b"), "total += a + b\n", "total += (a + b).item()\n"),
    "sum in parentheses": (item("a + b"), "total += (a + b)\n", "total += (a + b).item()\n"),
    "sum over lines": (
        item("a + b"),
        "total += (\n    a  # one\n    + b  # two\n)\n",
        "total += (\n    a  # one\n    + b  # two\n).item()\n",
    ),
    "sum as argument": (item("a + b"), "x.append(a + b)\n", "x.append((a + b).item())\n"),
    "sum as argument over lines": (
        item("a + b"),
        "x.append(\n    a\n    + b\n)\n",
        "x.append(\n    (a\n    + b).item()\n)\n",
    ),
    "sum in its own as argument": (item("a + b"), "x.append((a + b))\n", "x.append((a + b).item())\n"),
    "sum with a backslash": (item("a + b"), "t += a \\\n    + b\n", "t += (a \\\n    + b).item()\n"),
    "condition": (item("a if b else c"), "t += a if b else c\n", "t += (a if b else c).item()\n"),
    "lambda": (item("lambda: a"), "t += (lambda: a)\n", "t += (lambda: a).item()\n"),
    "minus": (item("-a"), "t += -a\n", "t += (-a).item()\n"),
    "await": (item("await a"), "async def f():\n    t = await a\n", "async def f():\n    t = (await a).item()\n"),
    "walrus": (item("(b := a)"), "t.append(b := a)\n", "t.append((b := a).item())\n"),
    "walrus in parentheses": (item("(b := a)"), "t += (b := a)\n", "t += (b := a).item()\n"),
    "call over lines": (
        item("f(a, b)"),
        "t += f(\n    a,\n    b,  # c\n)\n",
        "t += f(\n    a,\n    b,  # c\n).item()\n",
    ),
    "index": (item("x[0]"), "t += x[ 0 ]\n", "t += x[ 0 ].item()\n"),
    "chain over lines": (item("a.b().c"), "t += (a\n     .b()\n     .c)\n", "t += (a\n     .b()\n     .c.item())\n"),
    "f-string": (item(), 'print(f"{loss}")\n', 'print(f"{loss.item()}")\n'),
    "f-string with format": (item(), 'print(f"{loss:.3f} {a!r}")\n', 'print(f"{loss.item():.3f} {a!r}")\n'),
    "f-string, equal names": (
        item(),
        'print(f"loss {loss} {loss:>{width}}")\n',
        'print(f"loss {loss} {loss.item():>{width}}")\n',
    ),
    "f-string in f-string": (item(), "print(f\"{f'{loss}'}\")\n", "print(f\"{f'{loss.item()}'}\")\n"),
    "wide characters before": (item(), "s, t = 'äö𝄞한', loss\n", "s, t = 'äö𝄞한', loss.item()\n"),
    "combining characters": (item(), "'e\u0301\u0301'; t += loss\n", "'e\u0301\u0301'; t += loss.item()\n"),
    "identifiers": (item("verlust_größe"), "сумма += verlust_größe\n", "сумма += verlust_größe.item()\n"),
    # Python reads the ligature as `fi`; the file keeps it.
    "identifiers that Python normalises": (item("finloss"), "t += ﬁnloss\n", "t += ﬁnloss.item()\n"),
    "line separator in a string": (item(), "s = '\u2028\x85'; t += loss\n", "s = '\u2028\x85'; t += loss.item()\n"),
    "long line": (item(), f"'{'x' * 100_000}'; t += loss\n", f"'{'x' * 100_000}'; t += loss.item()\n"),
    "tabs": (item(), "if x:\n\tt += loss\n", "if x:\n\tt += loss.item()\n"),
    "tabs and blanks": (item(), "if x:\n \tif y:\n \t    t += loss\n", "if x:\n \tif y:\n \t    t += loss.item()\n"),
    "CR LF": (item(), "if x:\r\n    t += loss\r\n", "if x:\r\n    t += loss.item()\r\n"),
    "CR": (item(), "if x:\r    t += loss\rb\r", "if x:\r    t += loss.item()\rb\r"),
    "mixed": (item(), "a\r\nb\rt += loss\nc\r\n", "a\r\nb\rt += loss.item()\nc\r\n"),
    "form feed": (item(), "a\n\f\n\ft += loss\n", "a\n\f\n\ft += loss.item()\n"),
    "form feed in an indentation": (item(), "if x:\n  \f    t += loss\n", "if x:\n  \f    t += loss.item()\n"),
    "BOM": (item(), BOM + b"t += loss\n", BOM + b"t += loss.item()\n"),
    "latin-1": (
        item(),
        f"{LATIN}s, t = 'äß', loss\n".encode("latin-1"),
        f"{LATIN}s, t = 'äß', loss.item()\n".encode("latin-1"),
    ),
    "euc-kr": (
        item(),
        f"{KOREAN}s, t = '한글', loss\n".encode("euc-kr"),
        f"{KOREAN}s, t = '한글', loss.item()\n".encode("euc-kr"),
    ),
}

KEYWORDS: dict[str, Row] = {
    "none": (keyword("loss.backward()"), "loss.backward()\n", "loss.backward(retain_graph=True)\n"),
    "blanks": (keyword("loss.backward()"), "loss . backward ( )\n", "loss . backward ( retain_graph=True)\n"),
    "comment inside": (
        keyword("loss.backward()"),
        "loss.backward(  # why\n)\n",
        "loss.backward(  # why\nretain_graph=True)\n",
    ),
    "one": (keyword("loss.backward(g)"), "loss.backward(g)\n", "loss.backward(g, retain_graph=True)\n"),
    "trailing comma": (keyword("loss.backward(g)"), "loss.backward(g,)\n", "loss.backward(g, retain_graph=True,)\n"),
    "a line each": (
        keyword("a.backward(g, inputs=i)"),
        "a.backward(\n    g,  # g\n    inputs=i,  # i\n)\n",
        "a.backward(\n    g,  # g\n    inputs=i,  # i\n    retain_graph=True,\n)\n",
    ),
    "a line each, no comma": (
        keyword("a.backward(g, inputs=i)"),
        "a.backward(\n    g,\n    inputs=i\n)\n",
        "a.backward(\n    g,\n    inputs=i,\n    retain_graph=True\n)\n",
    ),
    "one on its line": (
        keyword("a.backward(g)"),
        "a.backward(\n    g\n)\n",
        "a.backward(\n    g,\n    retain_graph=True\n)\n",
    ),
    "before stars": (keyword("a.backward(**k)"), "a.backward(**k)\n", "a.backward(retain_graph=True, **k)\n"),
    "turned on": (
        keyword("a.backward(retain_graph=False)"),
        "a.backward(retain_graph = False)\n",
        "a.backward(retain_graph = True)\n",
    ),
    "removed": (keyword("a.backward(retain_graph=True)", None), "a.backward(retain_graph=True)\n", "a.backward()\n"),
    "removed, alone on its line": (
        keyword("a.backward(retain_graph=True)", None),
        "a.backward(\n    retain_graph=True\n)\n",
        "a.backward()\n",
    ),
    "removed, the first": (
        keyword("a.backward(retain_graph=True, inputs=i)", None),
        "a.backward(retain_graph=True, inputs=i)\n",
        "a.backward(inputs=i)\n",
    ),
    "removed, the last": (
        keyword("a.backward(g, retain_graph=True)", None),
        "a.backward(g, retain_graph=True)\n",
        "a.backward(g)\n",
    ),
    "removed, the last, comma": (
        keyword("a.backward(g, retain_graph=True)", None),
        "a.backward(g, retain_graph=True,)\n",
        "a.backward(g,)\n",
    ),
    "removed, a line each": (
        keyword("a.backward(g, retain_graph=True, inputs=i)", None),
        "a.backward(\n    g,\n    retain_graph=True,\n    inputs=i,\n)\n",
        "a.backward(\n    g,\n    inputs=i,\n)\n",
    ),
    "removed, last line": (
        keyword("a.backward(g, retain_graph=True)", None),
        "a.backward(\n    g,  # the gradient\n    retain_graph=True,\n)\n",
        "a.backward(\n    g,  # the gradient\n)\n",
    ),
    "removed, with a semicolon": (
        keyword("a.backward(retain_graph=True)", None),
        "a.backward(retain_graph=True); b()\n",
        "a.backward(); b()\n",
    ),
    "one-line suite": (keyword("a.backward()"), "if x: a.backward()\n", "if x: a.backward(retain_graph=True)\n"),
    "backslash": (keyword("a.backward()"), "a \\\n  .backward()\n", "a \\\n  .backward(retain_graph=True)\n"),
    "lambda": (keyword("a.backward()"), "f = lambda: a.backward()\n", "f = lambda: a.backward(retain_graph=True)\n"),
    "function in parentheses": (keyword("a.backward()"), "(a.backward)()\n", "(a.backward)(retain_graph=True)\n"),
    "wide characters before": (
        keyword("a['é𝄞'].backward()"),
        "a['é𝄞'].backward()\n",
        "a['é𝄞'].backward(retain_graph=True)\n",
    ),
    "form feed": (
        keyword("a.backward()"),
        "\fif x:\n  \f  a.backward()\n",
        "\fif x:\n  \f  a.backward(retain_graph=True)\n",
    ),
    "CR LF": (
        keyword("a.backward(g, inputs=i)"),
        "a.backward(\r\n    g,\r\n    inputs=i,\r\n)\r\n",
        "a.backward(\r\n    g,\r\n    inputs=i,\r\n    retain_graph=True,\r\n)\r\n",
    ),
    "CR": (keyword("a.backward()"), "if x:\r    a.backward()\r", "if x:\r    a.backward(retain_graph=True)\r"),
    "latin-1": (
        keyword("a.backward(g)"),
        f"{LATIN}'é'; a.backward(g)  # ß\n".encode("latin-1"),
        f"{LATIN}'é'; a.backward(g, retain_graph=True)  # ß\n".encode("latin-1"),
    ),
}

INSERTED: dict[str, Row] = {
    "behind": (insert("a()"), "a()\nb()\n", "a()\nh = h.detach()\nb()\n"),
    "before": (insert("a()", before=True), "a()\nb()\n", "h = h.detach()\na()\nb()\n"),
    "no last newline": (insert("a()"), "a()", "a()\nh = h.detach()"),
    "no last newline, comment": (insert("a()"), "if x:\n    a()  # why", "if x:\n    a()  # why\n    h = h.detach()"),
    "no last newline, CR LF": (insert("a()"), "b\r\na()", "b\r\na()\r\nh = h.detach()"),
    "indented": (insert("a()"), "if x:\n  a()\nb()\n", "if x:\n  a()\n  h = h.detach()\nb()\n"),
    "tabs": (insert("a()"), "if x:\n\ta()\nb()\n", "if x:\n\ta()\n\th = h.detach()\nb()\n"),
    "mixed indentation": (
        insert("a()"),
        "if x:\n \tif y:\n \t  a()\n",
        "if x:\n \tif y:\n \t  a()\n \t  h = h.detach()\n",
    ),
    "comment behind": (insert("a()"), "a()  # why\nb()\n", "a()  # why\nh = h.detach()\nb()\n"),
    "comment before": (insert("a()", before=True), "# of a\na()\n", "# of a\nh = h.detach()\na()\n"),
    "over lines": (insert("a("), "a(\n    1,\n)\nb\n", "a(\n    1,\n)\nh = h.detach()\nb\n"),
    "string over lines": (
        insert("a("),
        "if x:\n    a('''\n1\n''')\nb\n",
        "if x:\n    a('''\n1\n''')\n    h = h.detach()\nb\n",
    ),
    "semicolon": (insert("a()"), "a(); b()\n", "a(); h = h.detach(); b()\n"),
    "semicolon, last": (insert("b()"), "a(); b()\n", "a(); b(); h = h.detach()\n"),
    "semicolon at the end": (insert("a()"), "a();\nb()\n", "a();\nh = h.detach()\nb()\n"),
    "semicolon, before": (insert("b()", before=True), "a(); b()\n", "a(); h = h.detach(); b()\n"),
    "one-line suite": (insert("a()"), "for x in y: a()\n", "for x in y: a(); h = h.detach()\n"),
    "one-line suite, before": (insert("a()", before=True), "for x in y: a()\n", "for x in y: h = h.detach(); a()\n"),
    "one-line suite, several": (insert("a()", "b = 1\nc = 2"), "for x in y: a()\n", None),
    "behind a one-line suite": (insert("for"), "for x in y: a()\nb\n", "for x in y: a()\nh = h.detach()\nb\n"),
    "behind a block": (
        insert("for"),
        "for x in y:\n    a()\n    # end\n\nb\n",
        "for x in y:\n    a()\nh = h.detach()\n    # end\n\nb\n",
    ),
    "several": (insert("a()", "b = 1\nc = 2"), "if x:\n    a()\n", "if x:\n    a()\n    b = 1\n    c = 2\n"),
    "before a decorator": (
        insert("@d", before=True),
        "if x:\n    @d\n    def f(): pass\n",
        "if x:\n    h = h.detach()\n    @d\n    def f(): pass\n",
    ),
    "before elif": (insert("if y", before=True), "if x:\n    pass\nelif y:\n    pass\n", None),
    "backslash": (insert("a"), "a = b + \\\n  c\nd\n", "a = b + \\\n  c\nh = h.detach()\nd\n"),
    "BOM": (insert("a()", before=True), BOM + b"a()\n", BOM + b"h = h.detach()\na()\n"),
    "form feed": (insert("a()"), "if x:\n  \f    a()\nb\n", "if x:\n  \f    a()\n    h = h.detach()\nb\n"),
    "CR LF": (insert("a()"), "if x:\r\n    a()\r\nb\r\n", "if x:\r\n    a()\r\n    h = h.detach()\r\nb\r\n"),
    "CR": (insert("a()"), "if x:\r    a()\rb\r", "if x:\r    a()\r    h = h.detach()\rb\r"),
    "euc-kr": (
        insert("a()"),
        f"{KOREAN}if x:\n    a()  # 한글\n".encode("euc-kr"),
        f"{KOREAN}if x:\n    a()  # 한글\n    h = h.detach()\n".encode("euc-kr"),
    ),
    "what the encoding does not have": (insert("a()", "h['€'] = 1"), f"{LATIN}a()\n", None),
}

MOVED: dict[str, Row] = {
    "into a loop": (move("h = ", to="a()"), "h = 0\nfor x in y:\n    a()\n", "for x in y:\n    h = 0\n    a()\n"),
    "comments go with it": (
        move("h = ", to="a()"),
        "b\n# of h\n# all\nh = 0  # why\n\nfor x in y:\n    # of a\n    a()\n",
        "b\n\nfor x in y:\n    # of a\n    # of h\n    # all\n    h = 0  # why\n    a()\n",
    ),
    "others' comments stay": (
        move("h = ", to="a()"),
        "b\n# of b\n\nh = 0\nfor x in y:\n    a()\n",
        "b\n# of b\n\nfor x in y:\n    h = 0\n    a()\n",
    ),
    "a cookie stays": (
        move("h = ", to="a()"),
        LATIN + "h = 0\nfor x in y:\n    a()\n",
        LATIN + "for x in y:\n    h = 0\n    a()\n",
    ),
    "a mark of a cell stays": (
        move("h = ", to="a()"),
        "# %%\nh = 0\nfor x in y:\n    a()\n",
        "# %%\nfor x in y:\n    h = 0\n    a()\n",
    ),
    "tabs": (move("h = ", to="a()"), "h = (\n\t0)\nfor x in y:\n\ta()\n", "for x in y:\n\th = (\n\t\t0)\n\ta()\n"),
    "blanks into tabs": (
        move("h = ", to="a()"),
        "if z:\n    h = 0\n    b\nfor x in y:\n\ta()\n",
        "if z:\n    b\nfor x in y:\n\th = 0\n\ta()\n",
    ),
    "over lines": (
        move("h = ", to="a()"),
        "h = f(\n    1,  # one\n    # two\n    2,\n)\nfor x in y:\n  a()\n",
        "for x in y:\n  h = f(\n      1,  # one\n      # two\n      2,\n  )\n  a()\n",
    ),
    "backslash": (
        move("h = ", to="a()"),
        "h = 1 + \\\n    2\nfor x in y:\n    a()\n",
        "for x in y:\n    h = 1 + \\\n        2\n    a()\n",
    ),
    "a string over lines": (
        move("h = ", to="a()"),
        "h = f('''\n  1\n''',\n  2)\nfor x in y:\n    a()\n",
        "for x in y:\n    h = f('''\n  1\n''',\n      2)\n    a()\n",
    ),
    "a string over lines, out of a block": (
        move("h = ", to="a()"),
        "if z:\n    h = '''\n    1'''\n    b\na()\n",
        "if z:\n    b\nh = '''\n    1'''\na()\n",
    ),
    "an f-string over lines": (
        move("h = ", to="a()"),
        'if z:\n    h = f"""\n    {1}\n    """\n    b\na()\n',
        'if z:\n    b\nh = f"""\n    {1}\n    """\na()\n',
    ),
    "a string with other line ends": (
        move("h = ", to="a()"),
        "if z:\n    h = '\u2028    \x85    '\n    b\na()\n",
        "if z:\n    b\nh = '\u2028    \x85    '\na()\n",
    ),
    "a string with a backslash": (
        move("h = ", to="a()"),
        "if z:\n    h = 'x\\\n    y'\n    b\na()\n",
        "if z:\n    b\nh = 'x\\\n    y'\na()\n",
    ),
    "several in order": (
        move("g = ", "h = ", to="a()"),
        "g = 0\nk = 1\nh = g\nfor x in y:\n    a()\n",
        "k = 1\nfor x in y:\n    g = 0\n    h = g\n    a()\n",
    ),
    "decorated": (move("@d", to="a()"), "b\n@d\ndef f(): pass\nfor x in y:\n    a()\n", None),
    "behind": (move("s.step()", to="b()", before=False), "s.step()\nb()\nc\n", "b()\ns.step()\nc\n"),
    "behind the last line": (move("s.step()", to="b()", before=False), "s.step()\nb()", "b()\ns.step()"),
    "the last line to the front": (move("s.step()", to="b()"), "b()\ns.step()", "s.step()\nb()\n"),
    "semicolon": (move("h = ", to="a()"), "h = 0; b\nfor x in y:\n    a()\n", None),
    "in front of a semicolon": (
        move("h = ", to="a()"),
        "h = 0\nfor x in y:\n    a(); b()\n",
        "for x in y:\n    h = 0\n    a(); b()\n",
    ),
    "one-line suite": (move("h = ", to="a()"), "h = 0\nfor x in y: a()\n", None),
    "form feed": (move("h = ", to="a()"), "if z:\n    b\n  \f    h = 0\nfor x in y:\n    a()\n", None),
    "CR LF": (
        move("h = ", to="a()"),
        "# c\r\nh = (\r\n    0)\r\nfor x in y:\r\n    a()\r\n",
        "for x in y:\r\n    # c\r\n    h = (\r\n        0)\r\n    a()\r\n",
    ),
    "CR": (
        move("h = ", to="a()"),
        "h = (\r    0)\rfor x in y:\r    a()\r",
        "for x in y:\r    h = (\r        0)\r    a()\r",
    ),
    "BOM": (move("h = ", to="a()"), BOM + b"h = 0\nfor x in y:\n    a()\n", BOM + b"for x in y:\n    h = 0\n    a()\n"),
    "euc-kr": (
        move("h = ", to="a()"),
        f"{KOREAN}h = '한글'  # 글\nfor x in y:\n    a()\n".encode("euc-kr"),
        f"{KOREAN}for x in y:\n    h = '한글'  # 글\n    a()\n".encode("euc-kr"),
    ),
    "wide characters": (
        move("h = ", to="a()"),
        "h = '𝄞', (\n  'é')\nfor x in y:\n    a()\n",
        "for x in y:\n    h = '𝄞', (\n      'é')\n    a()\n",
    ),
}

COPIED: dict[str, Row] = {
    "plain": (
        copy("h = ", to="a()"),
        "h = 0  # why\nfor x in y:\n    a()\n",
        "h = 0  # why\nfor x in y:\n    h = 0\n    a()\n",
    ),
    "a string over lines": (
        copy("h = ", to="a()"),
        "h = '''\n1'''\nif x:\n    a()\n",
        "h = '''\n1'''\nif x:\n    h = '''\n1'''\n    a()\n",
    ),
    "over lines, tabs": (
        copy("h = ", to="a()"),
        "h = f(\n\t1)\nif x:\n\ta()\n",
        "h = f(\n\t1)\nif x:\n\th = f(\n\t\t1)\n\ta()\n",
    ),
    "several": (copy("g = ", "h = ", to="a()"), "g = 0\nh = 1\na()", "g = 0\nh = 1\ng = 0\nh = 1\na()"),
    "CR LF": (copy("h = ", to="a()"), "h = (\r\n  0)\r\na()\r\n", "h = (\r\n  0)\r\nh = (\r\n  0)\r\na()\r\n"),
    "semicolon": (copy("h = ", to="a()"), "h = 0; a()\n", None),
}

BOUND: dict[str, Row] = {
    "plain": (bind(), "h.detach()\n", "h = h.detach()\n"),
    "semicolon": (bind(), "a; h.detach(); b\n", "a; h = h.detach(); b\n"),
    "one-line suite": (bind(), "if x: h.detach()\n", "if x: h = h.detach()\n"),
    "over lines": (bind(), "h.detach(\n)  # why\n", "h = h.detach(\n)  # why\n"),
    "a chain in parentheses": (bind(), "(h\n .detach())\n", "h = (h\n .detach())\n"),
    "an attribute": (
        bind("self.h.detach()", "self.h"),
        "if x:\n\tself . h.detach()\n",
        "if x:\n\tself . h = self . h.detach()\n",
    ),
    "CR LF": (bind(), "if x:\r\n    h.detach()\r\n", "if x:\r\n    h = h.detach()\r\n"),
    "form feed": (bind(), "if x:\n \f h.detach()\n", "if x:\n \f h = h.detach()\n"),
    "BOM": (bind(), BOM + b"h.detach()", BOM + b"h = h.detach()"),
    "wide characters": (bind("d['é𝄞'].detach()", "d['é𝄞']"), "d['é𝄞'].detach()\n", "d['é𝄞'] = d['é𝄞'].detach()\n"),
}

UNDECORATED: dict[str, Row] = {
    "plain": (undecorated(), "@lru_cache\ndef f(): pass\n", "def f(): pass\n"),
    "one of several": (
        undecorated(),
        "@a\n@lru_cache  # why\n# b\n@b\ndef f(): pass\n",
        "@a\n# b\n@b\ndef f(): pass\n",
    ),
    "over lines": (
        undecorated("lru_cache(maxsize=1)"),
        "@lru_cache(\n    maxsize=1,\n)\ndef f(): pass\n",
        "def f(): pass\n",
    ),
    "in parentheses over lines": (undecorated(), "@(\n  lru_cache\n)\ndef f(): pass\n", None),
    "in parentheses": (undecorated(), "@(lru_cache)\ndef f(): pass\n", "def f(): pass\n"),
    "parentheses that go on": (undecorated(), "@(lru_cache\n)\ndef f(): pass\n", None),
    "blanks": (undecorated(), "class C:\n\t@ lru_cache\n\tdef f(self): pass\n", "class C:\n\tdef f(self): pass\n"),
    "CR": (undecorated(), "@lru_cache\rdef f(): pass\r", "def f(): pass\r"),
    "BOM": (undecorated(), BOM + b"@lru_cache\r\ndef f(): pass", BOM + b"def f(): pass"),
    "form feed": (undecorated(), "a\n\f\n\f@lru_cache\ndef f(): pass\n", "a\n\f\n\fdef f(): pass\n"),
}

UNGUARDED: dict[str, Row] = {
    "plain": (unguarded(), "if k not in c:\n    c[k] = f()\nb\n", "c[k] = f()\nb\n"),
    "comments": (
        unguarded(),
        "if x:\n    if k not in c:  # once: k\n        # of c\n        c[k] = f()  # why\n    b\n",
        "if x:\n    # once: k\n    # of c\n    c[k] = f()  # why\n    b\n",
    ),
    "one line": (unguarded(), "if k not in c: c[k] = f()  # why\n", "c[k] = f()  # why\n"),
    "one line, several": (unguarded(), "if k not in c: c[k] = f(); d = 1\n", "c[k] = f(); d = 1\n"),
    "over lines": (unguarded(), "if (k\n    not in c):\n    c[k] = f()\n", "c[k] = f()\n"),
    "parentheses that close below": (
        unguarded(),
        "if (\n    k not in c\n):  # once\n    c[k] = f()\n",
        "# once\nc[k] = f()\n",
    ),
    "backslash": (unguarded(), "if k \\\n    not in c:\n    c[k] = f()\n", "c[k] = f()\n"),
    "a colon in the test": (unguarded(), "if c[1:2] is None:\n    c[k] = f()\n", "c[k] = f()\n"),
    "a colon in a string of the body": (unguarded(), "if k not in c: c[k] = ':'\n", "c[k] = ':'\n"),
    "strings over lines": (
        unguarded(),
        "if k not in c:\n    c[k] = '''\n    x'''\n    d = 1\n",
        "c[k] = '''\n    x'''\nd = 1\n",
    ),
    "elif": (unguarded("if k"), "if x:\n    pass\nelif k not in c:\n    c[k] = f()\n", None),
    "else if": (
        unguarded("if k"),
        "if x:\n    pass\nelse:\n    if k not in c:\n        c[k] = f()\n",
        "if x:\n    pass\nelse:\n    c[k] = f()\n",
    ),
    "tabs": (unguarded("if k"), "if x:\n\tif k not in c:\n\t\tc[k] = f(\n\t\t\t1)\n", "if x:\n\tc[k] = f(\n\t\t1)\n"),
    "CR LF": (unguarded(), "if k not in c:\r\n    c[k] = f()\r\n    d\r\n", "c[k] = f()\r\nd\r\n"),
    "CR": (unguarded(), "if k not in c:\r    c[k] = f()\r    d\r", "c[k] = f()\rd\r"),
    "no last newline": (unguarded(), "if k not in c:\n    c[k] = f()", "c[k] = f()"),
    "BOM": (unguarded(), BOM + b"if k not in c:\n    c[k] = f()\n", BOM + b"c[k] = f()\n"),
    "comment between": (unguarded(), "if k not in c:\n# low\n    c[k] = f()\n", "# low\nc[k] = f()\n"),
}

REPLACED: dict[str, Row] = {
    "plain": (replaced("s", "tuple(x.detach() for x in {})"), "m(x, s)\n", "m(x, tuple(x.detach() for x in s))\n"),
    "twice": (
        replaced("a.b", "({}.detach() if torch.is_tensor({}) else {})"),
        "m(a . b)\n",
        "m((a . b.detach() if torch.is_tensor(a . b) else a . b))\n",
    ),
    "a sum": (
        replaced("a + b", "({}).detach().requires_grad_()"),
        "[a + b for x in y]\n",
        "[(a + b).detach().requires_grad_() for x in y]\n",
    ),
    "a decorator": (
        replaced("cached_property", "property"),
        "class C:\n    @cached_property  # why\n    def f(self): pass\n",
        "class C:\n    @property  # why\n    def f(self): pass\n",
    ),
    "f-string": (replaced("s", "t"), 'f"{s}"\n', 'f"{t}"\n'),
    "CR": (replaced("s", "[t.detach() for t in {}]"), "if x:\r    m(s)\r", "if x:\r    m([t.detach() for t in s])\r"),
    "latin-1": (
        replaced("d['é']", "{}.detach()"),
        f"{LATIN}'ß', d['é']\n".encode("latin-1"),
        f"{LATIN}'ß', d['é'].detach()\n".encode("latin-1"),
    ),
}

REWRITTEN: dict[str, Row] = {
    "removed": (rewritten("a()", ""), "if x:\n    a()  # why\n    b\n", "if x:\n    b\n"),
    "removed, with a semicolon": (rewritten("a()", ""), "a(); b\n", None),
    "removed, over lines": (rewritten("a(", ""), "b\na(\n  1)\n", "b\n"),
    "the sum": (
        rewritten("b.backward()", "({0} + {1}).backward()", "a", "b"),
        "a; b.backward()  # why\n",
        "a; (a + b).backward()  # why\n",
    ),
    "the sum of conditions": (
        rewritten("(a if c else b).backward()", "({0} + {1}).backward()", "a if c else b", "d"),
        "d\n(a if c else b).backward()\n",
        "d\n((a if c else b) + d).backward()\n",
    ),
    "the sum of a walrus": (
        rewritten("(b := a).backward()", "({0} + {1}).backward()", "(b := a)", "d"),
        "d\n(b := a).backward()\n",
        "d\n((b := a) + d).backward()\n",
    ),
    "no more parentheses": (
        rewritten("for", "sum({0}).backward()", "a if b else c"),
        "for x in a if b else c:\n    x.backward()\n",
        "sum(a if b else c).backward()\n",
    ),
    "a part over lines": (
        rewritten("b.backward()", "({0} + {1}).backward()", "f(1, 2)", "b"),
        "if x:\n    f(\n        1,\n        2,\n    )\n    b.backward()\n",
        "if x:\n    f(\n        1,\n        2,\n    )\n    (f(\n        1,\n        2,\n    ) + b).backward()\n",
    ),
    "a part with a string over lines": (
        rewritten("b.backward()", "({0} + {1}).backward()", "f('\\n1')", "b"),
        "if x:\n    f('''\n1''')\n    b.backward()\n",
        "if x:\n    f('''\n1''')\n    (f('''\n1''') + b).backward()\n",
    ),
    "a loop": (
        rewritten("for", "sum({0}).backward()", "xs"),
        "if y:\n    for x in xs:\n        x.backward()\n",
        "if y:\n    sum(xs).backward()\n",
    ),
    "a loop with comments": (
        rewritten("for", "sum({0}).backward()", "xs"),
        "if y:\n    for x in xs:  # all\n        # each\n        x.backward()  # now\n",
        "if y:\n    # all\n    # each\n    sum(xs).backward()  # now\n",
    ),
    "a loop in a line": (
        rewritten("for", "sum({0}).backward()", "xs"),
        "for x in xs: x.backward()  # now\n",
        "sum(xs).backward()  # now\n",
    ),
    "braces in a part": (
        rewritten("b.backward()", "({0} + {1}).backward()", "a['{1}']", "b"),
        "a['{1}']\nb.backward()\n",
        "a['{1}']\n(a['{1}'] + b).backward()\n",
    ),
    "several lines": (rewritten("a()", "b\nc"), "if x:\r\n    a()\r\n", "if x:\r\n    b\r\n    c\r\n"),
    "several lines, semicolon": (rewritten("a()", "b\nc"), "a(); d\n", None),
    "CR": (rewritten("a()", "b"), "if x:\r    a()\rc\r", "if x:\r    b\rc\r"),
}

TAILS: dict[str, Row] = {
    "plain": (tail(), "t += loss.data[0]\n", "t += loss.item()\n"),
    "blanks": (tail(), "t += loss . data [ 0 ]\n", "t += loss.item()\n"),
    "parentheses": (tail("(a + b).data[0]", "a + b"), "t += (a + b).data[0]\n", "t += (a + b).item()\n"),
    "two pairs": (tail("(a + b).data[0]", "a + b"), "t += ((a + b)).data[0]\n", "t += ((a + b)).item()\n"),
    "wide parentheses": (tail("(a + b).data[0]", "a + b"), "t += ( a + b ).data[0]\n", "t += ( a + b ).item()\n"),
    "parentheses over lines": (
        tail("(a + b).data[0]", "a + b"),
        "t += (\n    a + b  # c\n).data[0]\n",
        "t += (\n    a + b  # c\n).item()\n",
    ),
    "parentheses around more": (tail(), "t += (loss.data)[0]\n", None),
    "over lines": (tail(), "t += (loss\n      .data\n      [0])\n", "t += (loss.item())\n"),
    "a comment in it": (tail(), "t += loss.data[  # why\n    0]\n", None),
    "f-string": (tail(), 'f"{loss.data[0]:.3f}"\n', 'f"{loss.item():.3f}"\n'),
    "backslash": (tail(), "t += loss.data \\\n    [0] \\\n    + 1\n", "t += loss.item() \\\n    + 1\n"),
    "wide characters": (tail("d['é'].data[0]", "d['é']"), "'𝄞', d['é'].data[0]\n", "'𝄞', d['é'].item()\n"),
    "semicolon": (tail(), "a; loss.data[0]; b\n", "a; loss.item(); b\n"),
}

IN_PLACE: dict[str, Row] = {
    "plain": (in_place(), "w = w - lr * w.grad\n", "with torch.no_grad():\n    w -= lr * w.grad\n"),
    "in a block": (
        in_place(wrap=False),
        "with torch.no_grad():\n    w = w - lr * w.grad  # why\n",
        "with torch.no_grad():\n    w -= lr * w.grad  # why\n",
    ),
    "two": (
        in_place("w = ", "b = "),
        "for x in y:\n    w = w - g\n    # of b\n\n    b = b + h  # why\n    c\n",
        "for x in y:\n    with torch.no_grad():\n        w -= g\n        # of b\n\n        b += h  # why\n    c\n",
    ),
    "the unit of the file": (
        in_place(),
        "for x in y:\n  w = w - g\n",
        "for x in y:\n  with torch.no_grad():\n    w -= g\n",
    ),
    "the unit of the file, at its edge": (
        in_place(),
        "if x:\n\ta\nw = w - g\n",
        "if x:\n\ta\nwith torch.no_grad():\n\tw -= g\n",
    ),
    "forgotten": (
        in_place(forget=("w",)),
        "if x:\n\tw = w - g\n\tb\n",
        "if x:\n\twith torch.no_grad():\n\t\tw -= g\n\tw.grad = None\n\tb\n",
    ),
    "over lines": (
        in_place(),
        "w = w - f(\n    1,\n    2)\n",
        "with torch.no_grad():\n    w -= f(\n        1,\n        2)\n",
    ),
    "a string over lines": (in_place(), "w = w - f('''\n1''')\n", "with torch.no_grad():\n    w -= f('''\n1''')\n"),
    "a string with other line ends": (
        in_place(),
        "w = w - f('\u2028', '\x85')\n",
        "with torch.no_grad():\n    w -= f('\u2028', '\x85')\n",
    ),
    "parentheses": (in_place(), "w = (w - g)\n", None),
    "a comment before the sign": (in_place(), "w = (w  # why\n     - g)\n", None),
    "a backslash": (in_place(), "w = w - \\\n    g\n", "with torch.no_grad():\n    w -= \\\n        g\n"),
    "blanks": (in_place(), "w  =  w  -  g\n", "with torch.no_grad():\n    w -= g\n"),
    "a product": (in_place(), "w = w * g\n", None),
    "semicolon": (in_place(), "w = w - g; b\n", None),
    "semicolon in a block": (in_place(wrap=False), "w = w - g; b\n", "w -= g; b\n"),
    "form feed": (in_place(), "a\n\f\nif x:\n \f  w = w - g\n", None),
    "CR LF": (
        in_place(forget=("w",)),
        "if x:\r\n    w = w - g\r\n",
        "if x:\r\n    with torch.no_grad():\r\n        w -= g\r\n    w.grad = None\r\n",
    ),
    "CR": (in_place(), "if x:\r    w = w - g\rb\r", "if x:\r    with torch.no_grad():\r        w -= g\rb\r"),
    "no last newline": (in_place(), "w = w - g", "with torch.no_grad():\n    w -= g"),
    "BOM": (in_place(), BOM + b"w = w - g\n", BOM + b"with torch.no_grad():\n    w -= g\n"),
    "latin-1": (
        in_place(),
        f"{LATIN}w = w - f('é')  # ß\n".encode("latin-1"),
        f"{LATIN}with torch.no_grad():\n    w -= f('é')  # ß\n".encode("latin-1"),
    ),
    "wide characters": (in_place(wrap=False), "'é𝄞'; w = w - g\n", "'é𝄞'; w -= g\n"),
    "a name of several parts": (
        in_place("d['é'] = "),
        "d['é'] = d['é'] - g\n",
        "with torch.no_grad():\n    d['é'] -= g\n",
    ),
}

TABLE: dict[str, dict[str, Row]] = {
    "append_method": APPENDED,
    "set_keyword": KEYWORDS,
    "insert_statement": INSERTED,
    "move_statements": MOVED,
    "copy_statements": COPIED,
    "assign_result": BOUND,
    "drop_decorator": UNDECORATED,
    "drop_guard": UNGUARDED,
    "replace_expression": REPLACED,
    "replace_statement": REWRITTEN,
    "replace_tail": TAILS,
    "update_in_place": IN_PLACE,
}
ROWS = {f"{codemod}: {name}": row for codemod, rows in TABLE.items() for name, row in rows.items()}
