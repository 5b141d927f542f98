"""Values that a `Counter` adds up by their names: what it is given goes without their graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.detaching import ROUNDED, element_candidates, has_graph, leaves_of_display, methods_in_sums
from autodetach.machine.graph import Node
from autodetach.machine.held import held_by
from autodetach.machine.tallies import is_tally
from autodetach.machine.told_of_values import is_scalar
from autodetach.machine.values import Mapping, Value
from autodetach.suspect import Candidate
from autodetach.view.half_precision import may_be_half
from autodetach.view.program import Program, text


def dicts_given(node: Node) -> list[tuple[ast.expr, Mapping]]:
    """The dicts that a `Counter` adds to what it holds, in which an operand of a node stands."""
    if not _is_of_tally(node):
        return []
    held = [(e, v) for e, v in node.site.operands[1:] if isinstance(v, Mapping)]
    return [(e, v) for e, v in held if any(item is o for _, item in v.items.values() for o in node.operands)]


def _is_of_tally(node: Node) -> bool:
    """Whether a method of a `Counter`, or of an object of a class that derives from it, has made a node."""
    return any(is_tally(held_by(receiver)) for _, receiver in node.site.operands[:1])


def keywords_given(node: Node) -> list[tuple[ast.expr, Value]]:
    """What a `Counter` is given by name, `counts.update(loss=loss, kl=kl)`, as far as it has history."""
    call = node.site.node
    if not isinstance(call, ast.Call) or not _is_of_tally(node):
        return []
    written = [keyword.value for keyword in call.keywords if keyword.arg is not None]
    return [(e, v) for e, v in node.site.operands if any(e is w for w in written) and has_graph(v)]


def counted_without_graph(
    program: Program, given: list[tuple[ast.expr, Mapping]], *, number: bool
) -> Iterator[Candidate]:
    """The values of a display each by itself, those of a dict by its name all together."""
    from autodetach.codemods.replace_expression import ReplaceExpression

    for expression, value in given:
        shown = leaves_of_display(expression, value)
        if shown:
            usual = element_candidates(program, shown, number=number, what="accumulate")
            yield from (candidate for candidate in usual if not candidate.last_resort)
        elif isinstance(expression, (ast.Name, ast.Attribute, ast.Subscript)):
            carrying = [v for _, v in value.items.values() if has_graph(v)]
            for method in methods_in_sums(program):
                if method == "item" and not (number and all(is_scalar(v) for v in carrying)):
                    continue
                kind = "as numbers" if method == "item" else "without their graph"
                new = f"{{k: v.{method}() for k, v in {{}}.items()}}"
                yield Candidate(
                    f"accumulate the values of `{text(expression)}` {kind}",
                    (ReplaceExpression(expression, new),),
                    ROUNDED if method == "item" and may_be_half(program) else None,
                    prefers=method,
                )
