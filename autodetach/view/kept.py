"""Whether something else holds a tensor as it is, and would see a change in place."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator

from autodetach.container_methods import ADDING
from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import walk
from autodetach.machine.spelling import arguments_of, is_dotted, last_word, spelled
from autodetach.node_types import CALLABLES, COMPREHENSIONS, DEFINITIONS, FUNCTIONS, LOOPS, FunctionNode
from autodetach.view.entered import computed_in, entered_by
from autodetach.view.generators import is_used_up, waits
from autodetach.view.handed_on import WRAPPING, hands_on, is_sharing
from autodetach.view.imported import imported_as
from autodetach.view.program import Program, is_update

LITERALS = (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Starred)

OF_NO_MEMORY = frozenset(
    "_version device dtype grad grad_fn is_cuda is_leaf itemsize layout nbytes ndim requires_grad shape".split()
)
"""Attributes of a tensor that have nothing of its memory; others that are not called may be its methods."""
ASKING = frozenset("abs bool float format hasattr id int isinstance len print repr round str sum type".split())
"""Functions of Python that keep nothing of their arguments."""
OF_ARRAYS = ("torch", "numpy")
"""Packages that keep tensors, if at all, to follow the parameters."""
COPYING = frozenset("OrderedDict copy deque dict list reversed set sorted tuple".split())
"""What gives another container with the same elements."""
COUNTING = frozenset("enumerate len reversed zip".split())
OF_DICTS = frozenset({"items", "keys", "values"})
MAX_CALLS = 4
"""How deep the calls are that are followed to see what becomes of an argument."""


def is_kept(program: Program, statement: ast.stmt, name: str) -> bool:
    """Whether `old = w`, `best = (loss, w.detach())` or the like hold memory that an update in place would change."""
    around = _Around(program, statement, name)
    return around.is_borrowed() or any(
        outlasts(program, read, around.may_return(read)) and not around.is_done_with(read) for read in around.reads()
    )


def are_elements_kept(program: Program, statement: ast.stmt, container: ast.expr) -> bool:
    """Whether anything else may hold the elements of a container: who made them, or `start = list(ws)`.

    Where that is not known, something does.
    """
    if not is_dotted(container):
        return True
    around = _Around(program, statement, spelled(container))
    return not around.is_own() or any(_hands_out_elements(program, read) for read in around.reads())


class _Around:
    """Where a name that a statement updates means the same tensor."""

    def __init__(self, program: Program, statement: ast.stmt, name: str) -> None:
        self._program = program
        self._name = name
        self._update = statement
        self._scope = program.scope(statement)
        loops = [at for at in program.enclosing(statement) if isinstance(at, LOOPS)]
        self._loop = next((at for at in reversed(loops) if program.scope(at) is self._scope), None)
        self._is_local = name.isidentifier() and name not in declared(self._scope)
        self._outside = {self._scope, *program.enclosing(self._scope)}

    def reads(self) -> Iterator[ast.expr]:
        """Where the tensor is read, but for what only runs when the last update is done."""
        for node in self._places():
            is_last = self._is_local and self._loop is not None and self._program.scope(node) is self._scope
            if isinstance(node.ctx, ast.Load) and not (is_last and node.lineno > _end(self._loop)):
                yield node

    def may_return(self, read: ast.expr) -> bool:
        """Whether nothing is updated any more once the function returns in which this is read."""
        return self._is_local and self._program.scope(read) is self._scope

    def is_done_with(self, read: ast.expr) -> bool:
        """Whether only an object of the same pass holds it, `normal = Normal(w, 1.0)`, which has computed all before.

        Nothing else holds that object, as nothing but its methods is called before the update.
        """
        made = self._program.statement(read)
        if not (isinstance(made, ast.Assign) and isinstance(made.value, ast.Call) and self._loop is not None):
            return False
        name = spelled(made.targets[0])
        is_anew = _is_object(self._program, made.value) and self._program.parents[made] is self._loop
        if not is_anew or not name.isidentifier():
            return False
        uses = [n for n in walk(self._program.file_of(made)) if isinstance(n, ast.Name) and n.id == name]
        return all(n is made.targets[0] or self._is_called_before(n, made) for n in uses)

    def _is_called_before(self, name: ast.Name, made: ast.stmt) -> bool:
        method = self._program.parents[name]
        is_called = isinstance(method, ast.Attribute) and not _is_bound_method(self._program, method)
        is_between = made.lineno < name.lineno < self._update.lineno and self._program.scope(name) is self._scope
        return is_called and is_between and not is_sharing(method.attr if isinstance(method, ast.Attribute) else "")

    def is_borrowed(self) -> bool:
        """Whether the first tensor that is updated is the caller's, or has another name as well."""
        is_argument = isinstance(self._scope, CALLABLES) and self._name in all_parameter_names(self._scope.args)
        return is_argument or any(
            any(self._is_anothers(value) for value in _bound_to(self._program, node))
            for node in self._places()
            if isinstance(node.ctx, ast.Store)
        )

    def is_own(self) -> bool:
        """Whether all elements of a container are made for it."""
        if isinstance(self._scope, CALLABLES) and self._name in all_parameter_names(self._scope.args):
            return False
        stores = [node for node in self._places() if isinstance(node.ctx, ast.Store)]
        return bool(stores) and all(
            isinstance(self._program.parents[node], (ast.Assign, ast.AnnAssign))
            and all(self._are_own(value) for value in _bound_to(self._program, node))
            for node in stores
        )

    def _are_own(self, value: ast.expr) -> bool:
        """Whether what a container is made of has no other name: `[w, b]` has, and `[torch.zeros(3)]` has not."""
        if isinstance(value, (ast.List, ast.Tuple, ast.Dict)):
            elements = value.values if isinstance(value, ast.Dict) else value.elts
            return all(self.is_made_there(element) for element in elements)
        if isinstance(value, (ast.ListComp, ast.DictComp, ast.GeneratorExp)):
            return self.is_made_there(value.value if isinstance(value, ast.DictComp) else value.elt)
        if not isinstance(value, ast.Call):
            return False
        given = arguments_of(value)
        return last_word(value.func) in COPYING and all(self._are_own(each) for each in given)

    def is_made_there(self, element: ast.expr) -> bool:
        """Whether an expression makes what it gives, as far as can be seen."""
        return isinstance(element, (ast.Call, ast.BinOp, ast.Constant)) and not self._is_anothers(element)

    def _is_anothers(self, value: ast.expr) -> bool:
        """Whether a value is memory that has a name already: `image.detach()`, and not `image.clone()`."""
        if isinstance(value, ast.IfExp):
            return self._is_anothers(value.body) or self._is_anothers(value.orelse)
        source = _source(value)
        return isinstance(source, (ast.Name, ast.Attribute, ast.Subscript)) and spelled(source) != self._name

    def _places(self) -> Iterator[ast.Name | ast.Attribute]:
        """An attribute of that name may be that of the same object anywhere."""
        last = self._name.rpartition(".")[2]
        for around in [self._scope] if self._is_local else self._program.analysis.trees:
            for node in walk(around):
                if isinstance(node, ast.Name):
                    if node.id == self._name and not means_another(self._program, node, self._outside):
                        yield node
                elif isinstance(node, ast.Attribute) and node.attr == last and "." in self._name:
                    yield node


