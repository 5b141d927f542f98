"""Names that a file reads and that nothing in it binds: an edit must not leave one behind."""

from __future__ import annotations

import builtins
import symtable
from collections.abc import Iterator

from autodetach.old_names import readable

ALWAYS = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__path__", "__spec__", "__builtins__"}


def undefined_names(code: str) -> frozenset[str]:
    """The global names that are read somewhere in a file, and neither bound at its top level nor known to Python.

    What `from ... import *` brings is among them: of use is only what an edit adds. Raises SyntaxError.
    """
    top = symtable.symtable(readable(code), "<edited>", "exec")
    tables = list(_all(top))
    bound = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
    # `global name` in a function binds it, too.
    bound |= {s.get_name() for t in tables for s in t.get_symbols() if s.is_declared_global() and s.is_assigned()}
    read = {s.get_name() for t in tables for s in t.get_symbols() if s.is_referenced() and (t is top or s.is_global())}
    return frozenset(read - bound - ALWAYS)


def _all(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _all(child)
