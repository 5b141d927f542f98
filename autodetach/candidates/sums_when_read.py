"""A sum of terms of trained parameters, to which constructors add by a method, is added up anew whenever it is read.

So it is with the regularisation of a model whose base class begins the sum, and whose subclasses add their own layers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.as_property import is_free
from autodetach.candidates.built_with_locals import ASSIGNMENTS, kept_by
from autodetach.candidates.emptying import behind_docstring
from autodetach.candidates.mentioned import is_changed, is_named_otherwise, mentions
from autodetach.candidates.sums_anew import adds, zero
from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import targets_of, walk
from autodetach.machine.graph import Node, calls_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.suspect import Candidate
from autodetach.view.free_names import free_name
from autodetach.view.program import Block, Program, without_retain
from autodetach.view.side_effects import draws_random_numbers, keeps_state

LATER = "what the method is given is kept, and the sum is computed of the parameters as they are whenever it is read"
COMPUTING = (*ASSIGNMENTS, ast.For, ast.If, ast.Pass, ast.Continue, ast.Break)


def summed_when_read(program: Program, run: Run, outer: list[Node]) -> Iterator[Candidate]:
    """Have the method that makes all of the nodes keep what it is given, and a property add up what it would add.

    None where that draws random numbers or changes a state, or the method is called by others than constructors.
    """
    from autodetach.codemods.replace_expression import ReplaceExpression
    from autodetach.codemods.sum_when_read import SumWhenRead

    method = _method(program, outer)
    cls = program.parents.get(method) if method is not None else None
    if method is None or not isinstance(cls, ast.ClassDef) or program.is_imported(method):
        return
    statements = behind_docstring(method)
    begin = _begin(program, cls, method, statements)
    given = _given(program, method, statements)
    if begin is None or not given or not _is_called_by_constructors(program, method.name):
        return
    if draws_random_numbers(run, statements) or keeps_state(program, run, statements):
        return
    home = program.scope(begin)
    assert isinstance(home, ast.FunctionDef)
    own = kept_by(program, home)
    local = all_parameter_names(home.args) - {home.args.args[0].arg}
    local |= {name for s in home.body for name in program.names_bound(s)}
    read = [n for n in ast.walk(begin.value) if isinstance(n, ast.Name) and n.id in local]
    summed = targets_of(begin)[0]
    assert isinstance(summed, ast.Attribute)
    kept = f"{summed.attr}_terms"
    total = free_name(method, "total", f"{summed.attr}_total")
    if any(name.id not in own for name in read) or not is_free(program, cls, kept) or total is None:
        return
    this = method.args.args[0].arg
    changes = tuple(ReplaceExpression(name, f"{this}.{own[name.id]}") for name in read)
    codemod = SumWhenRead(begin, method, tuple(statements), given, kept, total, changes)
    yield Candidate(
        f"make `{spelled(summed)}` a property that adds up what `{method.name}` is given",
        (codemod, *without_retain(outer)),
        LATER,
    )


def _method(program: Program, outer: list[Node]) -> ast.FunctionDef | None:
    """The innermost method in which, or in what it calls, all of the nodes were made, and whose last statement adds."""
    found: list[list[ast.FunctionDef]] = []
    for node in outer:
        scopes = [program.scope(place) for place in (node.site.node, *(site.node for site in calls_of(node.chain)))]
        found.append([s for s in scopes if isinstance(s, ast.FunctionDef) and adds(s.body[-1]) and s.args.args])
    first, *others = found or [[]]
    return next((method for method in first if all(method in other for other in others)), None)


def _begin(program: Program, cls: ast.ClassDef, method: ast.FunctionDef, statements: Block) -> ast.Assign | None:
    """Where the constructor sets the sum to zero, if nothing changes it but the method, which does nothing else.

    Its statements make a term with local names.
    """
    last = statements[-1]
    summed, this = targets_of(last)[0], method.args.args[0].arg
    if not isinstance(summed, ast.Attribute) or spelled(summed.value) != this or method.decorator_list:
        return None
    inner = [s for outer in statements for s in ast.walk(outer) if isinstance(s, ast.stmt)]
    if not all(isinstance(s, COMPUTING) for s in inner):
        return None
    if not all(isinstance(n, ast.Name) for s in inner if s is not last for t in _bound(s) for n in _parts(t)):
        return None
    found = list(mentions(program, cls, summed.attr))
    writes = [n for n in found if not isinstance(n.ctx, ast.Load) and n is not summed]
    within = [n for n in found if method in program.enclosing(n) and program.statement(n) is not last]
    if len(writes) != 1 or within or is_named_otherwise(program, cls, summed.attr):
        return None
    begin, home = program.statement(writes[0]), program.scope(writes[0])
    if not isinstance(begin, ast.Assign) or begin.targets != writes or zero(begin.value, "") is None:
        return None
    if not isinstance(home, ast.FunctionDef) or home.name != "__init__" or program.parents.get(home) is not cls:
        return None
    return begin if begin in home.body and not any(is_changed(program, n) for n in found) else None


def _bound(statement: ast.stmt) -> list[ast.expr]:
    return [statement.target] if isinstance(statement, ast.For) else targets_of(statement)


def _parts(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple) else [target]


def _given(program: Program, method: ast.FunctionDef, statements: Block) -> tuple[tuple[str, str], ...]:
    """The parameters of a method, and how each is written where it is kept; none where that would not do.

    What is only run through, `for w in weights`, may be an iterator, which gives its elements once.
    """
    arguments = method.args
    if arguments.vararg is not None or arguments.kwarg is not None:
        return ()
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)][1:]
    inside = [n for s in statements for n in ast.walk(s)]
    run_through = [n.iter for n in inside if isinstance(n, (ast.For, ast.comprehension))]
    if {name for s in statements for name in program.names_bound(s)} & set(names):
        return ()
    given = []
    for name in names:
        reads = [n for n in inside if isinstance(n, ast.Name) and n.id == name]
        iterated = [n for n in reads if n in run_through]
        if iterated and len(iterated) < len(reads):
            return ()
        given.append((name, f"list({name})" if iterated else name))
    return tuple(given)


def _is_called_by_constructors(program: Program, name: str) -> bool:
    """Whether there is one method of this name, and all that is said of it are calls, as statements of constructors."""
    nodes = [n for tree in program.analysis.trees for n in walk(tree)]
    for mention in (n for n in nodes if isinstance(n, ast.Attribute) and n.attr == name):
        call, scope, statement = program.parents.get(mention), program.scope(mention), program.statement(mention)
        if not isinstance(call, ast.Call) or call.func is not mention:
            return False
        if not isinstance(statement, ast.Expr) or statement.value is not call:
            return False
        if not isinstance(scope, ast.FunctionDef) or scope.name != "__init__":
            return False
    return sum(isinstance(n, ast.FunctionDef) and n.name == name for n in nodes) == 1
