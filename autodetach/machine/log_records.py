"""Where a program looks at the records of its log: what a call of a logger was given is seen there as it was given.

A filter, a handler or a formatter of the program may ask a value for its type, or for a method of tensors. One that has
the text made, `record.getMessage()`, does not.
https://docs.python.org/3/library/logging.html#logrecord-attributes
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.kept import kept
from autodetach.machine.children import nodes_in
from autodetach.machine.core import Core, tags_in
from autodetach.machine.graph import Site
from autodetach.machine.graph_reads import LOGGING
from autodetach.machine.number_readers import wanted
from autodetach.machine.spelling import called_name, last_word
from autodetach.machine.values import Value
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import CALLABLES, CallableNode

MAKERS = ("Logger", "LoggerAdapter", "LogRecord")
READERS = ("Filter", "Handler", "Formatter", *MAKERS)
"""How the names end of the classes from which those derive that make records, or are shown them."""
ADDING = frozenset({"addFilter", "setLogRecordFactory"})
"""By what a function may be shown all records, or make them."""
PARTS = frozenset({"args", "msg"})
"""What a record has of what a call was given."""
OWN = frozenset({"self", "cls"})


class _Looks(NamedTuple):
    """What a statement, or a file, says of records.

    `shows`: something is shown them. `by_readers` are the parts of them that such classes read, `by_others` those that
    a function reads of what it is given.
    """

    shows: bool
    by_readers: frozenset[str]
    by_others: frozenset[str]


def logged(m: Core, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> None:
    """A logger is called: what the program reads of its records is wanted as it is."""
    if name not in LOGGING or not any(tags_in(value) for value in (*args, *kwargs.values())):
        return
    looks = [_looks_of_file(tree) for tree in _trees(m)]
    if not any(each.shows for each in looks):
        return
    read = {part for each in looks for part in (*each.by_readers, *each.by_others)}
    message = 1 if name == "log" else 0
    values = [kwargs["extra"]] if "extra" in kwargs else []
    if "args" in read:
        values += args[message + 1 :]
    if "msg" in read:
        values += args[message : message + 1]
    wanted(m, values, site, name)


def _trees(m: Core) -> list[ast.Module]:
    return [] if m.project is None else [module.tree for module in m.project.modules]


@kept
def _looks_of_file(tree: ast.Module) -> _Looks:
    looks = [_looks(statement) for statement in tree.body]
    return _Looks(
        any(each.shows for each in looks),
        frozenset[str]().union(*(each.by_readers for each in looks)),
        frozenset[str]().union(*(each.by_others for each in looks)),
    )


@kept
def _looks(statement: ast.stmt) -> _Looks:
    shows, by_readers, by_others = False, set[str](), set[str]()
    for node in nodes_in(statement):
        if isinstance(node, ast.ClassDef) and _derives_from(node, READERS):
            shows = True
            by_readers.update(_read_in(node))
        elif isinstance(node, CALLABLES):
            by_others.update(_read_of(node))
        elif isinstance(node, (ast.Attribute, ast.Name)) and last_word(node) in ADDING:
            shows = True
    return _Looks(shows, frozenset(by_readers), frozenset(by_others))


def _derives_from(cls: ast.ClassDef, names: tuple[str, ...]) -> bool:
    return any(last_word(base).endswith(names) for base in cls.bases)


def _read_in(reader: ast.ClassDef) -> Iterator[str]:
    """The parts that a class reads of anything but itself; what makes records has them by their own names."""
    handed_on = {node.value for node in nodes_in(reader) if isinstance(node, ast.Starred)}
    makes = _derives_from(reader, MAKERS)
    for node in nodes_in(reader):
        if makes and isinstance(node, ast.Name) and node.id in PARTS and node not in handed_on:
            yield node.id
        for owner, part in _parts_read(node):
            if not (isinstance(owner, ast.Name) and owner.id in OWN):
                yield part


def _read_of(function: CallableNode) -> Iterator[str]:
    """The parts that a function reads of what it is given."""
    given = {a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)} - OWN
    for node in nodes_in(function) if given else ():
        for owner, part in _parts_read(node):
            if isinstance(owner, ast.Name) and owner.id in given:
                yield part


def _parts_read(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """`record.args`, `getattr(record, "args")`; of `vars(record)`, and of `record.__dict__`, each."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        if node.attr in PARTS:
            yield node.value, node.attr
        elif node.attr == "__dict__":
            yield from ((node.value, part) for part in PARTS)
    elif isinstance(node, ast.Call) and node.args:
        if called_name(node) == "vars":
            yield from ((node.args[0], part) for part in PARTS)
        elif called_name(node) == "getattr" and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
            yield from ((node.args[0], part) for part in PARTS & {node.args[1].value})
