"""Statements that move, in every layout, and what a careful person makes of each."""

from __future__ import annotations

from layout_rows import BOM, KOREAN, LATIN, Row, move, part

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

PARTS: dict[str, Row] = {
    "under its own header": (
        part("b()", "s.step()", of="if x", to="a()"),
        "a()\nif x:\n    b()\n    s.step()\n    c()\n",
        "if x:\n    b()\n    s.step()\na()\nif x:\n    c()\n",
    ),
    "with what its names begin with": (
        part("y = 1", of="if x", to="a()", leading=("y = 0",)),
        "# of a\na()\n\n# of y\ny = 0\n# of x\nif x:  # why\n    # one\n    y = 1  # 1\n    c(y)\n",
        "# of y\ny = 0\nif x:\n    # one\n    y = 1  # 1\n\n# of a\na()\n\n# of x\nif x:  # why\n    c(y)\n",
    ),
    "tabs, in a loop": (
        part("b(", of="if x", to="a()"),
        "for i in z:\n\ta()\n\tif x % 2 == 0:\n\t\tb(\n\t\t\t1)\n\t\tc()\n",
        "for i in z:\n\tif x % 2 == 0:\n\t\tb(\n\t\t\t1)\n\ta()\n\tif x % 2 == 0:\n\t\tc()\n",
    ),
    "a string over lines": (
        part("b(", of="if x", to="a()"),
        "a()\nif x:\n    b('''\n  1''')\n    c()\n",
        "if x:\n    b('''\n  1''')\na()\nif x:\n    c()\n",
    ),
    "a test over lines": (part("b()", of="if x and", to="a()"), "a()\nif (x and\n    y):\n    b()\n    c()\n", None),
    "an elif": (part("b()", of="if y", to="a()"), "if x:\n    a()\nelif y:\n    b()\n    c()\n", None),
    "one-line suite": (part("b()", of="if x", to="a()"), "a()\nif x: b(); c()\n", None),
    "CR LF": (
        part("b()", of="if x", to="a()"),
        "a()\r\nif x:\r\n    b()\r\n    c()\r\n",
        "if x:\r\n    b()\r\na()\r\nif x:\r\n    c()\r\n",
    ),
}
