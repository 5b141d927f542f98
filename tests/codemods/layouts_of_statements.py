"""Statements that come, or are written otherwise, in every layout, and what a careful person makes of each."""

from __future__ import annotations

from layout_rows import BOM, KOREAN, LATIN, Row, bind, copy, copy_renamed, defined_as, in_place, insert, no_grad

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

COPIED: dict[str, Row] = {
    "other names": (
        copy_renamed("h = ", "n", "self.n", to="a()"),
        "h = n // 2 + n  # größe\nfor x in y:\n    a()\n",
        "h = n // 2 + n  # größe\nfor x in y:\n    h = self.n // 2 + self.n\n    a()\n",
    ),
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
    "semicolon": (copy("h = ", to="a()"), "h = 0; a()\n", "h = 0; h = 0; a()\n"),
    "first of its line": (copy("h = ", to="a()"), "h = 0; g = 1\na(); b()\n", "h = 0; g = 1\nh = 0\na(); b()\n"),
    "in the line of a loop": (copy("h = ", to="a()"), "h = 0\nfor i in x: a()\n", "h = 0\nfor i in x: h = 0; a()\n"),
    "behind a backslash": (copy("h = ", to="a()"), "h = 0\nb(); \\\na()\n", "h = 0\nb(); \\\nh = 0; a()\n"),
    "lines beside others": (copy("h = ", to="a()"), "h = (\n    0)\nb(); a()\n", None),
    "parts detached": (
        copy("h = ", to="a()", detached=("é", "v[0]", "x + y")),
        "h = d(é,\n  v[0],  # why\n  x + y)\nif z:\n    a()\n",
        "h = d(é,\n  v[0],  # why\n  x + y)\nif z:\n"
        "    h = d(é.detach(),\n      v[0].detach(),  # why\n      (x + y).detach())\n    a()\n",
    ),
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

UNDER_NO_GRAD: dict[str, Row] = {
    "plain": (no_grad("b", "c"), "a\nb\nc\nd\n", "a\nwith torch.no_grad():\n    b\n    c\nd\n"),
    "comments and blank lines": (
        no_grad("b", "c"),
        "a\n# of b\nb  # why\n\n# of c\nc\n# of d\nd\n",
        "a\n# of b\nwith torch.no_grad():\n    b  # why\n\n    # of c\n    c\n# of d\nd\n",
    ),
    "a block": (
        no_grad("if x"),
        "for i in r:\n\tif x:\n\t\ty = 1\n\telse:\n\t\ty = 2\n\tz\n",
        "for i in r:\n\twith torch.no_grad():\n\t\tif x:\n\t\t\ty = 1\n\t\telse:\n\t\t\ty = 2\n\tz\n",
    ),
    "strings over lines": (
        no_grad("b"),
        "b = f(\n    '''\n  x''')\n",
        "with torch.no_grad():\n    b = f(\n        '''\n  x''')\n",
    ),
    "another context": (no_grad("b", context="c()"), "a\nb\n", "a\nwith c():\n    b\n"),
    "others in the line": (no_grad("b"), "a; b\n", None),
    "CR LF": (no_grad("b"), "b\r\nc\r\n", "with torch.no_grad():\r\n    b\r\nc\r\n"),
    "no last newline": (no_grad("b"), "a\nb", "a\nwith torch.no_grad():\n    b"),
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

DEFINED: dict[str, Row] = {
    "plain": (defined_as(), "def early(self):\n    a\n", "def late(self):\n    a\n"),
    "decorated": (defined_as(), "@early\ndef early(self):\n    early\n", "@early\ndef late(self):\n    early\n"),
    "blanks": (defined_as(), "def  early (self): a\n", "def  late (self): a\n"),
    "tabs": (defined_as(), "class C:\n\tdef early(self): a\n", "class C:\n\tdef late(self): a\n"),
    "CR LF": (defined_as(), "def early(self):\r\n    a\r\n", "def late(self):\r\n    a\r\n"),
    "longer name": (
        defined_as(),
        "def early2(self): a\ndef early(self): a\n",
        "def early2(self): a\ndef late(self): a\n",
    ),
    "BOM": (defined_as(), BOM + b"def early(self): a\n", BOM + b"def late(self): a\n"),
    "wide characters": (defined_as(), "'𝄞'\ndef early(self): 'é'\n", "'𝄞'\ndef late(self): 'é'\n"),
    "backslash": (defined_as(), "def \\\n  early(self): a\n", None),
}
