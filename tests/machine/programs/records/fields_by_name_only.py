import dataclasses
from dataclasses import dataclass

import torch

w = torch.randn(2, 2, requires_grad=True)


@dataclass
class Opts:
    a: torch.Tensor
    _: dataclasses.KW_ONLY
    b: torch.Tensor = None
    c: float = 1.0


opts = Opts(w * 2, b=(w * 3).exp(), c=2.0)
assert opts.c == 2.0
opts.a.sum().backward()
opts.b.sum().backward()
opts.a.sum().backward()
