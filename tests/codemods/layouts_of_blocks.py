"""Decorators, guards and whole loops, in every layout, and what a careful person makes of each."""

from __future__ import annotations

from layout_rows import BOM, Row, entered, rewritten, taking, undecorated, unguarded, without_context

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
    "with": (unguarded("with"), "with c(d[1:]):  # why\n    yield\n", "# why\nyield\n"),
    "with a name": (unguarded("with"), "with c() as d:\n    # low\n    yield\n", "# low\nyield\n"),
}

TAKING: dict[str, Row] = {
    "plain": (taking("a", "b"), "def f(self, a, b): pass\n", "def f(self, loss): pass\n"),
    "types": (taking("a", "b"), "def f(a: T, b: dict[str, int]) -> int: pass\n", "def f(loss) -> int: pass\n"),
    "over lines": (taking("a", "b"), "def f(\n    a,\n    b,\n): pass\n", "def f(\n    loss,\n): pass\n"),
    "comment": (taking("a", "b"), "def f(\n    a,  # x\n    b,\n): pass\n", None),
    "one": (taking("a"), "def f(a): pass\r\n", "def f(loss): pass\r\n"),
}

UNENTERED: dict[str, Row] = {
    "last": (without_context(), "with a, c():  # why\n    b\n", "with a:  # why\n    b\n"),
    "first": (without_context(), "with c() , a as d:\n    b\n", "with a as d:\n    b\n"),
    "between": (without_context(), "with a as d, c(), e:\n    b\n", "with a as d, e:\n    b\n"),
    "over lines": (without_context(), "with (\n    a,\n    c(),\n):\n    b\n", "with (\n    a,\n):\n    b\n"),
    "comment": (without_context(), "with (\n    a,  # a\n    c(),\n):\n    b\n", None),
    "in parentheses": (without_context(), "with a, (c()):\n    b\n", None),
    "backslash": (without_context(), "with a, \\\n        c():\n    b\n", None),
    "alone": (without_context(), "with c():\n    b\n", None),
    "CR LF": (without_context(), "with a, c():\r\n    b\r\n", "with a:\r\n    b\r\n"),
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
    "a value by itself": (
        rewritten("a =", "b = {0}\nself.a = b", "x if c else y"),
        "if c:\n    a = x if c else y\n",
        "if c:\n    b = x if c else y\n    self.a = b\n",
    ),
    "a value by itself, over lines": (
        rewritten("a =", "c()\nb = {0}\na = b", "x + y"),
        "if c:\r    a = (x\r        + y)\r",
        "if c:\r    c()\r    b = (x\r        + y)\r    a = b\r",
    ),
    "several lines": (rewritten("a()", "b\nc"), "if x:\r\n    a()\r\n", "if x:\r\n    b\r\n    c\r\n"),
    "several lines, semicolon": (rewritten("a()", "b\nc"), "a(); d\n", None),
    "CR": (rewritten("a()", "b"), "if x:\r    a()\rc\r", "if x:\r    b\rc\r"),
}

ENTERED: dict[str, Row] = {
    "plain": (
        entered(),
        "with c():\n    for x in y:\n        f(x)\nb\n",
        "for x in y:\n    with c():\n        f(x)\nb\n",
    ),
    "other statements": (
        entered(),
        "with c():  # d\n    a\n    # b\n    while x:  # on\n        # go\n        f\n\n        g\n    # end\n    z\n",
        "a\n# b\nwhile x:  # on\n    with c():  # d\n        # go\n        f\n\n        g\n# end\nz\n",
    ),
    "loop in a loop": (
        entered(),
        "if a:\n  with c() as k:\n    if b:\n      for x in y:\n          f(x)\n      g()\n",
        "if a:\n  if b:\n    for x in y:\n        with c() as k:\n          f(x)\n    g()\n",
    ),
    "else": (
        entered(),
        "with c():\n    for x in y:\n        f(x)\n    else:\n        g()\n",
        "for x in y:\n    with c():\n        f(x)\nelse:\n    g()\n",
    ),
    "strings over lines": (
        entered(),
        "with c():\n    a = '''\n    b'''\n    for x in y:\n        f('''\n    x''')\n    g\n",
        "a = '''\n    b'''\nfor x in y:\n    with c():\n        f('''\n    x''')\ng\n",
    ),
    "tabs, CR LF": (
        entered(),
        "with c():\r\n\tfor x in y:\r\n\t\tf(x)\r\n",
        "for x in y:\r\n\twith c():\r\n\t\tf(x)\r\n",
    ),
    "BOM, no last newline": (
        entered(),
        BOM + b"with c():\n    for x in y:\n        f(x)",
        BOM + b"for x in y:\n    with c():\n        f(x)",
    ),
    "head of several lines": (entered(), "with c(\n    1):\n    for x in y:\n        f(x)\n", None),
    "loop in one line": (entered(), "with c():\n    for x in y: f(x)\n", None),
    "loop of several lines": (
        entered(),
        "with c():\n    for x in zip(\n        y,\n    ):\n        f(x)\n",
        "for x in zip(\n    y,\n):\n    with c():\n        f(x)\n",
    ),
}
