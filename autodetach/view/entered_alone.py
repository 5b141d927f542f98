"""Functions that no path calls, which the machine enters by itself: what they do is seen with what nobody gives them.

The program may call them yet where their names tell nothing of it: `jobs.append(heavy)`, `TABLE[kind](out)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.graph import Differentiation
from autodetach.machine.program_values import Frame
from autodetach.machine.spelling import last_word
from autodetach.node_types import FUNCTIONS, FunctionNode
from autodetach.once import once
from autodetach.view.by_call import at_call
from autodetach.view.by_name import Mention, functions_in_view, is_callee, mentions_in_view
from autodetach.view.other_entries import entered_function
from autodetach.view.program import Program
from autodetach.view.read_by import local_names


def entered_for(program: Program, call: ast.AST) -> frozenset[FunctionNode]:
    """What was running wherever a call differentiates, if it was entered, of that what the program may call yet.

    None if the program, as it is set or on another path, comes there itself, or by what it cannot call. What a function
    has computed itself, of nothing that it was given, it computes wherever it is called.
    """
    same = [d for run in program.runs for d in at_call(run, call)]
    running = [frozenset(f for f in entered_around(d) if may_be_called_yet(program, f)) for d in same]
    is_of_given = any(n.weak or n.assumed for d in same for n in d.walked)
    return frozenset().union(*running) if is_of_given and all(running) else frozenset()


def entered_at(program: Program, call: ast.AST) -> frozenset[FunctionNode]:
    """What was running where a call differentiates, if it was entered."""
    return frozenset(f for run in program.runs for d in at_call(run, call) for f in entered_around(d))


def entered_around(d: Differentiation) -> list[FunctionNode]:
    """The functions that were running, if the outermost one was entered."""
    if entered_function(d) is None:
        return []
    functions = (frame.function for _, frame in d.trail if isinstance(frame, Frame))
    return [f.node for f in functions if f is not None and isinstance(f.node, FUNCTIONS)]


@once
def is_entered_alone(program: Program, function: FunctionNode) -> bool:
    """Whether each path that has run a function has entered it."""
    name = program.home(function.body[0])[0]
    return any(name in run.entries for run in program.runs) and not any(name in run.called for run in program.runs)


@once
def may_be_called_yet(program: Program, function: FunctionNode) -> bool:
    """Whether the program may call a function by what no path shows: a method if it has objects of its class."""
    owner = program.scope(function)
    if isinstance(owner, ast.ClassDef) and not any(_mentions_beside(program, owner)):
        return False
    if is_registered(program, function) or _is_one_of_several(program, function):
        return True
    return bool(mentions_not_seen(program, function))


@once
def mentions_not_seen(program: Program, function: FunctionNode) -> list[Mention]:
    """Where else the name of a function is read, or called where no path has led.

    What a path calls by such a name, without coming to the function, is something else, unless that is a method of
    another class: `job.run(out)` is for one object this one, and for another object that one.
    """
    mentions = _mentions_beside(program, function)
    return [m for m in mentions if not (is_callee(program, m) and program.is_reached(m))]


def _mentions_beside(program: Program, defined: FunctionNode | ast.ClassDef) -> Iterator[Mention]:
    """Where the name of a function or class is read outside of it, and may mean that: a method is an attribute."""
    is_method = isinstance(program.scope(defined), ast.ClassDef)
    for mention in mentions_in_view(program, defined.name):
        scope = program.scope(mention)
        is_other = isinstance(mention, ast.Name) and (is_method or defined.name in local_names(scope))
        if defined not in program.enclosing(mention) and (not is_other or scope is program.scope(defined)):
            yield mention


def is_registered(program: Program, function: FunctionNode) -> bool:
    """Whether a decorator in view has a function, and may put it where it is called from."""
    names = (last_word(at.func if isinstance(at, ast.Call) else at) for at in function.decorator_list)
    return any(name in functions_in_view(program) for name in names)


def _is_one_of_several(program: Program, function: FunctionNode) -> bool:
    """Whether the program calls a method of that name of another class."""
    same = functions_in_view(program)[function.name]
    methods = [f for f in same if isinstance(program.scope(f), ast.ClassDef)]
    others = (f for f in methods if f is not function)
    return function in methods and any(
        program.is_reached(other.body[0]) and not is_entered_alone(program, other) for other in others
    )
