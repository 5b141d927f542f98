"""`torch.autograd.backward` and `torch.autograd.grad`."""

from __future__ import annotations

import ast

from autodetach.machine.core import Core
from autodetach.machine.differentiation import creates_graph, differentiate, differentiate_call
from autodetach.machine.graph import GRADIENT, Lost, Site, ancestors
from autodetach.machine.held import MAX_LOST, graph_in, tensors_in
from autodetach.machine.number_readers import wanted
from autodetach.machine.program_values import Iterable
from autodetach.machine.values import Opaque, Sequence, Tensor, Value


def autograd_backward(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`backward(tensors, grad_tensors)`: all of them at once."""
    assert isinstance(site.node, ast.Call)
    roots = _roots(args[0] if args else kwargs.get("tensors"))
    wanted(m, [*args, *kwargs.values()], site, "backward")
    root = _first_written(site.node, "tensors")
    differentiate_call(m, roots, args[2:], kwargs, site.node, site, root, "autograd.backward")
    return None


def _first_written(call: ast.Call, word: str) -> ast.expr | None:
    """The expression of the first argument, by place or by its name."""
    return next(iter(call.args), None) or next((k.value for k in call.keywords if k.arg == word), None)


def _roots(value: Value) -> list[Value]:
    if isinstance(value, (Tensor, Opaque)):
        return [value]
    return [*graph_in(value), *(t for t in tensors_in(value) if isinstance(t, Tensor) and t.node is None)]


def autograd_grad(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`grad(outputs, inputs)`: a gradient for each input, with history if the call creates its graph."""
    assert isinstance(site.node, ast.Call)
    outputs = args[0] if args else kwargs.get("outputs")
    inputs = args[1] if len(args) > 1 else kwargs.get("inputs")
    create = kwargs.get("create_graph", args[4] if len(args) > 4 else False)
    create_graph = creates_graph(m, create, site.node, site)
    retain = kwargs.get("retain_graph", args[3] if len(args) > 3 else None)
    # What nobody knows is taken for right, as in `backward`.
    keep = create_graph if retain is None else not isinstance(retain, (bool, int)) or bool(retain)
    roots = _roots(outputs)
    if isinstance(inputs, Iterable):
        inputs = Sequence("tuple", m.collect(inputs, site)[0], m.clock)
    wanted = list(graph_in(inputs))
    d = differentiate(
        m,
        roots,
        site.node,
        site,
        retain=keep,
        retain_written=next((k for k in site.node.keywords if k.arg == "retain_graph"), None),
        create_graph=create_graph,
        inputs=wanted if wanted else None,
        kind="grad",
        root_expression=_first_written(site.node, "outputs"),
    )
    targets = inputs.items if isinstance(inputs, Sequence) else [inputs]
    m.consume([t for t in targets if isinstance(t, Tensor)] if d.roots else [], d, site)
    if kwargs.get("allow_unused") is not True and kwargs.get("materialize_grads") is not True:
        reached = set(ancestors(r.node for r in roots if getattr(r, "node", None) is not None))
        for t in targets:
            if isinstance(t, Tensor) and t.node not in reached and not any(n.assumed or n.weak for n in reached):
                m.type_fault(site, "differentiates for a tensor that was not used", "unused")
    grads: list[Value] = []
    carriers = [r for r in roots if isinstance(r, (Tensor, Opaque)) and r.node is not None]
    for target in targets:
        grad = Tensor(None, target.shape if isinstance(target, Tensor) else None, True)
        grad.born = m.clock
        grad.from_grad = (d,)
        if create_graph and m.grad_enabled and carriers:
            operands = [v for v in (*carriers, target) if isinstance(v, (Tensor, Opaque))]
            parents = [v.node for v in operands if v.node is not None]
            grad.node = m.new_node("grad", site, tuple(dict.fromkeys(parents)), tuple(operands), saves=True)
        elif carriers and create in (None, False) and "**" not in kwargs:
            grad.lost = tuple(Lost(r.node, site.node, GRADIENT) for r in carriers[:MAX_LOST] if r.node is not None)
        grads.append(grad)
    exact = not isinstance(inputs, Sequence) or inputs.exact
    return Sequence("tuple", grads, m.clock, exact)
