"""Changes in place: whose version they raise, and whose history they become."""

from __future__ import annotations

from autodetach.machine.arguments import flatten, is_certain_number
from autodetach.machine.core import Core
from autodetach.machine.events import LeafChanged
from autodetach.machine.graph import Differentiation, Node, Site, ancestors
from autodetach.machine.held import MAX_LOST
from autodetach.machine.steering import changed_by
from autodetach.machine.swallowing import expects_fault
from autodetach.machine.torch_semantics import INPLACE_AT, LIKE_ANOTHER, RANDOM, lookup
from autodetach.machine.values import Opaque, Tensor, Value, gradients_in, joined, scaled_by_gradient

SCALING = frozenset({"mul", "multiply", "div", "divide", "true_divide"})
ADDING = frozenset({"add", "sub", "subtract"})


def asks_in_place(name: str, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """`F.relu(x, inplace=True)`."""
    at = INPLACE_AT.get(name)
    return at is not None and bool(args) and kwargs.get("inplace", args[at] if len(args) > at else False) is True


def scale_rows(m: Core, table: Value, max_norm: Value, site: Site) -> None:
    """A lookup with `max_norm` scales the rows of its table that it finds, where autograd does not record.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Embedding.html
    """
    if isinstance(table, Tensor) and is_certain_number(max_norm):
        m.change_in_place(table, site)


def in_place(m: Core, t: Tensor, name: str, others: list[Value], site: Site) -> Tensor:
    """Change `t` by an operation on it and `others`; `name` may be "__setitem__". Returns `t`."""
    base = name[:-1] if name.endswith("_") and name != "__setitem__" else name
    if name in LIKE_ANOTHER:
        others = []
    carriers = [v for v in flatten(others) if isinstance(v, (Tensor, Opaque)) and v.node is not None]
    if name in RANDOM:
        m.note_random(site)
    changed_by(m, t, flatten(others), site)
    if not (m.grad_enabled and (t.node is not None or carriers)):
        _overwrite(m, t, base, others, site)
    elif t.node is not None and t.node.leaf:
        _refuse(m, t, t, base, others, site)
    else:
        _record(m, t, name, base, others, site)
    return t


def _record(m: Core, t: Tensor, name: str, base: str, others: list[Value], site: Site) -> None:
    """A change that the graph knows of: the tensor, and what it is a view of, have a new history."""
    # Even what replaces every value is linked to the graph of the old ones, to which it sends zeros.
    replaces = base in ("copy", "zero", "fill", "normal", "uniform", "__setitem__")
    version = t.storage.version
    row = lookup("add" if replaces else name)._replace(view=False)
    made = m.derive(base, row, [t, *others], site, t.shape)
    node = made.node
    m.change_in_place(t, site)
    if node is not None:
        # What the node saved of the tensor itself was a copy, or is what the change left: the change is its own.
        own = (t.storage, made.storage)
        node.saved = tuple((t.storage, version + 1) if s in own else (s, v) for s, v in node.saved)
    t.node = node
    t.from_grad, t.scaled = made.from_grad, made.scaled
    t.is_float = True
    if t.view_of is not None:
        _write_through(m, t, node, base, others, site)
    if t.data_of is not None:  # `p.data.add_(momentum)`: the memory of `p` changes, and no graph of `p`
        _note_update(m, t, base, others, site)


def _overwrite(m: Core, t: Tensor, base: str, others: list[Value], site: Site) -> None:
    """A change that no graph knows of: `grad.zero_()` takes gradient away, `p.data -= lr * p.grad` is a step."""
    m.change_in_place(t, site)
    given = [v for v in flatten(others) if isinstance(v, Tensor)]
    t.lost = joined(t.lost, *(v.lost for v in given))
    t.weights = joined(t.weights, *(v.weights for v in given))[-MAX_LOST:]
    owner = t.grad_of or (t.data_of.grad_of if t.data_of is not None else None)
    if owner is not None and owner.node is not None and base in ("zero", "fill"):
        m.clear(owner.node)
    _note_update(m, t, base, others, site)


def _note_update(m: Core, t: Tensor, base: str, others: list[Value], site: Site) -> None:
    """What a leaf is changed by may be made of its gradient."""
    by_grad = _gradient_in(others)
    if by_grad:
        t.scaled = scaled_by_gradient([t, *others])
    t.from_grad = joined(t.from_grad, by_grad)
    for leaf in (t, t.data_of) if by_grad else ():
        if leaf is not None and leaf.node is not None and leaf.node.leaf and not _is_scaled(t, leaf, base, others):
            m.steps_read(leaf, site, "update", by_grad)


def _is_scaled(t: Tensor, leaf: Tensor, base: str, others: list[Value]) -> bool:
    """Whether a tensor is multiplied with a number as a whole: made of a gradient, this is its norm, and no step."""
    factor = _factor(t, leaf, base, others)
    return isinstance(factor, Tensor) and factor.shape == () and t.shape != ()


def _factor(t: Tensor, leaf: Tensor, base: str, others: list[Value]) -> Value:
    """What a tensor is multiplied with: `t.mul_(c)`, `t.add_(t, alpha=c - 1)`, `t.lerp_(torch.zeros_like(t), 1 - c)`.

    `t` is the leaf, or a view of it. A number where it takes its own values, scaled: `t.copy_(t.detach() * c)`. None
    where something else that is made of a gradient is added to it, which is a step.
    """
    if base in SCALING:
        return others[0] if others else None
    if t.shape != () and any(_has_scaled(value, leaf) for value in others):
        return Tensor(None, ())
    if len(others) != 2 or (base not in ADDING and base != "lerp"):
        return None
    other, number = others
    is_itself = isinstance(other, Tensor) and other.storage is t.storage
    is_step = not is_itself and (base != "lerp" or bool(_gradient_in([other])))
    return None if is_step or not _gradient_in([number]) else number


def _has_scaled(value: Value, leaf: Tensor) -> bool:
    """Whether a tensor was computed of the values of a leaf, into which gradients went as numbers only."""
    return isinstance(value, Tensor) and leaf.node is not None and leaf.node in set(ancestors(value.scaled))


def _gradient_in(values: list[Value]) -> tuple[Differentiation, ...]:
    """What gave the gradient that some values are, or were computed from."""
    return gradients_in(flatten(values))


def _refuse(m: Core, t: Tensor, leaf: Tensor, base: str, others: list[Value], site: Site) -> None:
    """`t`, which is a leaf or a view of one, is changed where autograd records: PyTorch raises.

    What the change would have consumed is noted, for programs to be compared with that do it where it is allowed.
    """
    part = "" if t is leaf else "a view of "
    m.type_fault(site, f"changes {part}a leaf that requires grad in place", "leaf")
    assert leaf.node is not None
    by_gradient = _gradient_in(others)
    if not expects_fault(m) and not m.unclear and not leaf.node.moved:
        nodes = (v.node for v in flatten(others) if isinstance(v, (Tensor, Opaque)) and v.node is not None)
        written = tuple(n for n in dict.fromkeys(nodes) if n is not leaf.node)
        unused = not any(leaf.node in n.parents for n in m.nodes if n is not t.node and n not in written)
        factor = _factor(t, leaf, base, others) if by_gradient else None
        m.facts.append(LeafChanged(site, leaf.node, written, bool(by_gradient), unused, m.chain, factor))
    if by_gradient and not _is_scaled(t, leaf, base, others):
        m.steps_read(leaf, site, "update", by_gradient)


def _write_through(m: Core, t: Tensor, node: Node | None, name: str, others: list[Value], site: Site) -> None:
    """A view was written to: it and its bases have the history of what they held and of what was written."""
    chain = [t]
    while (base := chain[-1].view_of) is not None:
        chain.append(base)
    root = chain[-1]
    if root.node is not None and root.node.leaf:
        _refuse(m, t, root, name, others, site)
        return
    parents = tuple(dict.fromkeys(n for n in (root.node, node) if n is not None))
    # The node that stands for the copy cannot be walked twice, whatever was written.
    is_weak = all(p.weak for p in parents)
    copied = m.new_node("copy_slices", site, parents, tuple(chain), saves=True, weak=is_weak) if parents else None
    for view in chain:
        view.node = copied
