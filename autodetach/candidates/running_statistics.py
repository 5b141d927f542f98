"""What enters a running average or extreme is detached where that is updated: nobody trains through a statistic.

`self.target = beta * self.target + (1 - beta) * new` in a method `update_target`, or the largest number so far. In a
state of a recurrent network, gradient of the pass itself is wanted: only these two forms tell that it is none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator

from autodetach.candidates.detaching import narrowed_to
from autodetach.candidates.reads import Repair
from autodetach.machine.activations import Pass
from autodetach.machine.children import targets_of, walk
from autodetach.machine.graph import Differentiation, Node
from autodetach.machine.operands import expression_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.machine.told_of_values import is_scalar
from autodetach.machine.values import Value
from autodetach.view.crossings import Crossed, operands_from
from autodetach.view.program import Block, Program, listed

FOLLOWED = "no gradient goes through the statistic then, not even that of what the pass itself puts in"
FOLLOWING = re.compile(r"_*(update|track|observe)(?![a-z])")
"""What functions are called that a statistic is for."""
LINEAR = frozenset({"mul", "div", "add", "index", "part", "__setitem__", "clone", "where", "lerp"})
"""What an average is made with, of its old value and a new one."""
EXTREMES = frozenset({"maximum", "minimum", "max", "min"})
SUMS = frozenset({"add", "sub", "neg", "mean", "sum", "stack"})
"""Of what these add up, each is a loss by itself."""


def followed(program: Program, run: Run, d: Differentiation, now: Pass, crossed: list[Crossed]) -> Iterator[Repair]:
    """Detach what enters a statistic, if each loss that is made with the statistic trains something without that."""
    from autodetach.codemods.append_method import AppendMethod

    inside, entering = _update(program, d, now, crossed)
    if not entering or not _trains_all(run, d, now, inside, {n for _, _, n in entering}):
        return
    named: list[ast.expr] = []
    places: dict[ast.expr, None] = {}
    for reader, operand, node in entering:
        found = _expression(reader, operand, node)
        if found is None:
            return
        named.append(found)
        places.update(dict.fromkeys(_everywhere(program, found, operand, [n.site.node for n in inside])))
    shown = f"detach {listed(named)}, which enters what is carried over passes"
    yield shown, tuple(AppendMethod(e, "detach") for e in places)


def _update(
    program: Program, d: Differentiation, now: Pass, crossed: list[Crossed]
) -> tuple[list[Node], list[tuple[Node, Value, Node]]]:
    """The nodes that make the new value of a state from its old one, and what else enters them; none if it is no such.

    Of what enters: the node that takes it, the operand, and the node that has made that.
    """
    children: dict[Node, list[Node]] = {}
    for node in d.walked:
        for parent in node.parents if now in node.loops else ():
            children.setdefault(parent, []).append(node)
    readers = [reader for reader, _, _ in crossed]
    inside = _made_of(program, readers, children)
    entering = [
        (node, operand, parent)
        for node in inside
        for parent in node.parents
        if parent not in inside and not parent.leaf and not parent.weak and now in parent.loops
        for operand in operands_from(node, parent)
    ]
    takers = {node for node, _, _ in entering}
    is_known = bool(takers) and all(_is_average(program, n) or _is_extreme(n) for n in takers)
    known = {parent for _, _, parent in crossed}
    is_closed = all(p in inside or p in known or now in p.loops for n in inside for p in n.parents)
    is_state = any(n.site.node is maker.site.node for n in inside for _, _, maker in crossed)
    is_state = is_state or all(_is_bound_anew(program, n.site.node) for n in takers)
    return (inside, entering) if is_known and is_closed and is_state else ([], [])


def _made_of(program: Program, readers: Collection[Node], children: dict[Node, list[Node]]) -> list[Node]:
    """The nodes of the update to which its readers lead: those of its function, or up to the extreme."""
    found: dict[Node, None] = {}
    pending = [n for n in readers if _is_extreme(n) or n.op in LINEAR]
    while pending:
        node = pending.pop()
        if node in found or not (_is_extreme(node) or node.op in LINEAR):
            continue
        found[node] = None
        if not _is_extreme(node):
            home = program.scope(node.site.node)
            pending += (n for n in children.get(node, ()) if program.scope(n.site.node) is home)
    if any(map(_is_extreme, found)):
        leading = _leading(found, children)
        return [n for n in found if _is_extreme(n) or n in leading]
    return [n for n in found if _follows(program, n)]


def _is_bound_anew(program: Program, place: ast.AST) -> bool:
    """Whether a statement binds something anew that it reads: `self.best = torch.maximum(self.best, new)`."""
    statement = program.statement(place)
    bound = {spelled(t) for t in targets_of(statement)} if statement is not None else set()
    read = (n for n in ast.walk(statement) if isinstance(n, (ast.Name, ast.Attribute))) if statement is not None else ()
    return any(isinstance(n.ctx, ast.Load) and spelled(n) in bound for n in read)


def _leading(nodes: Iterable[Node], children: dict[Node, list[Node]]) -> set[Node]:
    """The nodes of which nothing is made but an extreme, or what leads to one."""
    found: set[Node] = set()
    for node in sorted(nodes, key=lambda n: -n.number):
        above = children.get(node, [])
        if above and all(_is_extreme(n) or (n.op in LINEAR and n in found) for n in above):
            found.add(node)
    return found


def _follows(program: Program, node: Node) -> bool:
    """Whether a node is made in a function that says it updates something, and that keeps what it makes."""
    scope = program.scope(node.site.node)
    if not isinstance(scope, ast.FunctionDef) or not FOLLOWING.match(scope.name):
        return False
    return any(isinstance(t, (ast.Attribute, ast.Subscript)) for s in _statements(scope) for t in targets_of(s))


def _is_extreme(node: Node) -> bool:
    """`torch.maximum(self.best, new)` of two numbers."""
    return node.op in EXTREMES and len(node.parents) == 2 and all(is_scalar(o) for o in node.operands)


def _is_average(program: Program, node: Node) -> bool:
    """`a * old + (1 - a) * new`, or `old.lerp(new, a)`, with a number for `a`."""
    if not _follows(program, node):
        return False
    place = node.site.node
    if node.op == "lerp":
        return True
    if node.op != "add" or not isinstance(place, ast.BinOp) or not isinstance(place.op, ast.Add):
        return False
    sides = [_factors(side) for side in (place.left, place.right)]
    return any(_are_complements(a, b) for a in sides[0] for b in sides[1])


def _factors(side: ast.expr) -> list[ast.expr]:
    """`a` and `b` of `a * b`."""
    return [side.left, side.right] if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mult) else []


def _are_complements(one: ast.expr, other: ast.expr) -> bool:
    """`a` and `1 - a`, or two numbers that are 1 together."""
    if isinstance(one, ast.Constant) and isinstance(other, ast.Constant):
        numbers = [n.value for n in (one, other) if isinstance(n.value, (int, float))]
        return len(numbers) == 2 and abs(sum(numbers) - 1) < 1e-9
    return any(
        isinstance(b, ast.BinOp)
        and isinstance(b.op, ast.Sub)
        and isinstance(b.left, ast.Constant)
        and b.left.value == 1
        and spelled(b.right) == spelled(a)
        for a, b in ((one, other), (other, one))
    )


def _trains_all(run: Run, d: Differentiation, now: Pass, inside: Collection[Node], cut: Collection[Node]) -> bool:
    """Whether each loss of a sum that trains something in this pass still does so without what enters the statistic."""
    trained = run.trained
    before: dict[Node, bool] = {}
    after: dict[Node, bool] = {}
    for node in sorted((n for n in d.walked if now in n.loops), key=lambda n: n.number):
        before[node] = any(p in trained or before.get(p, False) for p in node.parents)
        left = [p for p in node.parents if not (node in inside and p in cut)]
        after[node] = any(p in trained or after.get(p, False) for p in left)
    if any(root not in before for root in d.roots):
        return False
    pending, seen = list(d.roots), set(inside)
    while pending:
        node = pending.pop()
        if node in seen or node.leaf:
            continue
        seen.add(node)
        if before.get(node, False) and not after.get(node, False):
            return False
        if node.op in SUMS or (node.op in ("mul", "div") and len(node.parents) == 1):
            pending += (p for p in node.parents if p not in inside)
            if any(p in inside and before.get(p, False) and not after.get(p, False) for p in node.parents):
                return False
    return True


def _expression(reader: Node, operand: Value, node: Node) -> ast.expr | None:
    """What stands for what enters: of `(1 - beta) * new`, `new`."""
    found = expression_of(reader, operand)
    return narrowed_to(found, operand) if found is not None and getattr(operand, "node", None) is node else None


def _everywhere(program: Program, entering: ast.expr, value: Value, places: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """Where to detach what enters: where its name is bound, if only the update reads that, else each time it enters.

    In `best = new if best is None else torch.maximum(best, new)`, it does so twice.
    """
    if not isinstance(entering, ast.Name):
        yield entering
        return
    scope = program.scope(entering)
    updating = {s for place in places if (s := program.statement(place)) is not None}
    named = [n for n in walk(scope) if isinstance(n, ast.Name) and n.id == entering.id]
    loads = [n for n in named if isinstance(n.ctx, ast.Load)]
    own = [n for n in loads if program.statement(n) in updating or _is_kept(program, n)]
    bound = [s for s in _statements(scope) if isinstance(s, ast.Assign) and entering.id in program.names_bound(s)]
    stores = [n for n in named if not isinstance(n.ctx, ast.Load)]
    if len(bound) == len(stores) == 1 and own == loads and isinstance(bound[0].targets[0], ast.Name):
        yield narrowed_to(bound[0].value, value)
    else:
        yield from own


def _is_kept(program: Program, name: ast.Name) -> bool:
    """`self.best = new`."""
    parent = program.parents.get(name)
    return isinstance(parent, ast.Assign) and all(isinstance(t, ast.Attribute) for t in parent.targets)


def _statements(scope: ast.AST) -> Block:
    return [s for s in walk(scope) if isinstance(s, ast.stmt)]
