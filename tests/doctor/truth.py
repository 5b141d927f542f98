"""What the human repair of a program says about its fault: the lines that it touches, and the names on them."""

from __future__ import annotations

import ast
import difflib
import re
from dataclasses import dataclass

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Truth:
    """Lines of the faulty program, from 1: those that a person changed, and the statements beside inserted ones."""

    lines: frozenset[int]
    names: frozenset[str]


def truth(before: str, after: str) -> Truth:
    """Compare a program with its repair."""
    old, new = before.splitlines(), after.splitlines()
    spans = statements(before)
    lines: set[int] = set()
    words: set[str] = set()
    for kind, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        # An insertion stands beside the statement before it and that behind it.
        touched = set(range(i + 1, j + 1)) if j > i else beside(spans, i)
        for begin, end in spans:
            if not touched.isdisjoint(range(begin, end + 1)):
                touched |= set(range(begin, end + 1))
        lines |= touched
        words |= {word for line in touched for word in IDENTIFIER.findall(old[line - 1])}
        words |= {word for line in new[k:m] if j == i for word in IDENTIFIER.findall(line)}
    return Truth(frozenset(lines), frozenset(words))


def statements(source: str) -> list[tuple[int, int]]:
    """First and last line of each statement; of one with a body, those of its head."""
    spans = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno or node.lineno
            spans.append((node.lineno, max(node.lineno, end)))
    return sorted(spans)


def beside(spans: list[tuple[int, int]], line: int) -> set[int]:
    """The lines of the statements around an insertion behind this line."""
    above = [span for span in spans if span[1] <= line]
    below = [span for span in spans if span[0] > line]
    near = [max(above, key=lambda span: span[1])] if above else []
    near += [min(below)] if below else []
    return {number for begin, end in near for number in range(begin, end + 1)}


def last_name(path: str) -> str:
    """`preds` of `dice.preds[0]`; a name that only PyTorch's objects have, such as `grad`, does not count."""
    plain = re.sub(r"\[[^]]*\]|\{[^}]*\}|\(\)", "", path)
    names = [name for name in IDENTIFIER.findall(plain) if name not in ("grad", "closure", "default", "self", "args")]
    return names[-1] if names else ""
