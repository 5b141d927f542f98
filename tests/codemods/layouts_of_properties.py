"""Attributes of constructors that become properties, in every layout, and what a careful person makes of each."""

from __future__ import annotations

from layout_rows import BOM, Row, property_of, summed

HEAD = "class C:\n    def __init__(self, e):\n        super().__init__()\n"
PROPERTY = "\n    @property\n    def x(self):\n"

SUM = "class C:\n    def __init__(self):\n        self.x = 0\n\n    def add(self, ws, c=1):\n"
SUMMED = "class C:\n    def __init__(self):\n        self.x_terms = []\n\n    def add(self, ws, c=1):\n"
ONE = "        self.x_terms.append(list(ws))\n\n    @property\n    def x(self):\n        total = 0\n"
TWO = ONE.replace("list(ws)", "(list(ws), c)")
PAIR = (("ws", "list(ws)"), ("c", "c"))

PROPERTIES: dict[str, Row] = {
    "the last statement": (
        property_of("self.x"),
        HEAD + "        self.x = exp(w)\n\n    def f(self): pass\n",
        HEAD + PROPERTY + "        return exp(w)\n\n    def f(self): pass\n",
    ),
    "comments go with it": (
        property_of("self.x"),
        HEAD + "        # of x\n        self.x = exp(w)  # why\n        self.y = 1\n",
        HEAD + "        self.y = 1\n" + PROPERTY + "        # of x\n        return exp(w)  # why\n",
    ),
    "with what the constructor is given": (
        property_of("self.x", given=("e",)),
        HEAD + "        self.x = exp(w) + e\n        self.y = 1\n",
        HEAD + "        self.e = e\n        self.y = 1\n" + PROPERTY + "        return exp(w) + self.e\n",
    ),
    "with its names": (
        property_of("t =", "self.x"),
        HEAD + "        t = exp(w)\n        self.y = 1\n        self.x = t\n",
        HEAD + "        self.y = 1\n" + PROPERTY + "        t = exp(w)\n        return t\n",
    ),
    "a name that the constructor needs": (
        property_of("n =", "self.x", copied=("n =",)),
        HEAD + "        n = 1\n        self.y = n\n        self.x = w * n\n",
        HEAD + "        n = 1\n        self.y = n\n" + PROPERTY + "        n = 1\n        return w * n\n",
    ),
    "over lines": (
        property_of("self.x"),
        HEAD + "        self.x = (exp(w)  # w\n                  + 1)\n",
        HEAD + PROPERTY + "        return (exp(w)  # w\n                  + 1)\n",
    ),
    "backslash": (
        property_of("self.x"),
        HEAD + "        self.x = \\\n            exp(w)\n",
        HEAD + PROPERTY + "        return \\\n            exp(w)\n",
    ),
    "annotated": (
        property_of("self.x"),
        HEAD + "        self.x: T['='] = exp(w)\n",
        HEAD + PROPERTY + "        return exp(w)\n",
    ),
    "tabs": (
        property_of("self.x"),
        "class C:\n\tdef __init__(self):\n\t\tself.x=exp(w)\n\t\tself.y = 1\n",
        "class C:\n\tdef __init__(self):\n\t\tself.y = 1\n\n\t@property\n\tdef x(self):\n\t\treturn exp(w)\n",
    ),
    "the last line": (
        property_of("self.x"),
        HEAD + "        self.x = exp(w)",
        HEAD + PROPERTY + "        return exp(w)\n",
    ),
    "the last line stays": (
        property_of("self.x"),
        HEAD + "        self.x = exp(w)\n        self.y = 1",
        HEAD + "        self.y = 1\n" + PROPERTY + "        return exp(w)",
    ),
    "BOM": (
        property_of("self.x"),
        BOM + (HEAD + "        self.x = exp(w)\n").replace("\n", "\r\n").encode(),
        BOM + (HEAD + PROPERTY + "        return exp(w)\n").replace("\n", "\r\n").encode(),
    ),
    "semicolon": (property_of("self.x"), HEAD + "        self.x = exp(w); self.y = 1\n", None),
    "one line": (property_of("self.x"), "class C:\n    def __init__(self): self.x = exp(w)\n", None),
    "nothing would be left": (
        property_of("self.x"),
        "class C:\n    def __init__(self):\n        self.x = exp(w)\n",
        None,
    ),
}

SUMS: dict[str, Row] = {
    "one statement": (
        summed("self.x = 0", "self.x +="),
        SUM + "        self.x += sum(w.norm() for w in ws)\n",
        SUMMED
        + ONE
        + "        for ws in self.x_terms:\n            total += sum(w.norm() for w in ws)\n        return total\n",
    ),
    "a loop, and comments": (
        summed("self.x = 0", "t =", "for w", "self.x = self.x +", given=PAIR),
        SUM
        + '        """Adds."""\n        # of ws\n        t = 0\n        for w in ws:\n'
        + "            t += w.norm()  # why\n        self.x = self.x + c * t\n\n    def f(self): pass\n",
        SUMMED
        + '        """Adds."""\n'
        + TWO
        + "        for ws, c in self.x_terms:\n            # of ws\n            t = 0\n            for w in ws:\n"
        + "                t += w.norm()  # why\n            total = total + c * t\n        return total\n"
        + "\n    def f(self): pass\n",
    ),
    "the sum is behind": (
        summed("self.x = 0", "self.x = c", given=PAIR),
        SUM + "        self.x = c * norm(ws, '''a\nb''') + self.x",
        SUMMED
        + TWO
        + "        for ws, c in self.x_terms:\n"
        + "            total = c * norm(ws, '''a\nb''') + total\n        return total",
    ),
    "tabs": (
        summed("self.x = 0", "self.x +="),
        "class C:\n\tdef __init__(self):\n\t\tself.x=0\n\tdef add(self, ws):\n\t\tself.x += f(ws)\n",
        "class C:\n\tdef __init__(self):\n\t\tself.x_terms = []\n"
        "\tdef add(self, ws):\n\t\tself.x_terms.append(list(ws))\n\n"
        "\t@property\n\tdef x(self):\n\t\ttotal = 0\n"
        "\t\tfor ws in self.x_terms:\n\t\t\ttotal += f(ws)\n\t\treturn total\n",
    ),
    "BOM": (
        summed("self.x = 0", "self.x +="),
        BOM + (SUM + "        self.x += f(ws)\n").replace("\n", "\r\n").encode(),
        BOM
        + (SUMMED + ONE + "        for ws in self.x_terms:\n            total += f(ws)\n        return total\n")
        .replace("\n", "\r\n")
        .encode(),
    ),
    "semicolon": (summed("self.x = 0", "self.x +="), SUM + "        t = 1; self.x += t\n", None),
}
