"""Whether a program may change parameters itself, in whatever way, as it does with those of an average of a network.

Only words are looked at: what is changed, and from what it may have been made anywhere in the file. So this answers for
programs that are in view as a whole.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from autodetach.kept import kept
from autodetach.machine.children import walk
from autodetach.machine.spelling import arguments_of, called_name, last_word, spelled
from autodetach.node_types import FUNCTIONS, FunctionNode

PARAMETERS = frozenset(
    """
    .parameters .named_parameters .get_parameter .state_dict .modules .named_modules .children .named_children
    .get_submodule .apply ._apply ._parameters ._modules .__dict__ vars .flat_weights ._flat_weights .all_weights
    """.split()
)
"""By what parameters come to hand, and the layers that have them."""
WRITES = frozenset(
    """
    copyto put putmask place fill fill_diagonal itemset setfield sort partition shuffle setitem iadd isub imul itruediv
    __setitem__ __iadd__ __isub__ __imul__ __itruediv__ memmove
    """.split()
)
"""What changes what it is given, or called on, and has no name of what works in place."""
REPLACES = frozenset(
    """
    load_state_dict _apply swap_tensors vector_to_parameters update_parameters untyped_storage storage data_ptr
    register_parameter register_module add_module set_submodule
    """.split()
)
"""What changes parameters, or puts others in their place."""
CONVERTS = frozenset("to half bfloat16 float double type".split())
HARMLESS = frozenset("clip_grad_norm_ clip_grad_value_ requires_grad_ detach_ _".split())
COLLECTS = frozenset("append appendleft extend insert add update setdefault".split())
TRAINS = frozenset({"backward", "grad"})
LOOPS = (ast.For, ast.AsyncFor, ast.While)


def may_change_parameters(tree: ast.Module) -> bool:
    """Whether any statement may change the values of a parameter, or put another one in its place."""
    if any(_replaces(node) for node in walk(tree)) or any(_puts_anew(tree, _repeated(tree), False)):
        return True
    if any(_draws(node) for node in _run_in_training(tree)):
        return True
    made_of, own = bindings(tree), set(_made_parameters(tree))
    words = {word for node in walk(tree) for part in _changed(node) for word in _words(part)}
    seen = set[str]()
    while words:
        word = words.pop()
        if word in own or _is_parameter(word):
            return True
        seen.add(word)
        words |= made_of[word] - seen
    return False


def _replaces(node: ast.AST) -> bool:
    """Whether a call, or what is assigned to `.data`, changes whole parameters."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return node.attr == "data"
    name = called_name(node) if isinstance(node, ast.Call) else ""
    return name in REPLACES or name.startswith(("_foreach_", "_fused_"))


def _puts_anew(node: ast.AST, repeated: set[str], again: bool) -> Iterator[ast.AST]:
    """The statements that run again and again, and make parameters or layers anew, or convert them."""
    for part in ast.iter_child_nodes(node):
        if again and _makes_anew(part):
            yield part
        inside = again or isinstance(part, LOOPS)
        if isinstance(part, FUNCTIONS):
            inside = inside or part.name in repeated
        yield from _puts_anew(part, repeated, inside)


def _run_in_training(tree: ast.Module) -> Iterator[ast.AST]:
    """What loops run that train, and the functions that these mention: layers are made ready in loops before."""
    functions: defaultdict[str, list[FunctionNode]] = defaultdict(list)
    for node in walk(tree):
        if isinstance(node, FUNCTIONS):
            functions[node.name].append(node)
    training = _reaching(TRAINS, functions)
    loops = [n for n in walk(tree) if isinstance(n, LOOPS)]
    run: list[ast.AST] = [n for n in loops if "forward" in training or not training.isdisjoint(_mentioned(n))]
    seen, new = set[str](), {"forward"}.union(*map(_mentioned, run)) if run else set[str]()
    while new:
        seen |= new
        bodies = [body for name in new if name in functions for body in functions[name]]
        run += bodies
        new = set[str]().union(*map(_mentioned, bodies)) - seen
    return (node for part in run for node in walk(part))


def _reaching(names: Iterable[str], functions: Mapping[str, Iterable[ast.AST]]) -> set[str]:
    """Some names, and those of the functions that mention them, or a function that does."""
    mentioning: defaultdict[str, set[str]] = defaultdict(set)
    for name, bodies in functions.items():
        for word in set[str]().union(*map(_mentioned, bodies)):
            mentioning[word].add(name)
    found, pending = set(names), list(names)
    while pending:
        new = mentioning[pending.pop()] - found
        found |= new
        pending += new
    return found


@kept
def _mentioned(node: ast.AST) -> frozenset[str]:
    return frozenset(_word(n).lstrip(".") for n in walk(node) if isinstance(n, (ast.Name, ast.Attribute)))


def _draws(node: ast.AST) -> bool:
    """Whether a function of `torch.nn.init`, or a layer for itself, gives a parameter new values."""
    name = called_name(node) if isinstance(node, ast.Call) else ""
    return name == "reset_parameters" or (
        isinstance(node, ast.Call) and name.endswith("_") and ".init." in f".{spelled(node.func)}"
    )


def _makes_anew(statement: ast.AST) -> bool:
    if isinstance(statement, ast.Assign):
        return _calls(statement.value, ("deepcopy", "Parameter")) or any(map(_is_of_layer, statement.targets))
    return isinstance(statement, ast.Expr) and called_name(statement.value) in CONVERTS


