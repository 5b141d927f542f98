"""What is read off the nodes of a graph, on the installed PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from autodetach.doctor import nodes
from autodetach.doctor.nodes import Saved, address_of, bytes_saved, changed_since, reachable, saved
from autodetach.doctor.scan import breadth_first, needed, scan, way_to


def leaf(*size: int) -> Any:
    return torch.rand(size or (3,), requires_grad=True)


def node_of(tensor: Any) -> Any:
    return tensor.grad_fn


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return 2 * x * gradients[0]


class Tripled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return 3 * x

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        return 3 * gradients[0]


def apply(function: Any, x: Any) -> Any:
    return function.apply(x)


OPERATIONS: dict[str, tuple[Any, Saved]] = {
    "exp": (lambda x: x.exp(), Saved.LIVE),
    "power": (lambda x: x**2, Saved.LIVE),
    "a list of tensors": (lambda x: torch.cartesian_prod(x, x).pow(2), Saved.LIVE),
    "sum": (lambda x: x.sum(), Saved.NOTHING),
    "add": (lambda x: x + 1, Saved.NOTHING),
    "by a tensor without gradient": (lambda x: x * torch.ones(3), Saved.LIVE),
    "custom": (lambda x: apply(Square, x), Saved.LIVE),
    "custom that keeps nothing": (lambda x: apply(Tripled, x), Saved.NOTHING),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_live_and_then_freed(name: str) -> None:
    operation, state = OPERATIONS[name]
    result = operation(leaf())
    node = node_of(result)
    assert saved(node) is state
    result.sum().backward()
    freed = Saved.UNKNOWN if name.startswith("custom") else Saved.FREED if state is Saved.LIVE else Saved.NOTHING
    assert saved(node) is freed


def test_a_retained_graph_is_live() -> None:
    result = leaf().exp()
    result.sum().backward(retain_graph=True)
    assert saved(node_of(result)) is Saved.LIVE


def test_a_leaf_keeps_nothing_that_is_freed() -> None:
    x = leaf()
    accumulate = torch.autograd.graph.get_gradient_edge(x).node
    x.exp().sum().backward()
    assert saved(accumulate) is Saved.NOTHING


def explodes(value: Any) -> Any:
    raise AssertionError("a hook of the program was run by the doctor")


def test_hooks_of_the_program_are_never_run() -> None:
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: ("packed", tensor), explodes):
        result = (leaf().exp() * leaf()).sum()
    graph = list(reachable(iter([node_of(result)])))
    assert Saved.LIVE in {saved(node) for node in graph}
    assert [tensor for node in graph for tensor in changed_since(node)] == []
    bytes_saved(iter(graph), set())
    scan(graph, lambda sequence: True)


def test_hooks_are_not_run_on_a_pytorch_that_does_not_show_what_is_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before 2.10 the raw form has no `data`."""
    monkeypatch.setattr(nodes, "_slots", lambda node, name: (object(),) * len(slots(node, name)))
    monkeypatch.setattr(nodes, "_is_freed", lambda slot: False)
    monkeypatch.setattr(nodes, "_hooked", False)
    plain = leaf().exp()
    assert saved(node_of(plain)) is Saved.LIVE
    assert bytes_saved(iter([node_of(plain)]), set()) == 12
    plain.sum().backward()
    assert saved(node_of(plain)) is Saved.FREED
    nodes.hooks_are_used()
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, explodes):
        packed = leaf().exp()
    assert saved(node_of(packed)) is Saved.UNKNOWN
    assert bytes_saved(iter([node_of(packed)]), set()) == 0


slots = nodes._slots


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_checkpoint_is_not_computed_again(reentrant: bool) -> None:
    runs = []

    def part(x: torch.Tensor) -> torch.Tensor:
        runs.append(1)
        return torch.tanh(x).exp()

    result = checkpoint(part, leaf(), use_reentrant=reentrant)
    graph = list(reachable(iter([node_of(result)])))
    assert {saved(node) for node in graph} >= {Saved.LIVE}
    scan(graph, lambda sequence: True)
    bytes_saved(iter(graph), set())
    assert len(runs) == 1
    result.sum().backward()
    assert len(runs) == 2
    assert (Saved.UNKNOWN if reentrant else Saved.FREED) in {saved(node) for node in graph}


def test_what_is_on_the_cpu_by_save_on_cpu() -> None:
    with torch.autograd.graph.save_on_cpu():
        result = leaf().exp()
    assert saved(node_of(result)) is Saved.LIVE
    result.sum().backward()
    assert saved(node_of(result)) is Saved.FREED


def test_changed_since() -> None:
    x = leaf()
    y = x * 2
    z = y.exp()
    z.add_(1)
    found = [tensor for node in reachable(iter([node_of(z)])) for tensor in changed_since(node)]
    assert [address_of(tensor) for tensor in found] == [address_of(z)]
    assert list(changed_since(node_of(x.exp()))) == []


def test_bytes_are_counted_once_for_a_storage_and_not_for_what_is_known() -> None:
    weight = leaf(10, 10)
    x = torch.rand(10, 10)
    y = (x @ weight) * x

    def nodes_of() -> Iterator[Any]:
        return reachable(iter([node_of(y)]))

    whole = bytes_saved(nodes_of(), set())
    assert whole == 400  # x, by both
    assert bytes_saved(nodes_of(), {address_of(x)}) == 0
    sparse = torch.eye(3).to_sparse().requires_grad_()
    bytes_saved(reachable(iter([node_of((sparse * sparse).sum())])), set())
    assert address_of(sparse) == 0


def test_scan_stops_at_the_first_freed_node_of_each_way() -> None:
    x = leaf()
    old = x.exp()
    older = node_of(old)
    old.sum().backward()
    found = scan([node_of((old * 2).sum())], lambda sequence: sequence <= older._sequence_nr())
    assert found.freed == [older]
    assert found.again == set()
    assert older._sequence_nr() not in found.sequences
    kept = x.exp()
    kept.sum().backward(retain_graph=True)
    found = scan([node_of(kept)], lambda sequence: True)
    assert (found.freed, found.again) == ([], {node_of(kept)._sequence_nr()})


def test_only_what_leads_to_the_inputs_is_needed() -> None:
    a, b = leaf(), leaf()
    left, right = a.exp(), b.exp()
    total = left + right
    edge = torch.autograd.graph.get_gradient_edge(a).node
    found = needed([node_of(total)], [edge])
    assert node_of(left) in found and node_of(right) not in found
    assert needed([node_of(total)], []) == set()


def test_ways_are_shortest_and_the_near_comes_first() -> None:
    x = leaf()
    a = x.exp()
    b = a.exp().exp() + a
    assert way_to([node_of(b)], node_of(a)) == [node_of(b), node_of(a)]
    assert way_to([node_of(a)], node_of(b)) == []
    near = list(breadth_first([node_of(b)]))
    assert near[0] is node_of(b) and len(near) == len(set(near)) == 5
