"""A method that makes what is read in every pass is called in every pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.activations import Activation
from autodetach.machine.children import walk
from autodetach.machine.graph import Node, calls_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word
from autodetach.node_types import DEFINITIONS, LOOPS
from autodetach.suspect import Candidate
from autodetach.view.changed_between import doubt_of_changes
from autodetach.view.program import Block, Program, text, without_retain
from autodetach.view.side_effects import draws_random_numbers, keeps_state

CHANGES = "what is called draws random numbers or changes a state, which it will do in every pass"


def called_inside(program: Program, run: Run, body: Block, outer: list[Node], doubt: str | None) -> Iterator[Candidate]:
    """`self.apply_mask()` of the constructor, written again where what it has made is read."""
    from autodetach.codemods.copy_statements import CopyStatements

    anchor = first_statement(body)
    home = program.scope(anchor)
    known = (s for s in calling_statements(program, outer) if program.scope(s) is not home)
    calls = [s for s in known if of_the_same_object(program, s, anchor)]
    if not calls:
        return
    flags = without_retain(outer)
    end = ", and no graph is retained" if flags else ""
    message = f"call `{text(calls[0])}` inside the function{end}"
    doubt = _doubt(program, run, calls[0], outer, doubt)
    yield Candidate(message, (CopyStatements((calls[0],), anchor), *flags), doubt)


def called_by_reader(
    program: Program, run: Run, readers: list[Node], outer: list[Node], doubt: str | None
) -> Iterator[Candidate]:
    """The same in the function of the object, the innermost first, from which all that reads is called.

    What is made may be kept by other objects, as by the gates of a circuit, and these may be read by yet other ones.
    """
    ways: list[list[ast.AST]] = []
    for reader in readers:
        places = [reader.site.node, *(site.node for site in calls_of(reader.chain))]
        ways.append([program.scope(place) for place in places])
    for function in ways[0] if ways else ():
        if isinstance(function, ast.FunctionDef) and all(function in way for way in ways):
            yield from called_inside(program, run, function.body, outer, doubt)


def called_in_loop(
    program: Program, run: Run, activation: Activation, outer: list[Node], doubt: str | None
) -> Iterator[Candidate]:
    """`self.rebuild()` in front of the loop, moved into it: nothing on the way reads what it makes."""
    from autodetach.codemods.move_statements import MoveStatements

    loop = activation.node
    if not isinstance(loop, LOOPS):
        return
    for call in calling_statements(program, outer)[:1]:
        loops, over = _way(program, call, loop)
        bound = {name for s in (*loops, *over) for name in program.names_bound(s)}
        if not loops or program.names_read(call) & bound or _may_matter(program, over, _called(program, call, outer)):
            continue
        flags = without_retain(outer)
        end = ", and no graph is retained" if flags else ""
        move = MoveStatements((call,), first_statement(loop.body))
        reason = _doubt(program, run, call, outer, doubt)
        yield Candidate(f"call `{text(call)}` inside the loop{end}", (move, *flags), reason)


def first_statement(body: Block) -> ast.stmt:
    """The first one behind a docstring."""
    first = body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1] if is_docstring and len(body) > 1 else first


def calling_statements(program: Program, outer: list[Node]) -> list[ast.stmt]:
    """The statements that do nothing but call what makes all of the nodes, innermost first."""
    found: list[list[ast.stmt]] = []
    for node in outer:
        calls = [(site.node, program.statement(site.node)) for site in calls_of(node.chain)]
        found.append([s for call, s in calls if isinstance(s, ast.Expr) and s.value is call])
    return [s for s in found[0] if all(s in others for others in found)] if found else []


def of_the_same_object(program: Program, statement: ast.stmt, anchor: ast.stmt) -> bool:
    """`self.x = ...` in a constructor means the same in another method of the class."""
    here, there = program.scope(statement), program.scope(anchor)
    if not (isinstance(here, ast.FunctionDef) and isinstance(there, ast.FunctionDef)):
        return False
    if program.parents.get(here) is not program.parents.get(there) or not here.args.args or not there.args.args:
        return False
    this = here.args.args[0].arg
    if this != there.args.args[0].arg:
        return False
    local = {n for s in here.body for n in program.names_bound(s)} | {a.arg for a in here.args.args[1:]}
    bound = program.names_bound(statement)
    return not bound and not (program.names_read(statement) & local)


def is_of_another_class(program: Program, mention: ast.Attribute, goal: ast.AST) -> bool:
    """Whether it is `self.places` in a class of which no object is one of the class around `goal`, too."""
    method = program.scope(mention)
    cls = program.parents.get(method)
    if not isinstance(method, ast.FunctionDef) or not isinstance(cls, ast.ClassDef) or cls in program.enclosing(goal):
        return False
    if not isinstance(mention.value, ast.Name) or mention.value.id not in {a.arg for a in method.args.args[:1]}:
        return False
    own = {around.name for around in program.enclosing(goal) if isinstance(around, ast.ClassDef)}
    return not any(cls.name in line and own & line for line in _lines_of_descent(program.file_of(cls)))


def _lines_of_descent(tree: ast.AST) -> Iterator[set[str]]:
    """Of each class of a file: its name, and those of all classes in the file that it derives from."""
    bases = {
        c.name: {n.id for base in c.bases for n in ast.walk(base) if isinstance(n, ast.Name)}
        for c in walk(tree)
        if isinstance(c, ast.ClassDef)
    }
    for name in bases:
        line, pending = {name}, [name]
        while pending:
            further = bases.get(pending.pop(), set()) - line
            line |= further
            pending += further
        yield line


def _doubt(program: Program, run: Run, call: ast.stmt, outer: list[Node], doubt: str | None) -> str | None:
    if doubt is None and (draws_random_numbers(run, [call]) or keeps_state(program, run, [call])):
        return CHANGES
    return doubt or doubt_of_changes(program, run, [call], outer)


def _way(program: Program, call: ast.stmt, loop: ast.stmt) -> tuple[Block, Block]:
    """From a statement in front of a loop into it: the loops, and what else is passed by. No loops: there is no way."""
    block, at = program.block(call), loop
    loops, over = [loop], list[ast.stmt]()
    while at not in block:
        beside, parent = program.block(at), program.parents.get(at)
        if not isinstance(parent, LOOPS) or at not in parent.body:
            return [], []
        over += beside[: beside.index(at)]
        loops.append(parent)
        at = parent
    first, last = block.index(call), block.index(at)
    return (loops, [*over, *block[first + 1 : last]]) if first < last else ([], [])


def _called(program: Program, call: ast.stmt, outer: list[Node]) -> set[ast.AST]:
    """The functions that a statement calls on the way to the nodes."""
    found: set[ast.AST] = set()
    for node in outer:
        places = [node.site.node, *(site.node for site in calls_of(node.chain))]
        inside = [program.statement(place) for place in places].index(call)
        found |= {program.scope(place) for place in places[:inside]}
    return found


def _may_matter(program: Program, over: Block, functions: set[ast.AST]) -> bool:
    """Whether statements may read what functions set, or set what these read: all by attributes, or in other calls."""
    kept = {n.attr for f in functions for n in ast.walk(f) if isinstance(n, ast.Attribute)}
    inside = [n for s in over for n in ast.walk(s)]
    if any(isinstance(n, ast.Attribute) and n.attr in kept for n in inside):
        return True
    known = {n.name for s in over[:1] for n in walk(program.file_of(s)) if isinstance(n, DEFINITIONS)}
    return any(last_word(n.func) in known for n in inside if isinstance(n, ast.Call))
