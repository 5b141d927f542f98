"""An analysis used again for a program that differs only in blanks, comments, and functions that no path runs.

The machine reads syntax trees, and no line numbers before the rules ask for them. So if the new tree is the old one but
for its positions, the old one gets these, and all that is known of it holds. Of a function that no path runs, the
machine sees the head; of its body, only what `_shown_by_body` says.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from autodetach.incremental.follow import Patch, followed
from autodetach.incremental.renamed import renamed
from autodetach.incremental.touched import Touched, outermost
from autodetach.kept import forget
from autodetach.machine.entering import CALLED_FROM
from autodetach.machine.generators import has_yield
from autodetach.machine.mentioned import mentioned
from autodetach.machine.project import Module
from autodetach.machine.reach import Reach
from autodetach.machine.run import Analysis, dissolve
from autodetach.machine.running import run_selected
from autodetach.node_types import FUNCTIONS, FunctionNode
from autodetach.old_names import hand_on
from autodetach.projects.project import Files, parse
from autodetach.relevance import in_tree
from autodetach.source import Lines, Source

EXITS = frozenset({"__exit__", "__aexit__"})
"""Methods whose bodies are looked at before they are run."""


@dataclass(slots=True)
class _Pairs:
    """Nodes of two trees side by side; `bodies` are functions with another body, with all that they stand in."""

    nodes: list[tuple[ast.AST, ast.AST]] = field(default_factory=list)
    bodies: list[tuple[FunctionNode, FunctionNode, tuple[ast.AST, ...]]] = field(default_factory=list)


class Again:
    """Remembers the tree of one file as its text is edited, and the last analysis; see `checker.remember`."""

    def __init__(self) -> None:
        self._path = ""
        self._source: Source | None = None
        self._tree = ast.Module([], [])
        self._files: Files | None = None
        self._analysis: Analysis | None = None
        self._telling: ast.stmt | None = None
        self._touched: Touched | None = None
        self._dead: list[Analysis] = []
        self.told: Callable[..., None] | None = None

    def tree(self, source: Source, path: str) -> ast.Module:
        """The tree of the text at a path, in which as much as can be is what it was. Raises what `ast.parse` raises."""
        before = self._source
        if before is None or path != self._path:
            tree = parse(source)
            self._path, self._tree, self._telling = path, tree, None
            self._files = None
            self._touched = None
            self._set(None)
        else:
            patch = followed(self._tree, before, source)
            if patch is None:
                body = self._tree.body
                patch = Patch((self._tree,), body, 0, len(body), parse(source).body, 0, 0)
            self._take(patch, before, source)
        self._source = source
        return self._tree

    def is_told(self) -> bool:
        """Whether some statement by itself tells that the program may have a finding; see `relevance.in_tree`."""
        body = self._tree.body
        if self._telling is None or not any(statement is self._telling for statement in body):
            self._telling = next((statement for statement in body if in_tree(ast.Module([statement], []))), None)
        return self._telling is not None

    def keep(self, files: Files, analysis: Analysis) -> None:
        """Remember what was found out about a program."""
        self._files = files
        self._touched = Touched(analysis.runs[0])
        self._set(analysis)

    def parts_of(self, files: Files) -> tuple[Analysis | None, Lines] | None:
        """An analysis of those parts of a program that edits have touched, and what it tells of; None if of all.

        Where they have touched none, nothing is to be told.
        """
        look = None if self._touched is None else self._touched.look()
        if look is None:
            return None
        if look.is_at_nothing:
            return None, ()
        analysis = run_selected(files.root.tree, files.anew(), look.selection)
        self.drop(analysis)
        (run,) = analysis.runs
        return (analysis, look.lines(run)) if run.finished else None

    def drop(self, analysis: Analysis) -> None:
        """Have an analysis that nobody needs any more cleared away by `tidy`."""
        self._dead.append(analysis)

    def tidy(self) -> None:
        """Clear away what is not needed any more."""
        while self._dead:
            dissolve(self._dead.pop())

    def analysis(self, files: Files) -> Analysis | None:
        """What is known of a program whose tree was asked for last; None if it is another, or imports others."""
        before, known = self._files, self._analysis
        if before is None or known is None or files.root.tree is not self._tree or not _same_imports(before, files):
            return None
        for run in known.distinct:
            for d in run.machine.differentiations:
                home = getattr(d.call, CALLED_FROM, None)
                if home is not None:
                    ast.copy_location(d.call, home)
        self._files = files
        return known.within(files)

    def _take(self, patch: Patch, before: Source, source: Source) -> None:
        """Let the tree be as an edit makes it, and forget the analysis if that is of another program."""
        if self._analysis is not None and (found := renamed(patch, before, source)) is not None:
            self._rename(*found)
        known, around, pairs = self._analysis, patch.around, _Pairs()
        if known is None:
            self._splice(patch)
            self._note(patch)
            return
        function = outermost(around)
        is_open = function is None and all(isinstance(node, ast.ClassDef) for node in around[1:])
        if _pair(patch.old, patch.fresh, pairs, around if is_open else (), lambda one: _is_run(one, known)):
            reach = _mattering(self._tree, known) if pairs.bodies else None
            patch.make_room()
            for old, new in pairs.nodes:
                for name in old._attributes:
                    setattr(old, name, getattr(new, name))
            for one, edited, inside in pairs.bodies:
                one.body = edited.body
                hand_on(edited, inside)
                for node in inside:
                    forget(node)
            patch.put(patch.old)
            is_same = reach is None or (not known.narrowed and reach == _mattering(self._tree, known))
        elif function is not None and not _is_run(function, known):
            shown, reach = _shown_by_body(function), _mattering(self._tree, known)
            self._splice(patch)
            # What no path ran may be where a history begins now, and so a reason for paths that were left out.
            is_same = (
                not known.narrowed and shown == _shown_by_body(function) and reach == _mattering(self._tree, known)
            )
        else:
            self._splice(patch)
            is_same = False
        if not is_same:
            self._note(patch)
            self._set(None)

    def _rename(self, function: FunctionNode, name: str) -> None:
        """Let a function that nobody mentions have another name; forget the analysis if it runs that function."""
        known = self._analysis
        if known is None or _is_run(function, known) or (self._files is not None and len(self._files.modules) > 1):
            return
        reach = _mattering(self._tree, known)
        old, function.name = function.name, name
        forget(function)
        forget(self._tree)
        renamed_reach = {(kind, name if one == old else one): found for (kind, one), found in reach.items()}
        if renamed_reach != _mattering(self._tree, known):
            self._set(None)

    def _note(self, patch: Patch) -> None:
        if self._touched is not None:
            self._touched.note(patch)

    def _set(self, analysis: Analysis | None) -> None:
        if self._analysis is not None and (analysis is None or analysis.runs is not self._analysis.runs):
            self.drop(self._analysis)
        self._analysis = analysis

    def _splice(self, patch: Patch) -> None:
        patch.make_room()
        patch.put(patch.fresh)
        for node in patch.around:
            forget(node)
        if self._telling in patch.around:
            self._telling = None


def _same_imports(before: Files, files: Files) -> bool:
    """Whether all that a program has loaded, or only found, is what another one would load and find."""
    for (path, name), module in before.loaded.items():
        importer = files.module_of(path)
        if importer is None or not _same(module, files.load(name, importer)):
            return False
    for (path, name), found in before.sought.items():
        importer = files.module_of(path)
        if importer is None or files.find(name, importer) != found:
            return False
    return all(files.is_idle(path) == answer for path, answer in before.idle.items())


def _same(one: Module | None, other: Module | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.path == other.path and one.tree is other.tree and one.first == other.first


def _pair(
    old: object, new: object, pairs: _Pairs, around: tuple[ast.AST, ...], is_run: Callable[[FunctionNode], bool]
) -> bool:
    """Whether two trees are the same but for positions and for bodies that are not run; `pairs` is filled."""
    pending: list[tuple[object, object, tuple[ast.AST, ...]]] = [(old, new, around)]
    while pending:
        a, b, around = pending.pop()
        if a.__class__ is not b.__class__:
            return False
        if isinstance(a, ast.AST) and isinstance(b, ast.AST):
            pairs.nodes.append((a, b))
            children = list(_children(a, b))
            if isinstance(a, FUNCTIONS) and isinstance(b, FUNCTIONS) and around and not is_run(a):
                body = _Pairs()
                inner = (a.body, b.body)
                if _pair(*inner, body, (), is_run):
                    pairs.nodes += body.nodes
                elif _shown_by_body(a) == _shown_by_body(b):
                    pairs.bodies.append((a, b, (*around, a)))
                else:
                    return False
                children = [pair for pair in children if pair[0] is not a.body]
            # Only what stands in a module, or in a class of one, is surely looked at by nobody else.
            around = (*around, a) if around and isinstance(a, ast.ClassDef) else ()
            pending += ((x, y, around) for x, y in children)
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            pending += ((x, y, around) for x, y in zip(a, b, strict=True))
        elif a != b:
            return False
    return True


def _is_run(function: FunctionNode, analysis: Analysis) -> bool:
    return any(function.body[0] in run.machine.executed for run in analysis.distinct)


def _shown_by_body(function: FunctionNode) -> tuple[object, ...]:
    """What those see of a function's body who do not run it."""
    saves = any(isinstance(node, ast.Attribute) and node.attr == "save_for_backward" for node in ast.walk(function))
    is_seen = function.name in EXITS
    return has_yield(function), saves, [ast.dump(one) for one in function.body] if is_seen else None


def _mattering(tree: ast.Module, known: Analysis) -> dict[tuple[int, str], tuple[bool, bool, set[str]]]:
    """Of each function and class, what decides whether it is run as an entry point; see `machine.bystanders`."""
    reach, mentions = Reach([tree]), mentioned(tree)
    globals_ = {name for run in known.distinct for frame in run.machine.tops for name in frame.names}
    return {
        (kind, name): (reach.matters(name), reach.begins(name), part.names & globals_)
        for kind, parts in enumerate(mentions.parts)
        for name, part in parts.items()
    }


def _children(a: ast.AST, b: ast.AST) -> Iterator[tuple[object, object]]:
    for name in a._fields:
        x, y = getattr(a, name, None), getattr(b, name, None)
        if x is not y:
            yield x, y