def means_another(program: Program, node: ast.Name, outside: Collection[ast.AST]) -> bool:
    """Whether a function around a name, and not one of some, has a name of its own that reads alike."""
    return any(
        node.id in all_parameter_names(at.args) or node.id in program.names_bound(at) - declared(at)
        for at in program.enclosing(node)
        if isinstance(at, CALLABLES) and at not in outside and not _is_default(program, node, at)
    )


def _is_default(program: Program, node: ast.AST, function: ast.AST) -> bool:
    """`lambda x, w=w: x @ w`: what parameters are by default is read where the function is made."""
    return any(isinstance(at, ast.arguments) and program.parents[at] is function for at in program.enclosing(node))


def outlasts(program: Program, read: ast.AST, may_return: bool = False, depth: int = 0) -> bool:
    """Whether a value outlasts the statement that reads it, in the same memory."""
    at, around = read, program.parents[read]
    is_inside = False
    while True:
        if isinstance(around, ast.Attribute):
            if not is_sharing(around.attr) and not _is_bound_method(program, around):
                return False
        elif isinstance(around, ast.Subscript):
            if around.slice is at or not isinstance(around.ctx, ast.Load):
                return False
        elif isinstance(around, (*LITERALS, *COMPREHENSIONS)):
            is_inside = True
        elif isinstance(around, ast.BinOp):
            if not is_inside:
                return False
        elif isinstance(around, ast.IfExp):
            if around.test is at:
                return False
        elif isinstance(around, ast.Call) and at is not around.func:
            if not is_sharing(last_word(around.func)) and not _is_object(program, around):
                if _keeps_argument(program, around, at, depth):
                    return True
                if not hands_on(program, around):
                    return False
        elif not isinstance(around, (ast.Call, ast.BoolOp, ast.keyword)):
            break
        if not isinstance(around, ast.keyword):
            at = around
        around = program.parents[around]
    if isinstance(around, (ast.For, ast.comprehension)) and around.iter is at and isinstance(around.target, ast.Name):
        if isinstance(around, ast.For) and _is_read_behind(program, around, around.target.id):
            return True
        whole = around if isinstance(around, ast.For) else program.parents[around]
        return _is_name_held(program, whole, around.target.id, depth)
    if isinstance(around, ast.Assign) and not is_inside and [type(t) for t in around.targets] == [ast.Name]:
        return _is_alias_held(program, spelled(around.targets[0]), read, depth)
    if isinstance(around, ast.Return):
        return not may_return
    if isinstance(around, ast.AugAssign):
        return is_inside
    return not isinstance(
        around, (ast.Expr, ast.UnaryOp, ast.Compare, ast.FormattedValue, ast.If, ast.While, ast.Assert, ast.Slice)
    )


