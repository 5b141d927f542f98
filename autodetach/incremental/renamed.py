"""Functions that nobody mentions: another name for one of them changes nothing else."""

from __future__ import annotations

import re

from autodetach.incremental.follow import Patch
from autodetach.node_types import FUNCTIONS, FunctionNode
from autodetach.source import Source


def renamed(patch: Patch, before: Source, after: Source) -> tuple[FunctionNode, str] | None:
    """The function of a module that an edit of one text to another renames, and its new name, if nobody says either."""
    if len(patch.around) > 1 or len(patch.old) != 1 or len(patch.fresh) != 1:
        return None
    old, new = patch.old[0], patch.fresh[0]
    if not (isinstance(old, FUNCTIONS) and isinstance(new, FUNCTIONS)) or old.name == new.name:
        return None
    is_free = _is_said_once(old.name, before) and _is_said_once(new.name, after)
    return (old, new.name) if is_free else None


def _is_said_once(name: str, source: Source) -> bool:
    """Whether a name stands nowhere but where it is given, not in a comment either; Python looks up `__getattr__`."""
    if not name.isascii() or name.startswith("__"):
        return False
    return len(re.findall(rb"\b%s\b" % name.encode(), source.raw)) == 1
