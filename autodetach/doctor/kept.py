"""What gathers in a holder: the name that it had before, and the lines by which it came there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autodetach.doctor.diagnosis import Step
from autodetach.doctor.frames import Site
from autodetach.doctor.holders import Binding
from autodetach.doctor.names import plainness
from autodetach.doctor.reading import calls_at, function_at, statement_at, tree_of, walk
from autodetach.doctor.records import Records
from autodetach.doctor.series import Series
from autodetach.doctor.stores import hands_over, last_name
from autodetach.machine.spelling import arguments_of, spelled
from autodetach.node_types import FunctionNode

FEW_SITES = 2


def filling(seen: Records, series: Series, sites: Sequence[Site]) -> tuple[Step, ...]:
    """The statements that fill a holder: those that were seen to build what it took, or else all but initial ones."""
    built = [(s[0], s[1:]) for n in series.parts if (s := seen.lines.built(n)) and s[0] in sites]
    seen_sites = dict(reversed(built)) if len(seen.journal.threads) < 2 else {}
    chosen = [site for site in sites if site in seen_sites]
    chosen = chosen or [site for site in sites if not site.function.endswith("__init__")] or list(sites)
    path = series.binding.path
    return tuple(
        Step.at((site, *seen_sites.get(site, ())), f"`{path}` takes a tensor with its graph") for site in chosen
    )


def is_state(binding: Binding, filled: Sequence[Step]) -> bool:
    """Whether a holder is set to what a call makes of it, and does not gather one thing after another."""
    for step in filled:
        statement = statement_at(step.site) if step.site is not None else None
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            given = arguments_of(statement.value)
            if last_name(binding.path) in {last_name(spelled(each)) for each in given}:
                return True
    return False


def first_name(seen: Records, series: Series, filled: Sequence[Step]) -> Binding | None:
    """A variable that held what gathers when it was new, unless the statements that fill the holder say its name."""
    if len(seen.journal.threads) > 1:
        return None
    said = {word for step in filled if step.site is not None for word in _words(statement_at(step.site))}
    for sequence in series.parts:
        names = [
            name
            for name in seen.journal.all_names(sequence)
            if name.path.isidentifier() and name.root != series.binding.root
        ]
        if any(name.path in said for name in names):
            return None
        if names:
            return min(names, key=lambda name: (not name.function, plainness(name), name.path))
    return None


def handed_name(filled: Sequence[Step]) -> Binding | None:
    """The variable that is handed to the function which fills the holder, if it is one."""
    handed = {
        (step.calls[0], name)
        for step in filled
        if step.site is not None and step.calls
        for name in _given(step.calls[0], function_at(step.site), statement_at(step.site))
    }
    if len(handed) != 1:
        return None
    ((caller, name),) = handed
    return Binding(name, name, caller.path, caller.function)


def way(filled: Sequence[Step], name: Binding | None) -> Iterator[Step]:
    """The lines that pass on what gathers, from the holder outwards."""
    told = {step.site for step in filled}
    handed = list(_handed(filled))
    for step in (*handed, *_left(filled, name, handed=bool(handed))):
        if step.site not in told:
            told.add(step.site)
            yield step


def _handed(filled: Sequence[Step]) -> Iterator[Step]:
    """The calls that hand a variable to the function which fills the holder, and a loop that takes it out of more."""
    for step in filled:
        if step.site is None or not step.calls:
            continue
        caller = step.calls[0]
        for name in sorted(_given(caller, function_at(step.site), statement_at(step.site))):
            yield Step(caller, f"hands over `{name}`")
            loop = _loop_that_binds(name, caller)
            if loop is not None:
                at = Site(caller.path, loop.lineno, caller.function)
                yield Step(at, f"takes `{name}` out of `{spelled(loop.iter)}`")


def _left(filled: Sequence[Step], name: Binding | None, *, handed: bool) -> Iterator[Step]:
    """How what was a variable `name` leaves its function: by a call that is given it, or by the one `return`."""
    if name is None:
        return
    sites = [] if handed else [site for site in hands_over([name]) if not _prints(site)]
    if len(sites) <= FEW_SITES:
        yield from (Step(site, f"hands over `{name.path}`") for site in sites)
    called = {last_name(spelled(call.func)) for step in filled if step.site for call in calls_at(step.site)}
    if last_name(name.function) not in called:
        return
    tree = tree_of(name.file)
    returns = [
        node
        for node, function, _ in (walk(tree) if tree is not None else ())
        if isinstance(node, ast.Return) and function == name.function and name.path in _words(node)
    ]
    if len(returns) == 1:
        yield Step(Site(name.file, returns[0].lineno, name.function), f"returns `{name.path}` with its graph")


def _given(caller: Site, function: FunctionNode | None, statement: ast.stmt | None) -> set[str]:
    """The variables of the caller that become those parameters which the statement uses."""
    if function is None:
        return set()
    parameters = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    numbers = {
        name
        for name, default in zip(parameters[::-1], function.args.defaults[::-1], strict=False)
        if _is_number(default)
    }
    used, found = _words(statement), set[str]()
    for call in calls_at(caller):
        if last_name(spelled(call.func)) != function.name:
            continue
        bound = 1 if parameters[:1] in (["self"], ["cls"]) and isinstance(call.func, ast.Attribute) else 0
        pairs: list[tuple[str, ast.expr]] = [*zip(parameters[bound:], call.args, strict=False)]
        pairs += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
        found |= {value.id for name, value in pairs if name in used - numbers and isinstance(value, ast.Name)}
    return found


def _loop_that_binds(name: str, caller: Site) -> ast.For | ast.AsyncFor | None:
    """The innermost loop around the line that binds the name, if nothing else in its function does."""
    function = function_at(caller)
    binders = [
        node
        for node in (ast.walk(function) if function is not None else ())
        if isinstance(node, ast.stmt) and name in _bound(node)
    ]
    loops = [node for node in binders if isinstance(node, (ast.For, ast.AsyncFor))]
    return loops[0] if len(binders) == len(loops) == 1 else None


def _bound(node: ast.stmt) -> set[str]:
    targets: list[ast.expr] = []
    if isinstance(node, (ast.For, ast.AsyncFor)):
        targets = [node.target]
    elif isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        targets = [node.target]
    return {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}


def _prints(site: Site) -> bool:
    return any(isinstance(call.func, ast.Name) and call.func.id == "print" for call in calls_at(site))


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float, bool)


def _words(node: ast.AST | None) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} if node is not None else set()