def _is_alias_held(program: Program, alias: str, read: ast.AST, depth: int) -> bool:
    """Whether another name of a value outlasts the call in which it is given; the name itself is no other."""
    function = program.scope(read)
    if not 0 < depth < MAX_CALLS or not isinstance(function, FUNCTIONS) or alias in declared(function):
        return True
    is_itself = isinstance(read, ast.Name) and read.id == alias
    return not is_itself and _is_name_held(program, function, alias, depth + 1)


def _is_read_behind(program: Program, loop: ast.For, name: str) -> bool:
    """Whether the variable of a loop, which has its last value behind it, is read there, but for loops of its own."""
    scope = program.scope(loop)
    for node in walk(scope):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            around = program.enclosing(node)
            if loop not in around and not any(_binds(at, name) for at in around):
                return True
    return False


def _binds(loop: ast.AST, name: str) -> bool:
    """Whether a loop or a comprehension has a variable of that name."""
    targets = [loop.target] if isinstance(loop, (ast.For, ast.AsyncFor)) else []
    if isinstance(loop, COMPREHENSIONS):
        targets = [part.target for part in loop.generators]
    return any(isinstance(n, ast.Name) and n.id == name for target in targets for n in ast.walk(target))


def _is_bound_method(program: Program, read: ast.Attribute) -> bool:
    """`norm = w.norm`: what is not called there has its tensor for later."""
    call = program.parents[read]
    is_called = isinstance(call, ast.Call) and call.func is read
    return isinstance(read.ctx, ast.Load) and not is_called and read.attr not in OF_NO_MEMORY


def _is_object(program: Program, call: ast.Call) -> bool:
    """Whether a call makes an object of PyTorch that has what it is given: `Normal(w, 1.0)`; optimizers step it."""
    path = imported_as(program, call)
    return path.startswith("torch.") and path.rpartition(".")[2][:1].isupper() and ".optim." not in path


def _hands_out_elements(program: Program, read: ast.expr) -> bool:
    """Whether an element that is taken from a container where that is read may be held from there."""
    around = program.parents[read]
    if isinstance(around, ast.Subscript) and around.value is read:
        return _is_element_held(program, around)
    counted = False
    if isinstance(around, ast.Attribute):
        call, part = program.parents[around], around.attr
        if part not in OF_DICTS or not isinstance(call, ast.Call) or call.func is not around:
            return True
        if part == "keys":
            return False
        read, around, counted = call, program.parents[call], part == "items"
    while isinstance(around, ast.Call) and read in around.args and (name := last_word(around.func)) in COUNTING:
        if name == "len":
            return False
        counted = name == "enumerate" and not counted
        read, around = around, program.parents[around]
    if isinstance(around, (ast.For, ast.comprehension)) and around.iter is read:
        whole = around if isinstance(around, ast.For) else program.parents[around]
        given = around.target.elts[1:] if counted and isinstance(around.target, ast.Tuple) else [around.target]
        names = (n.id for target in given for n in ast.walk(target) if isinstance(n, ast.Name))
        return any(_is_name_held(program, whole, name, 0) for name in names)
    if isinstance(around, ast.Compare):
        return False
    return not isinstance(around, ast.Call) or read not in around.args or not _only_computes(program, around)


def _is_element_held(program: Program, element: ast.Subscript) -> bool:
    if isinstance(element.ctx, ast.Load):
        return isinstance(element.slice, ast.Slice) or outlasts(program, element)
    statement = program.parents[element]
    if isinstance(statement, (ast.AugAssign, ast.Delete)) or is_update(statement):
        return False
    made = _Around(program, program.statement(element) or ast.Pass(), spelled(element.value))
    return not (isinstance(statement, ast.Assign) and made.is_made_there(statement.value))


