"""What values hold: tensors, what has history, the elements of containers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.activations import Loops
from autodetach.machine.closures import closed_over
from autodetach.machine.graph import ARRAY, COPIED, COPIES, DETACHED, GATHERED, Lost, Node, Site
from autodetach.machine.marks import ITEMS
from autodetach.machine.program_values import Function, Instance
from autodetach.machine.values import CONSTANTS, Mapping, Opaque, Sequence, Shape, Sym, Tensor, Value, joined

MAX_LOST = 16
"""Of so many tensors with history, the last ones, one without is known to have the values."""


def tensors_in(value: Value, depth: int = 4) -> Iterator[Tensor | Opaque]:
    """Tensors, and opaque values with a node, inside a value: through containers and instances, bounded."""
    if isinstance(value, (Tensor, Opaque)):
        yield value
    elif depth <= 0 or isinstance(value, CONSTANTS):
        return
    elif isinstance(value, Sequence):
        for item in value.items[:64]:
            yield from tensors_in(item, depth - 1)
    elif isinstance(value, Mapping):
        for _, item in list(value.items.values())[:64]:
            yield from tensors_in(item, depth - 1)
    elif isinstance(value, Instance):
        for item in list(value.attrs.values())[:64]:
            yield from tensors_in(item, depth - 2)


def graph_in(value: Value, depth: int = 4) -> Iterator[Tensor | Opaque]:
    """As `tensors_in`, only what has history; parameters of modules are not looked at."""
    for t in tensors_in(value, depth):
        if t.node is not None:
            yield t


def lost_of(node: Node, site: Site, how: str, sizes: Shape = None) -> Lost:
    """What is lost of the history of a node."""
    return Lost(node, site.node, how, not (node.weak or node.assumed), sizes)


def weights_of(t: Tensor, site: Site, loops: Loops) -> tuple[Lost, ...]:
    """Of which parameters a value is that is read, at `site`, without its history."""
    return (Lost(t.node, site.node, DETACHED, loops=loops),) if t.node is not None and t.node.leaf else t.weights


def lost_by_copy(value: Value, site: Site) -> tuple[Lost, ...]:
    """The same where values are put into a new tensor, those of a tensor or of a list, or numbers read from tensors."""
    how = GATHERED if isinstance(value, Sequence) else COPIED
    found = lost_from(value, site, how)
    numbers = [value] if type(value) is Sym else value.items[:MAX_LOST] if isinstance(value, Sequence) else []
    read = lost_by_numbers(*numbers)
    if read or any(one.how == ARRAY for one in found):
        found = also_lost(joined(found, read), site, how)
    return found


def also_lost(lost: tuple[Lost, ...], site: Site, how: str) -> tuple[Lost, ...]:
    """What has been lost, and that `site` makes something else of the values, which has no history either."""
    return joined(lost, (lost[-1]._replace(place=site.node, how=how),)) if lost else ()


def lost_by_numbers(*values: Value) -> tuple[Lost, ...]:
    """The history of the tensors from which the numbers among some values were read."""
    found = [value.lost for value in values if type(value) is Sym and value.lost]
    return found[0] if len(found) == 1 else joined(*found)[-MAX_LOST:] if found else ()


def lost_by_arrays(*values: Value) -> tuple[Lost, ...]:
    """The history of the tensors of whose values an array is made, and of numbers: no array of numpy has any."""
    found: list[tuple[Lost, ...]] = []
    for value in values:
        if type(value) is Tensor or (type(value) is Opaque and not value.lost and value.name != "array"):
            return ()
        if type(value) in (Opaque, Sym) and value.lost:
            found.append(value.lost)
    return joined(*found)[-MAX_LOST:] if found else ()


def compared(lost: tuple[Lost, ...], place: ast.AST) -> tuple[Lost, ...]:
    """The same, as a loss of PyTorch is given it, and nothing that has history."""
    return tuple(one if one.compared is not None else one._replace(compared=place) for one in lost)


def unsure(lost: tuple[Lost, ...]) -> tuple[Lost, ...]:
    """The same, where something else may have given history to what has lost it."""
    return tuple(one._replace(sure=False) for one in lost)


def lost_from(value: Value, site: Site, how: str) -> tuple[Lost, ...]:
    """The history that a value, or what it holds, has, which is lost at `site`, or has lost before.

    A leaf has none to lose but where it is copied, which nobody does who only wants its value.
    """
    found: list[tuple[Lost, ...]] = []
    for t in tensors_in(value):
        if t.node is not None:
            sizes = t.shape if isinstance(t, Tensor) else () if t.scalar else None
            found.append((lost_of(t.node, site, how, sizes),) if how in COPIES or not t.node.leaf else ())
        else:
            found.append(t.lost)
    return joined(*found)


DEEP = 6
"""So deep in containers is looked for what they hold; objects in them are looked into only further up."""
OBJECTS = 3


def graph_kept(value: Value) -> Iterator[Tensor | Opaque]:
    """What has history in a value that is put into a container."""
    return (kept for kept, _ in graph_kept_of(value))


def graph_kept_of(value: Value, depth: int = DEEP) -> Iterator[tuple[Tensor | Opaque, Tensor | None]]:
    """The same, each with the tensor as whose gradient the program has set it, if it is kept as that."""
    if isinstance(value, (Sequence, Mapping)):
        for item in contents(value)[:64] if depth > 0 else ():
            yield from graph_kept_of(item, depth - 1)
    elif isinstance(value, Function):
        # An object that it reads is there without it, and whatever that has at any time.
        for kept in closed_over(value) if depth > 0 else ():
            if not isinstance(kept.value, Instance):
                yield from graph_kept_of(kept.value, depth - 1)
    else:
        for t in tensors_in(value, depth - DEEP + OBJECTS):
            if isinstance(t, Tensor) and (gradient := given_gradient(t)) is not None:
                yield gradient, t
            if t.node is not None:
                yield t, None


def given_gradient(value: Tensor) -> Tensor | None:
    """What the program itself has set as the `.grad` of a tensor, and lives as long as that, if it has history."""
    gradient = value.grad
    if not isinstance(gradient, Tensor) or gradient.grad_of is value or gradient.node is None:
        return None
    return None if gradient.node.leaf else gradient


def keeps_history(value: Value) -> bool:
    """Whether a value, or anything that it keeps, was computed of what requires grad."""
    return any(t.node is not None and not t.node.leaf for t in graph_kept(value))


def contents(container: Sequence | Mapping) -> list[Value]:
    """The values that a container holds."""
    return container.items if isinstance(container, Sequence) else [value for _, value in container.items.values()]


def stored_in(this: Opaque) -> list[Value]:
    """What was written into an unknown container by an index or a key, `array[i] = loss`."""
    written = (value for name, value in this.attrs.items() if isinstance(name, tuple))
    return [value for value in written if not (isinstance(value, Opaque) and value.owner is this)]


def held_by(value: Value) -> Value:
    """What an object of a class that derives from a container holds; any other value itself."""
    return value.attrs.get(ITEMS, value) if isinstance(value, Instance) else value


def containers_in(value: Value) -> list[Sequence | Mapping]:
    """The containers that an object, or a dict, has itself, under names or keys."""
    if isinstance(value, Instance):
        held = list(value.attrs.values())
    else:
        held = contents(value) if isinstance(value, Mapping) else []
    return [each for each in held if isinstance(each, (Sequence, Mapping))]
