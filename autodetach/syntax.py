"""What is said of a file that the running Python cannot parse: which Python that is, and which one may."""

from __future__ import annotations

import re
import sys

_NEWER = (
    ((3, 14), re.compile(r"\s*except\*?\s+[A-Z][\w.]*\s*,\s*[A-Z][\w.]*\s*[,:]"), "`except A, B:`"),
    ((3, 14), re.compile(r"(?:.*[^\w.\"'])?(?:[tT][rR]?|[rR][tT])[\"']"), "a template string"),
    ((3, 13), re.compile(r"\s*(?:async\s+def|def|class|type)\s+\w+\s*\[[^\]]*="), "a default of a type parameter"),
    ((3, 12), re.compile(r"\s*type\s+[^\W\d]\w*\s*(?:\[.*\]\s*)?="), "a `type` statement"),
    ((3, 12), re.compile(r"\s*(?:async\s+def|def|class)\s+\w+\s*\["), "type parameters"),
    ((3, 11), re.compile(r"\s*except\s*\*"), "`except*`"),
    ((3, 11), re.compile(r".*\[\s*(?:[^\[\]]*,\s*)?\*\w"), "a star in an index"),
    ((3, 11), re.compile(r"\s*(?:async\s+)?def\s.*\*\w+\s*:\s*\*"), "a star in an annotation"),
)
# Before 3.12 an f-string was no part of the grammar, and its quotes could not be nested.
_F_STRING = ((3, 12), "what f-strings may hold")


def described(error: SyntaxError, line: str, running: tuple[int, int] = sys.version_info[:2]) -> str:
    """One line about a syntax error in this line of a source, read by a Python of the version `running`."""
    text = f"syntax error: {error.msg} (Python {running[0]}.{running[1]})"
    found = next((known for known in _NEWER if running < known[0] and known[1].match(line)), None)
    if found is not None:
        version, what = found[0], found[2]
    elif running < _F_STRING[0] and (error.msg or "").startswith("f-string"):
        version, what = _F_STRING
    else:
        return text
    number = f"{version[0]}.{version[1]}"
    return f"{text}; for {what} of Python {number}, install autodetach for Python {number} or later"