def _only_computes(program: Program, call: ast.Call) -> bool:
    """Whether a call that is given a container computes something of its elements, or asks, and keeps none of them."""
    is_asking = isinstance(call.func, ast.Name) and last_word(call.func) in ASKING
    return is_asking or (is_of(program, call, OF_ARRAYS) and not _is_object(program, call))


def _keeps_argument(program: Program, call: ast.Call, argument: ast.AST, depth: int) -> bool:
    """Whether what is called may keep an argument: what is out of view may, unless it computes something of it."""
    name = last_word(call.func)
    if name in ADDING or depth >= MAX_CALLS:
        return True
    found = [
        node
        for tree in program.analysis.trees
        for node in walk(tree)
        if isinstance(node, DEFINITIONS) and node.name == name
    ] or entered_by(program, call)
    if found:
        return any(_keeps_given(program, function, call, argument, depth) for function in found)
    is_anothers = bool(imported_as(program, call)) or (isinstance(call.func, ast.Name) and hasattr(builtins, name))
    return not (_only_computes(program, call) or (not is_anothers and _computes(program, call)))


def _keeps_given(
    program: Program,
    function: FunctionNode | ast.ClassDef,
    call: ast.Call,
    argument: ast.AST,
    depth: int,
) -> bool:
    """Whether a function in view keeps an argument; an instance of a class does."""
    if isinstance(function, ast.ClassDef):
        return True
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    if isinstance(program.parents[function], ast.ClassDef) and names[:1] == ["self"]:
        del names[0]
    if _remembers(function) or (waits(function) and not is_used_up(program, call)):
        return True
    name = next((k.arg for k in call.keywords if k.value is argument), None)
    if name is None and not any(isinstance(a, ast.Starred) for a in call.args):
        name = next((n for n, given in zip(names, call.args, strict=False) if given is argument), None)
    if name is None or name not in all_parameter_names(function.args):
        return True
    return _is_name_held(program, function, name, depth + 1)


def _is_name_held(program: Program, around: ast.AST, name: str, depth: int) -> bool:
    """Whether what a name stands for in a loop or a function is held from there; functions made inside keep it."""
    home = (program.scope(around), around)
    return any(
        program.scope(node) not in home or outlasts(program, node, depth=depth)
        for node in walk(around)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    )


def _remembers(function: FunctionNode) -> bool:
    """Whether a function is told by the object that it is given what it gives: `lru_cache`."""
    made_by = (d.func if isinstance(d, ast.Call) else d for d in function.decorator_list)
    return any("cache" in last_word(d) for d in made_by)


def _computes(program: Program, call: ast.Call) -> bool:
    """Whether a call made nodes of a graph: a network does, and what only notes something does not."""
    return not isinstance(program.parents[call], ast.Expr) and bool(computed_in(program, call))


def is_of(program: Program, call: ast.Call, packages: tuple[str, ...]) -> bool:
    """Whether what is called is imported from one of some packages."""
    return imported_as(program, call).partition(".")[0] in packages


def _source(value: ast.expr) -> ast.expr:
    """`image` of `image.detach()[0]`, and of `Variable(image)`; what is computed is its own source."""
    while True:
        if isinstance(value, ast.Subscript) or (isinstance(value, ast.Attribute) and is_sharing(value.attr)):
            value = value.value
        elif not isinstance(value, ast.Call) or not is_sharing(last_word(value.func)):
            return value
        elif value.args and (isinstance(value.func, ast.Name) or last_word(value.func) in WRAPPING):
            value = value.args[0]
        elif isinstance(value.func, ast.Attribute):
            value = value.func.value
        else:
            return value


def _bound_to(program: Program, target: ast.expr) -> Iterator[ast.expr]:
    """The values that a name is bound to where it is written; of what a loop goes through, the whole."""
    around = program.parents[target]
    if isinstance(around, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and around.value is not None:
        yield around.value
    elif isinstance(around, LOOPS) and not isinstance(around, ast.While):
        yield around.iter
    elif isinstance(around, (ast.Tuple, ast.List)):
        for value in _bound_to(program, around):
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(around.elts):
                yield value.elts[around.elts.index(target)]
            else:
                yield value


def declared(scope: ast.AST) -> set[str]:
    """The names that a function says are not its own."""
    return {name for s in walk(scope) if isinstance(s, (ast.Global, ast.Nonlocal)) for name in s.names}


def _end(node: ast.AST | None) -> int:
    return getattr(node, "end_lineno", 0)
