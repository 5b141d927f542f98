"""Any bytes as what `git diff` prints, for `--diff-base`: names and lines in it may be somebody else's."""

from __future__ import annotations

from autodetach.adoption.changed import ChangedLines, _lines

SEEDS = (
    b"diff --git a/x.py b/x.py\nindex 1..2 100644\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,3 @@ f\n-a\n-b\n+c\n+d\n+e\n"
    b'diff --git "a/\\303\\244.py" "b/\\303\\244.py"\n--- /dev/null\n+++ "b/\\303\\244.py"\n@@ -0,0 +1 @@\n+x\n'
    b"\\ No newline at end of file\n",
    b"--- a/a b.py\t\n+++ b/a b.py\t\n@@ -5 +4,0 @@\n--- a/q\n",
)
WORDS = tuple(
    rb"""
    --- +++ @@ -1 +1 -0,0 +0,0 -1,99999999999999999999 a/x.py b/x.py /dev/null "b/\303\244.py" "b/\" "\777" "\400"
    \ ../../x rename from to Binary files differ No newline at end of file \t \0
    """.split()
)


def one(raw: bytes) -> None:
    """Raises where a promise is broken."""
    found = ChangedLines(_lines(raw, "/top"))
    for path, ranges in found.lines.items():
        for first, last in ranges:
            assert 1 <= first <= last + 1, (path, first, last)
        found.touches(path, 1, 10)
