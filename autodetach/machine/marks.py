"""Marks: what the machine notes of an object among its attributes, under names that no program can use.

Marks that one file alone knows stand there.
"""

from __future__ import annotations

ARRAY = "#array"
"""Marks what is used as only tensors, arrays and modules are: its sum has no dimension, as that of a table may have."""
DIFFERENTIATED = "#differentiated "
"""Begins the marks of an unknown callable: in what way it was called where its result was differentiated."""
HELD = "#held"
"""Marks an unknown object by what it was given when it was made, in view, of a class that is not."""
HOOK = "#hook"
"""Of the handle of a hook: what is called; None once it is removed."""
HOOKED = "#of"
"""Of the handle of a hook: the tensor, module or optimizer that it is registered with."""
HOOK_NAME = "#name"
"""Of the handle of a hook: the method by which it is registered."""
HOOKS = "#hooks"
"""Of a module: what is called behind its `forward`."""
ITEMS = "#items"
"""Of an object that is a list or a dict, too: what it holds as such."""
LEAVES = "#leaves"
"""Of an optimizer: the parameters that it steps."""
LEFT_OUT = "#left out"
"""Marks an object of a class that stands in a file of `State.left_out`."""
OPTIMIZER = "#optimizer"
"""Marks an unknown value that is known to be an optimizer."""
OUT_OF_VIEW = "#out of view"
"""Marks the leaf that stands for the parameters of a network that is not in view."""
PREHOOKS = "#prehooks"
"""Of a module: what is called before its `forward`."""
QUIET = "#quiet"
"""Marks an object of a library that keeps no graph, nor do the results of its methods."""
SCALAR = "#scalar "
"""Begins the marks of an unknown callable: of which values it has made a scalar."""
SPECTRAL = "#spectral"
"""Marks a module that takes a step of the power iteration whenever it is called while it trains."""
SUMMED = "#summed"
"""Marks an unknown value over whose elements the builtin `sum` has run."""
TENSORS = "#tensors"
"""Of a `TensorDataset`: the tensors that it was made of."""
WEIGHTS = "#weights"
"""Marks an unknown value that is known to be a module, by one leaf that stands for its parameters."""


def is_mark(name: object) -> bool:
    """Whether the name of an attribute is a mark."""
    return isinstance(name, str) and name.startswith("#")
