"""Which names may mean the same memory as others, by what binds them: `base = torch.from_numpy(array)`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterator

from autodetach.container_methods import ADDING
from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import targets_of, walk
from autodetach.machine.spelling import arguments_of, is_dotted, last_word, spelled
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import CALLABLES, COMPREHENSIONS, LOOPS
from autodetach.view.handed_on import is_sharing
from autodetach.view.kept import COPYING, LITERALS
from autodetach.view.program import Program

HANDING_ON = frozenset(
    """
    DataFrame Series buffers children enumerate get items iter keys modules parameters rearrange reversed values vars
    zip
    """.split()
)
"""What gives parts of what it is called on, or is given."""
OF_POSITIONS = frozenset("arange argsort argwhere multinomial permutation randperm".split())
"""What gives positions in a tensor or an array of one dimension or more, by which that is copied, not viewed."""
NAMESPACES = frozenset("AttrDict Box EasyDict Munch Namespace SimpleNamespace defaultdict".split())
"""What holds what it is given by the name of an argument, as `dict` does."""
JOINING = (ast.Add, ast.BitOr, ast.Mult)
ANY = ""
"""The key of a part of a container that is not known."""
AS_THERE = "*"
"""The key of the parts of a copied dict, which has them where the other one does."""


class Shared(NamedTuple):
    """The names that may be some memory, those of containers that merely hold some of it, and at which keys they do."""

    same: set[str]
    holding: set[str]
    keys: set[str]


class _Pair(NamedTuple):
    """A name that is bound to what another one means or has; with a `key`, to a container that holds it there."""

    target: str
    source: str
    key: str | None
    is_exact: bool


def of_same_memory(
    program: Program, home: ast.AST, begin: set[str], is_container: Callable[[ast.expr], bool]
) -> Shared:
    """The names and attributes, as they are written, that share memory with some in the block of a function or file."""
    imported = {
        alias.asname or alias.name.partition(".")[0]
        for s in walk(program.file_of(home))
        if isinstance(s, (ast.Import, ast.ImportFrom))
        for alias in s.names
    }
    pairs = [p for p in _pairs(program, home, is_container) if p.source.partition(".")[0] not in imported]
    found = Shared(set(begin), set(), set())
    size = -1
    while size < (size := sum(map(len, found))):
        for pair in pairs:
            _follow(pair, pairs, found)
    found.same.difference_update(begin)
    found.holding.difference_update(begin, found.same)
    return found


def _follow(pair: _Pair, pairs: list[_Pair], found: Shared) -> None:
    same, holding, keys = found
    a, b = pair.target, pair.source
    if pair.key is not None:
        if a in same:
            same.add(b)
        elif b in same or b in holding:
            holding.add(a)
            keys.update({pair.key} - {AS_THERE} if b not in same else {ANY if pair.key == AS_THERE else pair.key})
        return
    if b in holding and b not in same:
        if a in same:
            same.update(p.source for p in pairs if p.target == b and p.key is not None)
        else:
            (holding if pair.is_exact else same).add(a)
    elif a in same or b in same:
        same.update((a, b))
    elif a in holding and pair.is_exact:
        holding.add(b)


def _pairs(program: Program, home: ast.AST, is_container: Callable[[ast.expr], bool]) -> list[_Pair]:
    pairs: list[_Pair] = []
    picked = positions_in(home)
    for node in walk(home):
        for target, value, is_part in _bound(node):
            if program.scope(target) is not home:
                continue
            if isinstance(target, ast.Subscript):
                if is_dotted(target.value) and is_container(target.value):
                    sources = memory_of(value, picked)
                    pairs += [_Pair(spelled(target.value), spelled(s), key_of(target), False) for s in sources]
                continue
            text = spelled(target)
            if not is_part and _is_container_made(value):
                for key, part in _parts(value):
                    sources = (s for s in memory_of(part, picked) if part is not value or is_container(s))
                    pairs += [_Pair(text, spelled(s), key, False) for s in sources]
            else:
                is_exact = not is_part and is_dotted(value)
                sources = memory_of(value, picked)
                pairs += [_Pair(text, spelled(s), None, is_exact and s is value) for s in sources]
        if isinstance(node, ast.AugAssign) and _is_container_made(node.value) and program.scope(node) is home:
            for key, part in _parts(node.value) if is_container(node.target) else ():
                pairs += [_Pair(spelled(node.target), spelled(s), key, False) for s in memory_of(part, picked)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ADDING:
            owner = node.func.value
            if is_dotted(owner) and program.scope(node) is home and is_container(owner):
                given = (s for a in arguments_of(node) for s in memory_of(a, picked))
                pairs += [_Pair(spelled(owner), spelled(s), ANY, False) for s in given]
    return pairs


def positions_in(home: ast.AST) -> set[str]:
    """The names that are only bound to positions in a block: `order = torch.randperm(8)`."""
    bound = [b for node in walk(home) for b in _bound(node)]
    names = {t.id for t, value, is_part in bound if isinstance(t, ast.Name) and not is_part and _is_positions(value)}
    stored = [n.id for n in walk(home) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
    given = all_parameter_names(home.args) if isinstance(home, CALLABLES) else ()
    only = {name for name in names if stored.count(name) == sum(_is_name_bound(b, name) for b in bound)}
    return only.difference(given)


def _is_name_bound(bound: tuple[ast.expr, ast.expr, bool], name: str) -> bool:
    target, value, is_part = bound
    return isinstance(target, ast.Name) and target.id == name and not is_part and _is_positions(value)


def _is_positions(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and last_word(value.func) in OF_POSITIONS


def key_of(part: ast.Subscript) -> str:
    """How the key of a part is written where that is a constant."""
    return spelled(part.slice) if isinstance(part.slice, ast.Constant) else ANY


def _parts(value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The keys and parts of a container that is made; those of a list may move, or of what is copied."""
    if isinstance(value, ast.Dict):
        for key, part in zip(value.keys, value.values, strict=True):
            yield spelled(key) if isinstance(key, ast.Constant) else ANY, part
    elif isinstance(value, (ast.Tuple, ast.List, ast.Set)):
        for part in value.elts:
            yield ANY, part
    elif isinstance(value, ast.Call):
        given = [*value.args, *([value.func.value] if isinstance(value.func, ast.Attribute) else [])]
        is_dict = last_word(value.func) in ("OrderedDict", "copy", "dict")
        for part in given:
            yield AS_THERE if is_dict and is_dotted(part) else ANY, part
        for keyword in value.keywords:
            yield ANY if keyword.arg is None else repr(keyword.arg), keyword.value
    elif isinstance(value, ast.BinOp):
        for part in (value.left, value.right):
            yield from _parts(part) if _is_container_made(part) else [(ANY, part)]
    else:
        yield ANY, value


