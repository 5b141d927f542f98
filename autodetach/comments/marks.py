"""Whether a file can have comments that silence findings: told from its bytes, before anything else is loaded."""

from __future__ import annotations

import re

_MARKER = re.compile(rb"noqa|autodetach\s*:", re.IGNORECASE)
# As `suppress` reads a `noqa`, of bytes in small letters: codes of other tools, then what may be one of ours.
_OWN_CODES = re.compile(rb"autodetach\s*:|noqa\s*:\s*(?:[a-z]+\d+[,\s]+)*(?:ad\d|[a-z]+-[a-z])")


def may_silence(raw: bytes) -> bool:
    """Whether there can be a comment that silences something."""
    return _MARKER.search(raw) is not None


def may_name_rules(raw: bytes) -> bool:
    """Whether there can be a comment that somebody wrote for this tool: cheap, on the bytes.

    To look for fixed bytes in small letters is ten times as fast as for either case.
    """
    small = raw.lower()
    return (b"noqa" in small or b"autodetach" in small) and _OWN_CODES.search(small) is not None
