"""What the names of libraries stand for, where that is no function: numbers, the platform, what classes are called."""

from __future__ import annotations

from autodetach.machine.program_values import External
from autodetach.machine.values import Value

PLATFORM = "Linux"
"""Branches for other platforms end in errors, or set something else up than most people run."""
CONSTANTS: dict[str, Value] = {
    **dict.fromkeys(("math.pi", "numpy.pi", "torch.pi"), 3.141592653589793),
    **dict.fromkeys(("math.inf", "numpy.inf", "numpy.Inf", "torch.inf", "torch._six.inf"), float("inf")),
    **dict.fromkeys(("math.nan", "numpy.nan", "numpy.NaN", "numpy.NAN", "torch.nan", "torch._six.nan"), float("nan")),
    **dict.fromkeys(("math.e", "numpy.e", "torch.e"), 2.718281828459045),
    "sys.platform": PLATFORM.lower(),
    "os.name": "posix",
    **dict.fromkeys(("torch._six.string_classes", "six.string_types", "six.text_type"), External("builtins.str")),
    **dict.fromkeys(("torch._six.int_classes", "six.integer_types"), External("builtins.int")),
    "torch._six.container_abcs": External("collections.abc"),
    **dict.fromkeys(("torch._six.PY3", "six.PY3"), True),
    **dict.fromkeys(("torch._six.PY2", "six.PY2"), False),
}
"""`torch._six` is gone since PyTorch 1.13; files that are older than that ask it, as others ask `six`."""
OF_CLASSES = frozenset({"__name__", "__qualname__"})


def constant(path: str) -> Value:
    """What an imported name stands for."""
    if path in CONSTANTS:
        return CONSTANTS[path]
    owner, _, name = path.rpartition(".")
    if name in OF_CLASSES:
        called = External(owner).name
        if called[:1].isupper():  # so it is a class, as far as its spelling tells: `torch.nn.Conv2d`
            return called
    return External(path)