def _is_container_made(value: ast.expr) -> bool:
    """Whether an expression may make a container that holds what others do: `list(rows)`, `[x] + [1]`."""
    if isinstance(value, ast.Call):
        return last_word(value.func) in COPYING | NAMESPACES
    if isinstance(value, ast.BinOp):
        parts = (value.left, value.right)
        return isinstance(value.op, JOINING) and any(map(_is_container_made, parts))
    return isinstance(value, (ast.Tuple, ast.List, ast.Set, ast.Dict, *COMPREHENSIONS))


def _bound(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
    """What a statement binds, with the value, and whether it is a part of that, as of what a loop goes through."""
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        for target in targets_of(node):
            yield from _each(target, node.value, False)
    elif isinstance(node, ast.NamedExpr):
        yield node.target, node.value, False
    elif isinstance(node, ast.comprehension) or (isinstance(node, LOOPS) and not isinstance(node, ast.While)):
        yield from _each(node.target, node.iter, True)


def _each(target: ast.expr, value: ast.expr, is_part: bool) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
    if isinstance(target, (ast.Tuple, ast.List)):
        written = value.elts if isinstance(value, (ast.Tuple, ast.List)) and not is_part else []
        pairwise = len(written) == len(target.elts)
        for n, part in enumerate(target.elts):
            yield from _each(part, written[n] if pairwise else value, is_part or not pairwise)
    elif is_dotted(target) or isinstance(target, ast.Subscript):
        yield target, value, is_part


def memory_of(value: ast.expr, picked: Container[str] = ()) -> Iterator[ast.expr]:
    """The names and attributes whose memory, or that of their parts, an expression may hand on.

    What is `picked` by positions is copied.
    """
    if is_dotted(value):
        yield value
        if isinstance(value, ast.Attribute) and (value.attr == "__dict__" or is_sharing(value.attr)):
            yield from memory_of(value.value, picked)
    elif isinstance(value, (ast.Subscript, ast.Starred, ast.NamedExpr, ast.Attribute)):
        if not (isinstance(value, ast.Subscript) and _copies(value.slice, picked)):
            yield from memory_of(value.value, picked)
    elif isinstance(value, COMPREHENSIONS):
        yield from _memory_of_each(value, picked)
    elif isinstance(value, (ast.BinOp, ast.Call)) and _is_container_made(value):
        for _, part in _parts(value):
            yield from memory_of(part, picked)
    elif isinstance(value, LITERALS):
        for inside in ast.iter_child_nodes(value):
            if isinstance(inside, ast.expr):
                yield from memory_of(inside, picked)
    elif isinstance(value, ast.IfExp):
        yield from memory_of(value.body, picked)
        yield from memory_of(value.orelse, picked)
    elif isinstance(value, ast.Call) and last_word(value.func) == "repeat":  # of einops: that of a tensor copies
        for given in value.args:
            yield from memory_of(given, picked)
    elif isinstance(value, ast.Call) and ((name := last_word(value.func)) in HANDING_ON or is_sharing(name)):
        for given in value.args:
            yield from memory_of(given, picked)
        if isinstance(value.func, ast.Attribute):
            yield from memory_of(value.func.value, picked)


def _memory_of_each(
    made: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, picked: Container[str]
) -> Iterator[ast.expr]:
    """The memory that the parts of what a comprehension makes may hand on; what it binds is part of what it reads."""
    bound = {n.id for g in made.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    for source in memory_of(made.value if isinstance(made, ast.DictComp) else made.elt, picked):
        if spelled(source).partition(".")[0] not in bound:
            yield source
            continue
        for generator in made.generators:
            yield from memory_of(generator.iter, picked)


def _copies(index: ast.expr, picked: Container[str]) -> bool:
    """Whether a part at an index is a copy: at positions, or at a slice of them."""
    while isinstance(index, ast.Subscript) and isinstance(index.slice, ast.Slice):
        index = index.value
    return _is_positions(index) or (isinstance(index, ast.Name) and index.id in picked)


def is_array_copy(value: ast.expr) -> bool:
    """Whether a method makes a copy, `array.copy()`: of the memory of an array, though not of what a container has."""
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "copy"