def _repeated(tree: ast.Module) -> set[str]:
    """The names of the functions that are called in a loop, more than once, or by one of these."""
    functions = [n for n in walk(tree) if isinstance(n, FUNCTIONS)]
    called = Counter(called_name(n) for n in walk(tree) if isinstance(n, ast.Call))
    looped = {name for loop in walk(tree) if isinstance(loop, LOOPS) for name in _called_in(loop)}
    found = set[str]()
    new = {f.name for f in functions if f.name in looped or called[f.name] > 1} - {"__init__"}
    while new:
        found |= new
        new = {name for f in functions if f.name in new for name in _called_in(f)} - found
    return found


def _called_in(node: ast.AST) -> Iterator[str]:
    return (called_name(n) for n in walk(node) if isinstance(n, ast.Call))


def _is_of_layer(target: ast.expr) -> bool:
    return any(_is_parameter(_word(n)) for n in walk(target) if isinstance(n, ast.Attribute))


def _is_parameter(word: str) -> bool:
    return word in PARAMETERS or word.startswith((".weight", ".bias", ".in_proj"))


def _calls(value: ast.AST, names: tuple[str, ...]) -> bool:
    return any(isinstance(n, ast.Call) and called_name(n) in names for n in walk(value))


def _made_parameters(tree: ast.Module) -> Iterator[str]:
    """The words for what is made a parameter, and for the memory that it shares."""
    for node in walk(tree):
        if isinstance(node, ast.Assign) and _calls(node.value, ("Parameter", "ParameterList", "ParameterDict")):
            for target in node.targets:
                yield from words_bound(target)
        if isinstance(node, ast.Call) and called_name(node) in ("Parameter", "ParameterList", "ParameterDict"):
            yield from (_word(n) for n in walk(node) if isinstance(n, ast.Name) and n is not node.func)


def _changed(node: ast.AST) -> Iterator[ast.AST]:
    """What a statement or a call changes in place, if it is a tensor or an array."""
    if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
        if isinstance(node, ast.Subscript) or node.attr == "flat":
            yield node.value
    elif isinstance(node, ast.AugAssign):
        yield node.target
    elif isinstance(node, ast.Call):
        yield from (keyword.value for keyword in node.keywords if keyword.arg == "out")
        name = called_name(node)
        is_in_place = name.endswith("_") and not name.endswith("__") and name not in HARMLESS
        if name in WRITES or (is_in_place and ".init." not in f".{spelled(node.func)}"):
            yield from (node.func, *arguments_of(node))


def bindings(tree: ast.Module) -> defaultdict[str, set[str]]:
    """The words of what each variable, attribute, argument or function is made of, anywhere in the file."""
    made_of: defaultdict[str, set[str]] = defaultdict(set)
    given = _given(tree)
    for node in walk(tree):
        for targets, value in _assigned(node, given):
            words = set(_words(value))
            for word in targets:
                made_of[word] |= words
    return made_of


def _assigned(node: ast.AST, given: dict[str, list[ast.AST]]) -> Iterator[tuple[list[str], ast.AST]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            yield [word for target in targets for word in words_bound(target)], value
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target=target, value=value):
            yield words_bound(target), value
        case ast.NamedExpr(target=target, value=value):
            yield [target.id], value
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
            yield words_bound(target), value
        case ast.comprehension(target=target, iter=value):
            yield words_bound(target), value
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            yield words_bound(target), value
        case ast.Call(func=ast.Attribute(value=holder, attr=name)) if name in COLLECTS:
            yield from ((words_bound(holder), value) for value in arguments_of(node))
        case ast.FunctionDef(name=name, args=args) | ast.AsyncFunctionDef(name=name, args=args):
            yield from ((_arguments(args), value) for value in given.get(name, ()))
            results = (n.value for n in walk(node) if isinstance(n, (ast.Return, ast.Yield, ast.YieldFrom)))
            yield from (([name, f".{name}"], value) for value in results if value is not None)
        case ast.Call():
            yield from ((_arguments(n.args), node) for n in arguments_of(node) if isinstance(n, ast.Lambda))
        case _:
            pass


def _given(tree: ast.Module) -> dict[str, list[ast.AST]]:
    """What each function is given: by its calls, and by what is called with the function itself."""
    makers = {
        cls.name: "__init__"
        for cls in walk(tree)
        if isinstance(cls, ast.ClassDef) and any(getattr(n, "name", "") == "__init__" for n in cls.body)
    }
    given: dict[str, list[ast.AST]] = {}
    for call in walk(tree):
        if isinstance(call, ast.Call):
            name = called_name(call)
            given.setdefault(makers.get(name, name), []).extend(arguments_of(call))
            for value in arguments_of(call):
                if isinstance(value, (ast.Name, ast.Attribute)):
                    given.setdefault(last_word(value), []).append(call)
    return given


def _arguments(args: ast.arguments) -> list[str]:
    spread = [arg for arg in (args.vararg, args.kwarg) if arg is not None]
    named = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, *spread)]
    return [name for name in named if name not in ("self", "cls")]


def words_bound(target: ast.AST) -> list[str]:
    """The words for what gets a value, or a part of it, as `bindings` have them."""
    return [_word(n) for n in _bound(target)]


def _bound(target: ast.AST) -> Iterator[ast.Name | ast.Attribute]:
    """The variables and attributes that get a value, or a part of it."""
    if isinstance(target, (ast.Name, ast.Attribute)):
        yield target
    elif isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from _bound(part)
    elif isinstance(target, (ast.Starred, ast.Subscript)):
        yield from _bound(target.value)


def _word(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else f".{node.attr}"


def _words(value: ast.AST) -> Iterable[str]:
    return (_word(n) for n in walk(value) if isinstance(n, (ast.Name, ast.Attribute)))
