"""Whether what has lost its history is differentiated in any case: then the program raises there, whatever it holds."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from autodetach.machine.children import nodes_in
from autodetach.machine.events import HistoryLost
from autodetach.machine.spelling import called_name, is_dotted, last_word, spelled
from autodetach.node_types import DEFINITIONS, FUNCTIONS, JUMPS, YIELDS
from autodetach.view.program import Program

GOING_ON = frozenset("clone cpu cuda double float mean neg scale squeeze sum to".split())
"""What is called on a value, or given one, and gives one that has no history either."""
OF_GRAD = frozenset({"requires_grad", "requires_grad_"})
CALLERS = 3


def raises_anyway(program: Program, copies: Collection[ast.AST]) -> bool:
    """Whether each copy goes straight into a backward that is seen to find no history: nothing is decided in between.

    A copy that is passed on the way of another one is on that way, too.
    """
    facts = (f for run in program.runs for f in run.machine.facts if isinstance(f, HistoryLost) and f.raises)
    backwards = {f.site.node for f in facts}
    passed: set[ast.stmt] = set()
    for copy in copies:
        passed.update(_Way(program, backwards, copies).from_(copy, CALLERS))
    return all(program.statement(copy) in passed for copy in copies)


class _Way:
    """From where a value stands to where it is differentiated: what has no history there, and names that hold it."""

    def __init__(self, program: Program, backwards: set[ast.AST], bare: Collection[ast.AST]) -> None:
        self._program = program
        self._backwards = backwards
        self._bare = bare
        self._names: set[str] = set()

    def from_(self, origin: ast.AST, callers: int) -> list[ast.stmt]:
        """The statements up to the backward; none where another way may be taken."""
        passed: list[ast.stmt] = []
        statement = self._program.statement(origin)
        for at in self._behind(statement):
            passed.append(at)
            value = getattr(at, "value", None)
            if self._is_backward(value.value if isinstance(value, ast.Subscript) else value):
                return passed
            if isinstance(at, ast.Return):
                is_bare = at.value is not None and self._holds(at.value)
                return passed if is_bare and callers and self._is_so_in_callers(at, callers - 1) else []
            if isinstance(at, DEFINITIONS):
                continue
            own = [n for part in (at.items if isinstance(at, ast.With) else [at]) for n in nodes_in(part)]
            if any(map(_is_turn, own)):
                return []
            self._bind(at, own)
            if not self._names:
                return []
        return []

    def _behind(self, statement: ast.stmt | None) -> Iterator[ast.stmt]:
        """A statement, and all that runs behind it in any case, as long as no loop ends."""
        at: ast.AST | None = statement
        while isinstance(at, ast.stmt):
            block = self._program.block(at)
            for one in block[block.index(at) + (at is not statement) :]:
                yield from _with_its_block(one)
            at = self._program.parents.get(at)
            if not isinstance(at, (ast.If, ast.With)):
                return

    def _is_so_in_callers(self, statement: ast.Return, callers: int) -> bool:
        """Whether what a function returns goes the same way wherever it is called."""
        function = self._program.scope(statement)
        if not isinstance(function, FUNCTIONS) or function.decorator_list:
            return False
        nodes = (n for tree in self._program.analysis.trees for n in nodes_in(tree) if isinstance(n, ast.expr))
        around = [(n, self._program.parents.get(n)) for n in nodes if last_word(n) == function.name]
        calls = [call for n, call in around if isinstance(call, ast.Call) and call.func is n]
        if not calls or len(calls) < len(around):
            return False
        return all(_Way(self._program, self._backwards, [c]).from_(c, callers) for c in calls)

    def _bind(self, statement: ast.stmt, nodes: list[ast.AST]) -> None:
        target: ast.expr | None = None
        is_bare = False
        match statement:
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                is_bare = is_dotted(target) and self._holds(value)
            case ast.AugAssign(target=target, op=op, value=value):
                is_bare = is_dotted(target) and self._holds_both(target, op, value)
        bound = (n for n in nodes if isinstance(n, (ast.Name, ast.Attribute)) and not isinstance(n.ctx, ast.Load))
        self._names.difference_update(map(spelled, bound))
        if is_bare and target is not None:
            self._names.add(spelled(target))

    def _is_backward(self, call: ast.AST | None) -> bool:
        return isinstance(call, ast.Call) and call in self._backwards and self._is_called_with_it(call)

    def _is_called_with_it(self, call: ast.Call) -> bool:
        """On what has no history, or with it as the first argument."""
        of = call.func.value if isinstance(call.func, ast.Attribute) else None
        return any(map(self._holds, call.args[:1])) or (of is not None and self._holds(of))

    def _holds(self, value: ast.expr) -> bool:
        """Whether it surely has no history; factors have none in the backward that is seen."""
        if value in self._bare or (is_dotted(value) and spelled(value) in self._names):
            return True
        match value:
            case ast.UnaryOp(operand=operand):
                return self._holds(operand)
            case ast.BinOp(left=left, op=op, right=right):
                return self._holds_both(left, op, right)
            case ast.Call() if called_name(value) in GOING_ON:
                return self._is_called_with_it(value)
        return False

    def _holds_both(self, left: ast.expr, op: ast.operator, right: ast.expr) -> bool:
        held = [self._holds(left), self._holds(right)]
        if isinstance(op, (ast.Mult, ast.Div)):
            return any(held)
        return any(held) and all(h or isinstance(v, ast.Constant) for h, v in zip(held, (left, right), strict=True))


def _with_its_block(statement: ast.stmt) -> Iterator[ast.stmt]:
    """A statement, and behind a `with` those of its block."""
    yield statement
    if isinstance(statement, ast.With):
        for one in statement.body:
            yield from _with_its_block(one)


def _is_turn(node: ast.AST) -> bool:
    """Whether another way may be taken here, or a tensor may begin to require grad."""
    is_of_grad = isinstance(node, ast.Attribute) and node.attr in OF_GRAD
    return is_of_grad or isinstance(node, (*JUMPS, *YIELDS, ast.Assert))
