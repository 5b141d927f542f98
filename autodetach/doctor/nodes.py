"""What a node of PyTorch's own graph tells of itself, without running anybody's hooks.

`node._saved_x` unpacks: it runs the program's saved-tensor hooks (a checkpoint would compute its part again). The raw
form, `node._raw_saved_x`, does not. Measured on PyTorch 2.13: its `data` is None when the tensor was freed, and also
when there never was one; only then `register_hooks` is refused, with a text that tells which. The node of a custom
`autograd.Function` refuses `_raw_saved_tensors` itself once it is freed.

Before PyTorch 2.10 the raw form has no `data` (measured on 2.6). There `_saved_x` is read while the program has used no
saved-tensor hooks, and nothing is known from then on.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any, Protocol

NO_SEQUENCE = (1 << 64) - 1
"""The sequence number of nodes that were not recorded by a forward call, such as AccumulateGrad."""
_RAW = "_raw_saved_"


class Node(Protocol):
    """`torch.autograd.graph.Node`."""

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]: ...

    def name(self) -> str: ...

    def _sequence_nr(self) -> int: ...


class Saved(enum.Enum):
    """What a node has kept for its backward: nothing that it would unpack, something, or it is freed."""

    NOTHING = 0
    LIVE = 1
    FREED = 2
    UNKNOWN = 3
    """It keeps something or is freed, and this PyTorch does not tell which without running hooks."""


_raw_names: dict[type, tuple[str, ...]] = {}
_hooked = False


def hooks_are_used() -> None:
    """The program has given PyTorch saved-tensor hooks: from now on nothing is unpacked where they cannot be seen."""
    global _hooked
    _hooked = True


def saved(node: Node) -> Saved:
    """Whether the tensors that the node needs for its backward are still there."""
    found = Saved.NOTHING
    for name in _names(node):
        try:
            slots = _slots(node, name)
        except RuntimeError:
            return Saved.FREED
        for number, slot in enumerate(slots):
            try:
                data = _data(node, name, number, slot)
            except LookupError:
                return Saved.UNKNOWN
            except RuntimeError as error:
                if "freed" in str(error):
                    return Saved.FREED
                data = slot  # it is there, and was changed since
            if data is not None:
                found = Saved.LIVE
            elif _is_freed(slot):
                return Saved.FREED
    return found


def saved_tensors(node: Node) -> Iterator[Any]:
    """The tensors that the node has saved, packed ones as they are packed."""
    for name in _names(node):
        try:
            slots = _slots(node, name)
        except RuntimeError:
            return
        for number, slot in enumerate(slots):
            try:
                data = _data(node, name, number, slot)
            except (LookupError, RuntimeError):
                continue
            if data is not None:
                yield data


def changed_since(node: Node) -> Iterator[Any]:
    """The saved tensors of the node that were changed in place since: PyTorch refuses to unpack them.

    Only what has no hooks is unpacked; PyTorch does not check the versions of what has.
    """
    for name in _names(node):
        try:
            slots = _slots(node, name)
        except RuntimeError:
            return
        for slot in slots:
            data = getattr(slot, "data", None)
            if data is None or not hasattr(data, "_version") or getattr(slot, "unpack_hook", None) is not None:
                continue
            try:
                slot.unpack() if hasattr(slot, "unpack") else getattr(node, name.replace(_RAW, "_saved_"))
            except RuntimeError as error:
                if "modified by an inplace operation" in str(error):
                    yield data


def bytes_saved(nodes: Iterator[Node], known: set[int]) -> int:
    """Bytes of the storages that the nodes have saved and that are not `known` by address; these become known.

    Where a storage has no address (a fake tensor, a sparse one), it is not counted.
    """
    total = 0
    for node in nodes:
        for tensor in saved_tensors(node):
            address = address_of(tensor)
            if address and address not in known:
                known.add(address)
                total += tensor.untyped_storage().nbytes()
    return total


def address_of(tensor: Any) -> int:
    """The address of its storage, which its views share; 0 where there is none (a fake tensor, a sparse one)."""
    try:
        return int(tensor.untyped_storage().data_ptr())
    except (AttributeError, RuntimeError, NotImplementedError, TypeError):
        return 0


def reachable(roots: Iterator[Node]) -> Iterator[Node]:
    """All nodes below the roots, they included, each once."""
    seen: set[Node] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node
        stack += [below for below, _ in node.next_functions if below is not None and below not in seen]


def _names(node: Node) -> tuple[str, ...]:
    names = _raw_names.get(type(node))
    if names is None:
        # The class of a custom function's node has the names of all of them; the instance decides.
        names = _raw_names[type(node)] = tuple(name for name in dir(type(node)) if name.startswith(_RAW))
    return names


def _slots(node: Node, name: str) -> tuple[Any, ...]:
    value = getattr(node, name)
    if isinstance(value, (tuple, list)):
        return tuple(value)
    return (value,)


def _data(node: Node, name: str, number: int, slot: Any) -> Any:
    """What is saved, packed as it is where PyTorch shows that.

    Raises LookupError where it can only be seen by running hooks, RuntimeError where PyTorch refuses to unpack it.
    """
    if hasattr(slot, "data"):
        return slot.data
    if _hooked:
        raise LookupError
    value = getattr(node, name.replace(_RAW, "_saved_"))
    return value[number] if isinstance(value, (tuple, list)) else value


def _is_freed(slot: Any) -> bool:
    try:
        slot.register_hooks(_refused, _refused)
    except RuntimeError as error:
        return "freed" in str(error)
    return False


def _refused(value: Any) -> Any:
    return value
