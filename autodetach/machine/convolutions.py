"""What classes that derive from convolutions use of them: their sizes, and `_conv_forward`."""

from __future__ import annotations

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.program_values import Instance, Native
from autodetach.machine.told_of_values import is_number
from autodetach.machine.torch_semantics import lookup
from autodetach.machine.values import Sequence, Value

SIGNATURE = ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups")
TRANSPOSED = ("in_channels", "out_channels", "kernel_size", "stride", "padding", "output_padding", "groups")
SIZES = {"kernel_size": None, "stride": 1, "padding": 0, "dilation": 1, "output_padding": 0}
"""What a convolution keeps as a tuple of one number a dimension, and what it is where nothing is given."""


def is_convolution(name: str) -> bool:
    """Whether `torch.nn.NAME` is one: `Conv1d`, `ConvTranspose2d`, `LazyConv3d`, ..."""
    return "Conv" in name and name[-2:] in ("1d", "2d", "3d")


def signature(name: str) -> tuple[str, ...]:
    """The names of the positional arguments; a lazy one has no `in_channels`."""
    names = TRANSPOSED if "Transpose" in name else SIGNATURE
    return names[1:] if name.startswith("Lazy") else names


def set_sizes(m: Core, this: Instance, name: str) -> None:
    """One number stands for all dimensions: `nn.Conv2d(3, 8, 5).kernel_size` is `(5, 5)`."""
    for key, default in SIZES.items():
        value = this.attrs.get(key, default)
        if is_number(value):
            this.attrs[key] = Sequence("tuple", [value] * int(name[-2]), m.clock)


def convolve(m: Core, this: Instance, name: str) -> Native:
    """`self._conv_forward(input, weight, bias)`, which a `forward` of one's own calls behind its own padding."""

    def call(args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        return m.derive(f"conv{name[-2:]}", lookup(f"conv{name[-2:]}"), [*args, *kwargs.values()], site)

    return Native("_conv_forward", call, this)
