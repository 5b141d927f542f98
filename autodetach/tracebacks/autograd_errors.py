"""The errors of PyTorch that `autodetach explain` knows: how they are worded, what they mean, which rules answer them.

Wordings change with the versions, so each is known by the part that has stayed. Read in these sources:

* walked twice: `ERR_BACKWARD_TWICE` in torch/csrc/autograd/saved_variable.cpp. 0.1-0.2 "... second time, but the
  buffers have already been freed. Please specify retain_variables=True ..."; 0.3-1.7 "... a second time, but the
  buffers ..."; 1.8 "... but the saved intermediate results ..."; since 1.9 "... (or directly access saved variables",
  later "tensors", "after they have already been freed)".
* changed in place: `SavedVariable::unpack`, in the same file. Until 1.1 without the tensor and its versions.
* no graph: torch/csrc/autograd/python_engine.cpp and `torch/autograd/__init__.py`. "element 0 of variables ..." until
  0.3, and before that "there are no graph nodes that require computing gradients".
* a number: Python's own words.
* a leaf in place: `check_inplace` in torch/csrc/autograd/VariableTypeUtils.h. "has been used" until 1.6, "is being
  used" since; "a view of a leaf ..." since 1.5; "leaf variable has been moved into the graph interior" until 1.6.
* no leaf optimized: `Optimizer.add_param_group` (torch/optim/optimizer.py); "... non-leaf Variable" until 0.3.
* a view detached: `VariableHooks::detach_` (torch/csrc/autograd/variable.cpp); since 1.8 with advice for DDP behind it.
* `numpy()`: torch/csrc/autograd/python_variable_methods.cpp, "Variable ... Use var.detach()" until 1.7.
* deep-copied: `Tensor.__deepcopy__` in torch/_tensor.py, "Only Variables created explicitly ..." until 0.3.
* no dimension: aten/src/ATen/TensorIndexing.h; a UserWarning in 0.4.
* out of memory: c10/cuda/CUDACachingAllocator.cpp, THCGeneral.cpp ("cuda runtime error (2) : out of memory" until 0.4),
  and the allocators of ROCm, Apple's MPS, Intel's XPU and the CPU (c10/core/CPUAllocator.cpp).
* no gradient: Python's own words when `w.grad` of a rebound `w` is None; asked for is that the line says `.grad`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """An error that PyTorch raises.

    `wordings` are parts of messages, one of which is in each; `meaning` is a sentence or two; `codes` are prefixes of
    the rules that may answer. `anywhere`: the line that raises is not the one at fault. `needs` is a word that the line
    which raised must have, where the wording alone says too little.
    """

    name: str
    wordings: tuple[str, ...]
    meaning: str
    codes: tuple[str, ...]
    anywhere: bool = False
    needs: str = ""


KINDS = (
    ErrorKind(
        "backward-twice",
        ("Trying to backward through the graph",),
        "This backward came to a part of the graph that an earlier backward had walked, and freed, already. "
        "`retain_graph=True` only hides that, unless both are meant to walk the same part.",
        ("AD2", "AD3", "AD402"),
    ),
    ErrorKind(
        "changed-in-place",
        ("needed for gradient computation has been modified", "variables needed for gradient computation"),
        "This backward needs the value that a tensor had in the forward pass, and something has overwritten it since: "
        "an optimizer step, or an operation in place.",
        ("AD2", "AD3", "AD402"),
    ),
    ErrorKind(
        "no-graph",
        ("does not require grad and does not have a grad_fn", "no graph nodes that require computing gradients"),
        "This backward was called on a tensor without a graph: nothing that it was computed from requires grad, or the "
        "graph was cut on the way (`detach`, `.data`, `.item()`, `no_grad`).",
        ("AD303", "AD501"),
    ),
    ErrorKind(
        "number-backward",
        ("'float' object has no attribute 'backward'", "'int' object has no attribute 'backward'"),
        "This backward was asked of a Python number: a loss that was read by `.item()` or `float()`, or a sum of such, "
        "has left its graph behind. Add up the tensors, and read the number where it is shown.",
        ("AD501",),
    ),
    ErrorKind(
        "numpy-of-graph",
        (
            "Can't call numpy() on Tensor that requires grad",
            "Can't call numpy() on Variable that requires grad",
        ),
        "NumPy cannot hold a graph, so PyTorch asks for `.detach()` before `.numpy()`. Where the tensor is one that "
        "was kept for its value only, it is better cut where it is kept.",
        ("AD101", "AD102"),
    ),
    ErrorKind(
        "leaf-in-place",
        ("leaf Variable that requires grad", "leaf variable has been moved into the graph interior"),
        "A tensor that is trained was changed in place where autograd records. An update by hand belongs under "
        "`torch.no_grad()`.",
        ("AD303", "AD304"),
    ),
    ErrorKind(
        "non-leaf-optimized",
        ("can't optimize a non-leaf Tensor", "can't optimize a non-leaf Variable"),
        "An optimizer changes leaves only, and was given the result of an operation: what is scaled, reshaped or moved "
        "is no leaf. Compute first, and ask for the gradient then: `(x * 0.1).requires_grad_()`.",
        ("AD305",),
    ),
    ErrorKind(
        "view-detached",
        ("Can't detach views in-place",),
        "`detach_()` was called of a tensor that shares the memory of another one. `detach()` makes a new tensor "
        "without history; bind its result.",
        ("AD404",),
    ),
    ErrorKind(
        "deep-copied",
        ("created explicitly by the user (graph leaves) support the deepcopy protocol",),
        "A deep copy came to a tensor that has a graph: something that is copied keeps it, most often a module in an "
        "attribute. What is kept for its value only is better kept without its graph: `.detach()`.",
        ("AD1",),
    ),
    ErrorKind(
        "no-dimension",
        ("invalid index of a 0-dim tensor", "too many indices for array: array is 0-dimensional"),
        "A loss is a tensor without dimensions since PyTorch 0.4, so there is nothing to index: `.item()` gives its "
        "value.",
        ("AD401",),
    ),
    ErrorKind(
        "out-of-memory",
        (
            "CUDA out of memory",
            "CUDA error: out of memory",
            "cuda runtime error (2) : out of memory",
            "HIP out of memory",
            "MPS backend out of memory",
            "XPU out of memory",
            "DefaultCPUAllocator: can't allocate memory",
            "DefaultCPUAllocator: not enough memory",
        ),
        "The line that raised is only the one that came last: what fills the memory was kept before. If it grew with "
        "every pass, a graph may be kept alive in the loop; if it came in the first pass, the batch or the model is "
        "too large.",
        ("AD1", "AD302"),
        anywhere=True,
    ),
    ErrorKind(
        "no-gradient",
        ("'NoneType' object has no attribute", "and 'NoneType'", ": 'NoneType' and"),
        "`.grad` is None: the tensor is no leaf any more, for instance since its own update has rebound it, or no "
        "backward has reached it.",
        ("AD303",),
        needs=".grad",
    ),
)

_OF_WORDING = {wording: kind for kind in KINDS for wording in kind.wordings}
_WORDINGS = re.compile("|".join(re.escape(wording) for wording in _OF_WORDING))
_WORDINGS_IN_BYTES = re.compile(_WORDINGS.pattern.encode())


def find_kind(text: str) -> tuple[ErrorKind, int] | None:
    """The first known error that a text speaks of, and where (an index)."""
    found = _WORDINGS.search(text)
    return None if found is None else (_OF_WORDING[found[0]], found.start())


def places_in(raw: bytes) -> Iterator[int]:
    """The byte offsets at which known errors are spoken of."""
    return (found.start() for found in _WORDINGS_IN_BYTES.finditer(raw))
