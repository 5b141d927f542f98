"""Calls around what was computed of their results, in every layout."""

from __future__ import annotations

from layout_rows import Row, lifted

LIFTED: dict[str, Row] = {
    "plain": (lifted("P(a)", "P(a) * 2"), "t = P(a) * 2\n", "t = P(a * 2)\n"),
    "at the end": (lifted("P(a)", "2 * P(a)"), "t = 2 * P(a)  # why\n", "t = P(2 * a)  # why\n"),
    "in the middle": (lifted("P(a)", "2 * P(a) + b"), "t = 2 * P(a) + b\n", "t = P(2 * a + b)\n"),
    "a term": (lifted("P(a + b)", "P(a + b) / 2"), "t = P(a + b) / 2", "t = P((a + b) / 2)"),
    "a term at the end": (lifted("P(a + b)", "2 * P(a + b)"), "t = 2 * P(a + b)\n", "t = P(2 * (a + b))\n"),
    "a method": (lifted("n.P(f(a))", "n.P(f(a)).view(2)"), "t = n.P(f(a)).view(2)\n", "t = n.P(f(a).view(2))\n"),
    "with a keyword": (lifted("P(a, g=True)", "P(a, g=True) * 2"), "t = P(a, g=True) * 2\n", "t = P(a * 2, g=True)\n"),
    "trailing comma": (lifted("P(a)", "P(a) * 2"), "t = P(a,) * 2\n", "t = P(a * 2,)\n"),
    "parentheses around": (lifted("P(a)", "P(a) * 2"), "t = (P(a)) * 2\n", "t = P((a) * 2)\n"),
    "parentheses within": (lifted("P(a + b)", "P(a + b) * 2"), "t = P((a + b)) * 2\n", None),
    "own lines": (
        lifted("P(a)", "P(a) * 2"),
        "t = (\n    P(a)  # why\n    * 2\n)\n",
        "t = (\n    P(a  # why\n    * 2)\n)\n",
    ),
    "an argument by lines": (lifted("P(a)", "P(a) * 2"), "t = P(\n    a\n) * 2\n", None),
    "two arguments": (lifted("P(a, b)", "P(a, b) * 2"), "t = P(a, b) * 2\n", None),
    "wide characters": (lifted("P(a)", "P(a) * 2"), "s, t = 'größe', P(a) * 2\n", "s, t = 'größe', P(a * 2)\n"),
}
