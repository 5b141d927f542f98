"""What the functions and classes of a file mention, and which of that may begin a history."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TypeAlias

from autodetach.machine.torch_modules import MODULES
from autodetach.machine.words import BY_STRING, DIFFERENTIATIONS, EVIDENCE, IN_FRONT

SAYING = DIFFERENTIATIONS | EVIDENCE | {"requires_grad_", "Variable", "data"}
"""Attributes at which history may begin, or be walked."""
CLASSES = frozenset(MODULES) - {"Module"} | {"Parameter"}
TELLING = SAYING | CLASSES | {"requires_grad"}
"""What tells as a string, where attributes are looked up by these."""
Import: TypeAlias = ast.Import | ast.ImportFrom


class Part:
    """What stands in a function or class, in those inside of it too.

    `plain` are the names that are evaluated, but for those in front of a dot, which are not handed on. `begins`: of the
    attributes, keywords and strings, one is such that history may begin there.
    """

    __slots__ = ("begins", "is_class", "loops", "names", "plain")

    def __init__(self, *, is_class: bool = False) -> None:
        self.names: set[str] = set()
        self.plain: set[str] = set()
        self.begins = False
        self.loops = False
        self.is_class = is_class

    def add(self, other: Part) -> None:
        """Mention what another one mentions, too."""
        self.names |= other.names
        self.plain |= other.plain
        self.begins |= other.begins
        self.loops |= other.loops

    def and_of(self, other: Part) -> Part:
        """This one and another one of the same name."""
        made = Part(is_class=self.is_class)
        made.add(self)
        made.add(other)
        return made


class Mentions:
    """What a file mentions, or one statement of it.

    `methods` are the functions that stand in a class, `tops` the names of functions and classes that stand in no other.
    `aliases` are other names for what begins history, `bases` the words of the bases of each class. `strings`: names of
    what matters stand in strings. `is_clear` is false where names are imported that are not told. `imports` are all
    statements that import, `imports_inside` those of them that stand in a function or class. `set_on_others` are the
    attributes that are set on what is not called `self`, to something that is not empty, or to which something is added
    there.
    """

    __slots__ = (
        "aliases",
        "bases",
        "classes",
        "functions",
        "imports",
        "imports_inside",
        "is_clear",
        "methods",
        "set_on_others",
        "strings",
        "tops",
    )

    def __init__(self) -> None:
        self.functions: dict[str, Part] = {}
        self.methods: dict[str, Part] = {}
        self.tops: set[str] = set()
        self.classes: dict[str, Part] = {}
        self.aliases: set[str] = set()
        self.bases: list[tuple[str, frozenset[str]]] = []
        self.strings = False
        self.is_clear = True
        self.imports: list[Import] = []
        self.imports_inside: list[Import] = []
        self.set_on_others: set[str] = set()

    @property
    def parts(self) -> tuple[dict[str, Part], ...]:
        """All functions, methods and classes, by name."""
        return self.functions, self.methods, self.classes

    def add(self, other: Mentions) -> None:
        for mine, its in zip(self.parts, other.parts, strict=True):
            for name, part in its.items():
                known = mine.get(name)
                mine[name] = part if known is None else known.and_of(part)
        self.tops |= other.tops
        self.aliases |= other.aliases
        self.bases += other.bases
        self.strings |= other.strings
        self.is_clear &= other.is_clear
        self.imports += other.imports
        self.imports_inside += other.imports_inside
        self.set_on_others |= other.set_on_others

    def names_that_matter(self, others: Iterable[str] = ()) -> set[str]:
        """The names that stand for a class of modules, or for what differentiates, and `others`.

        A class of modules whose `forward` is not in view begins a history where an object of it is called.
        """
        found = {"Variable", *IN_FRONT, *CLASSES, *self.aliases, *others}
        if self.strings:
            found |= BY_STRING  # somewhere they may be looked up by that name
        waiting = self.bases
        while True:
            left = [(name, base) for name, base in waiting if base.isdisjoint(found) and not _has_module(base)]
            if len(left) == len(waiting):
                return found
            found.update(name for name, base in waiting if (name, base) not in left)
            waiting = left


def bound_by(statement: Import, alias: ast.alias) -> str:
    """The name that an import gives to what it imports; `*` for all names."""
    return alias.asname or (alias.name if isinstance(statement, ast.ImportFrom) else alias.name.partition(".")[0])


def file_of(statement: Import, alias: ast.alias) -> str:
    """The dotted name of the file that an import means, or of the package that has it."""
    if isinstance(statement, ast.Import):
        return alias.name
    return "." * statement.level + (statement.module or "")


def _has_module(base: Iterable[str]) -> bool:
    return any("Module" in word for word in base)
